// Owner: who may ask, how much they may spend, and every grant so far.
import type { Account, Analyst } from "../../api/types";
import { useRemote } from "../../remote";
import { useSession } from "../../session";
import { formatDelta, formatEpsilon, formatPart, formatTime } from "../../logic/format";
import { shareSpent } from "../../logic/spending";
import { OwnerIcon } from "../../ui/icons";
import { PageHead, Panel } from "../../ui/panel";
import { Empty, ErrorNote, Loading } from "../../ui/states";
import { useLedger } from "../budget/use_ledger";
import { AnalystForm } from "./analyst_form";
import { GrantForm } from "./grant_form";

export function OwnerPage() {
  const { client, budgetVersion, budgetChanged } = useSession();
  const accounts = useRemote((signal) => client.budget(signal), [client, budgetVersion]);
  const analysts = useRemote((signal) => client.analysts(signal), [client, budgetVersion]);
  const ledger = useLedger();
  const grants = ledger.events.filter((event) => event.kind === "grant");
  const accountOf = (name: string) => accounts.value?.find((account) => account.name === name);
  return (
    <div class="page">
      <PageHead title="Owner">You decide who may ask and how much privacy they may spend. A grant cannot be taken back, and everything is on record.</PageHead>
      {accounts.error && <ErrorNote error={accounts.error} retry={accounts.reload} />}
      <div class="grid-2">
        <Panel title="Grant budget">
          {accounts.value && analysts.value ? <GrantForm accounts={grantable(accounts.value, analysts.value)} onDone={budgetChanged} /> : <Loading lines={5} />}
        </Panel>
        <Panel title="Add an analyst">
          {accounts.value ? <AnalystForm accounts={accounts.value} onDone={budgetChanged} /> : <Loading lines={5} />}
        </Panel>
      </div>
      <Panel title="Analysts" flush>
        {analysts.error && <div class="panel-body"><ErrorNote error={analysts.error} retry={analysts.reload} /></div>}
        {!analysts.value && analysts.loading && <div class="panel-body"><Loading lines={3} label="Loading analysts" /></div>}
        {analysts.value?.length === 0 && <Empty icon={<OwnerIcon />} title="Nobody yet"><p>Add an analyst above; they can then log in here, with psql or from Python.</p></Empty>}
        {analysts.value && analysts.value.length > 0 && (
          <div class="table-wrap panel-table" tabIndex={0} role="group" aria-label="Analysts">
            <table>
              <thead><tr><th scope="col">Name</th><th scope="col">Draws on</th><th scope="col">Spent</th><th scope="col" class="right">ε left</th><th scope="col" class="right">δ left</th></tr></thead>
              <tbody>
                {analysts.value.map((analyst) => {
                  const account = accountOf(analyst.name);
                  return (
                    <tr key={analyst.name}>
                      <td><strong>{analyst.name}</strong>{analyst.role === "owner" && <span class="chip unit-chip">owner</span>}</td>
                      <td>{account?.parent ?? analyst.of ?? "–"}</td>
                      <td class="meter-cell">
                        {account && <div class="meter" role="img" aria-label={`${Math.round(100 * shareSpent(account.epsilon.spent, account.epsilon.granted))} percent spent`}>
                          <span class="meter-spent" style={{ width: `${100 * shareSpent(account.epsilon.spent, account.epsilon.granted)}%` }} />
                        </div>}
                      </td>
                      <td class="right number">{account ? formatPart(account.epsilon.left, account.epsilon.granted, formatEpsilon) : "–"}</td>
                      <td class="right number">{account && account.delta.left !== "unlimited" ? formatDelta(account.delta.left) : "–"}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      <Panel title="Grants" flush>
        {ledger.error && <div class="panel-body"><ErrorNote error={ledger.error} retry={ledger.reload} /></div>}
        {grants.length === 0 && !ledger.loading && <Empty title="No grants on record" />}
        {grants.length > 0 && (
          <div class="table-wrap panel-table" tabIndex={0} role="group" aria-label="Grants">
            <table>
              <thead><tr><th scope="col" class="right">No.</th><th scope="col">When</th><th scope="col">Account</th><th scope="col" class="right">ε in all</th><th scope="col" class="right">δ in all</th></tr></thead>
              <tbody>
                {grants.map((grant) => (
                  <tr key={grant.sequence}>
                    <td class="right number quiet">{grant.sequence}</td><td class="nowrap">{formatTime(grant.time)}</td><td>{grant.account}</td>
                    <td class="right number">{grant.granted ? formatEpsilon(grant.granted.epsilon) : "–"}</td><td class="right number">{grant.granted ? formatDelta(grant.granted.delta) : "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </div>
  );
}

/** Accounts of people that were let in here or with `discreet user add --budget`; the policy file sets all others, and without a limit of one's own there is nothing to add to. */
function grantable(accounts: Account[], analysts: Analyst[]): Account[] {
  return accounts.filter((account) => account.epsilon.granted !== "unlimited" && analysts.some((analyst) => analyst.name === account.name && !analyst.in_policy));
}
