// Logged in or not: the shell with its page, or the door.
import { useCallback, useMemo, useState } from "preact/hooks";
import { Client } from "./api/client";
import { forgetDraft } from "./pages/ask/draft";
import { LoginPage } from "./pages/login_page";
import { remember, rememberedIdentity, SessionContext, type Identity, type Session } from "./session";
import { Shell } from "./shell";

export function App() {
  const [identity, setIdentity] = useState<Identity | null>(rememberedIdentity);
  const [ended, setEnded] = useState(false);
  const [budgetVersion, setBudgetVersion] = useState(0);

  const enter = useCallback((next: Identity) => {
    remember(next);
    setEnded(false);
    setIdentity(next);
  }, []);
  const leave = useCallback((expired: boolean) => {
    remember(null);
    forgetDraft();
    setEnded(expired);
    setIdentity(null);
  }, []);
  const budgetChanged = useCallback(() => setBudgetVersion((version) => version + 1), []);

  const client = useMemo(() => new Client(identity?.token ?? null, () => leave(true)), [identity, leave]);
  const session = useMemo<Session | null>(() => {
    const logout = () => {
      client.logout().catch(() => {});  // the token is forgotten here whatever the server says
      leave(false);
    };
    return identity && { identity, client, budgetVersion, budgetChanged, logout };
  }, [identity, client, budgetVersion, budgetChanged, leave]);

  if (!session) return <LoginPage onEnter={enter} ended={ended} />;
  return (
    <SessionContext.Provider value={session}>
      <Shell />
    </SessionContext.Provider>
  );
}
