// Who is logged in. Kept for the tab only: closing it forgets the token.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client } from "./api/client";
import type { Role } from "./api/types";

export interface Identity {
  token: string;
  name: string;
  role: Role;
  /** Who pays for this person's questions. */
  account: string;
}

const key = "discreet.identity";

export function rememberedIdentity(): Identity | null {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
    const identity = found as Identity | null;
    return identity && typeof identity.token === "string" && typeof identity.account === "string" ? identity : null;
  } catch {
    return null;
  }
}

export function remember(identity: Identity | null): void {
  try {
    if (identity) sessionStorage.setItem(key, JSON.stringify(identity));
    else sessionStorage.removeItem(key);
  } catch {
    // Storage may be forbidden; the session then lasts until the page is reloaded.
  }
}

export interface Session {
  identity: Identity;
  client: Client;
  /** Counts what may have changed the budget, so that what shows it can look again. */
  budgetVersion: number;
  budgetChanged: () => void;
  logout: () => void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession outside a session");
  return session;
}
