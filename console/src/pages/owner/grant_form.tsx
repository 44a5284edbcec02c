// Adds to an account's budget, and says beforehand what it will be.
import { useState } from "preact/hooks";
import type { Account } from "../../api/types";
import { formatEpsilon } from "../../logic/format";
import { useSession } from "../../session";
import { Field, Select } from "../../ui/field";
import { Empty, ErrorNote, Note } from "../../ui/states";
import { useSubmit } from "./use_submit";

export function GrantForm({ accounts, onDone }: { accounts: Account[]; onDone: () => void }) {
  const { client } = useSession();
  const [picked, setAccount] = useState("");
  const account = accounts.some((candidate) => candidate.name === picked) ? picked : (accounts[0]?.name ?? "");
  const [epsilon, setEpsilon] = useState("0.5");
  const [delta, setDelta] = useState("0");
  const { busy, error, done, send } = useSubmit();
  const chosen = accounts.find((candidate) => candidate.name === account);
  const left = chosen?.epsilon.left;

  const submit = async (event: Event) => {
    event.preventDefault();
    const ok = await send(() => client.grant({ account, epsilon: Number(epsilon), delta: Number(delta), note: "" }), `Granted ε ${epsilon} to ${account}.`);
    if (ok) onDone();
  };
  if (accounts.length === 0) return <Empty title="Nobody to grant to"><p>Add an analyst first. Data sets get their budget from the policy file.</p></Empty>;
  return (
    <form class="stack" onSubmit={submit}>
      <Select label="Account" value={account} onValue={setAccount} options={accounts.map(({ name, parent }) => ({ value: name, label: parent ? `${name} (of ${parent})` : name }))} />
      <div class="field-pair">
        <Field label="ε to add" class="mono" inputMode="decimal" type="number" step="any" min="0" required value={epsilon} onInput={(event) => setEpsilon(event.currentTarget.value)} />
        <Field label="δ to add" class="mono" inputMode="decimal" type="number" step="any" min="0" required value={delta} onInput={(event) => setDelta(event.currentTarget.value)} />
      </div>
      {typeof left === "number" && Number(epsilon) > 0 && (
        <p class="small quiet">{account} has ε {formatEpsilon(left)} left and will have ε {formatEpsilon(left + Number(epsilon))}{chosen?.parent && `, as far as ${chosen.parent} reaches`}.</p>
      )}
      {error && <ErrorNote error={error} />}
      {done && <Note tone="good" live>{done}</Note>}
      <div><button class="button button-main" type="submit" disabled={busy || !account}>{busy ? "Granting" : "Grant"}</button></div>
    </form>
  );
}
