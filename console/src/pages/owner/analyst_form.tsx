// Lets somebody in, with an account of their own within a data set's budget.
import { useState } from "preact/hooks";
import type { Account } from "../../api/types";
import { useSession } from "../../session";
import { Field, Select } from "../../ui/field";
import { ErrorNote, Note } from "../../ui/states";
import { useSubmit } from "./use_submit";

export function AnalystForm({ accounts, onDone }: { accounts: Account[]; onDone: () => void }) {
  const { client } = useSession();
  const roots = accounts.filter((account) => !account.parent);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [epsilon, setEpsilon] = useState("1");
  const [delta, setDelta] = useState("1e-8");
  const [of, setOf] = useState(roots[0]?.name ?? "default");
  const { busy, error, done, send } = useSubmit();

  const submit = async (event: Event) => {
    event.preventDefault();
    const ok = await send(() => client.addAnalyst({ name: name.trim(), password, epsilon: Number(epsilon), delta: Number(delta), of }), `${name.trim()} can log in now.`);
    if (ok) {
      setName("");
      setPassword("");
      onDone();
    }
  };
  return (
    <form class="stack" onSubmit={submit} autocomplete="off">
      <div class="field-pair">
        <Field label="Name" required autocapitalize="none" spellcheck={false} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <Field label="Password" type="password" required minLength={8} autocomplete="new-password" help="8 characters or more" value={password} onInput={(event) => setPassword(event.currentTarget.value)} />
      </div>
      <div class="field-pair">
        <Field label="ε" class="mono" inputMode="decimal" type="number" step="any" min="0" required value={epsilon} onInput={(event) => setEpsilon(event.currentTarget.value)} />
        <Field label="δ" class="mono" inputMode="decimal" type="number" step="any" min="0" required value={delta} onInput={(event) => setDelta(event.currentTarget.value)} />
      </div>
      <Select label="Draws on" value={of} onValue={setOf} options={roots.map(({ name: root }) => ({ value: root, label: root }))} />
      {error && <ErrorNote error={error} />}
      {done && <Note tone="good" live>{done}</Note>}
      <div><button class="button button-main" type="submit" disabled={busy || !name || !password}>{busy ? "Adding" : "Add analyst"}</button></div>
    </form>
  );
}
