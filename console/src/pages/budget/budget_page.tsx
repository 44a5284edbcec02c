// Budget: what every account has left, how it went, and each charge with its question and certificate.
import { useState } from "preact/hooks";
import type { Account, LedgerEvent } from "../../api/types";
import { Gauge } from "../../charts/gauge";
import { formatDelta, formatEpsilon, formatPart } from "../../logic/format";
import { accountTree, shareSpent, spendingByAccount } from "../../logic/spending";
import { useRemote } from "../../remote";
import { useSession } from "../../session";
import { BudgetIcon } from "../../ui/icons";
import { PageHead, Panel } from "../../ui/panel";
import { Empty, ErrorNote, Loading } from "../../ui/states";
import { Certificate } from "./certificate";
import { ChargeTable } from "./charge_table";
import { SpendingChart } from "./spending_chart";
import { useLedger } from "./use_ledger";

export function BudgetPage() {
  const { client, identity, budgetVersion } = useSession();
  const accounts = useRemote((signal) => client.budget(signal), [client, budgetVersion]);
  const ledger = useLedger();
  const [shown, setShown] = useState<LedgerEvent | null>(null);
  const charges = ledger.events.filter((event) => event.kind === "charge");
  return (
    <div class="page">
      <PageHead title="Budget">
        Every answer costs a little privacy. A budget only shrinks; only the data owner can add to it, and both are on record.
      </PageHead>
      {accounts.error && <ErrorNote error={accounts.error} retry={accounts.reload} />}
      {!accounts.value && accounts.loading && <Panel><Loading lines={4} label="Loading budgets" /></Panel>}
      {accounts.value && (
        <div class="stack">
          {accountTree(accounts.value).map(({ account, children }) => (
            <section key={account.name} class="account-group" aria-label={`Budget ${account.name}`}>
              <AccountCard account={account} own={account.name === identity.account} root={children.length > 0 || !account.parent} />
              {children.map((child) => <AccountCard key={child.name} account={child} own={child.name === identity.account} root={false} />)}
            </section>
          ))}
        </div>
      )}
      {ledger.error && <ErrorNote error={ledger.error} retry={ledger.reload} />}
      {charges.length > 0 && (
        <Panel title="Spending over time">
          <SpendingChart lines={spendingByAccount(ledger.events)} />
        </Panel>
      )}
      <Panel title="Charges" flush aside={<span class="small quiet">{charges.length > 0 ? `${charges.length} shown, newest first` : ""}</span>}>
        {charges.length > 0 && <ChargeTable charges={charges} onShow={setShown} />}
        {charges.length === 0 && ledger.loading && <div class="panel-body"><Loading lines={4} label="Loading charges" /></div>}
        {charges.length === 0 && !ledger.loading && !ledger.error && (
          <Empty icon={<BudgetIcon />} title="Nothing spent yet">
            <p>Charges appear here once a question is answered.</p>
            <a class="button button-small" href="#/ask">Ask a question</a>
          </Empty>
        )}
        {ledger.more && <div class="panel-body"><button type="button" class="button" disabled={ledger.loading} onClick={ledger.more}>Older charges</button></div>}
      </Panel>
      {shown && <Certificate event={shown} events={ledger.events} onClose={() => setShown(null)} />}
    </div>
  );
}

function AccountCard({ account, own, root }: { account: Account; own: boolean; root: boolean }) {
  const { role } = useSession().identity;
  const { epsilon, delta } = account;
  const unlimited = epsilon.granted === "unlimited";
  const share = shareSpent(epsilon.spent, epsilon.granted);
  return (
    <article class={`panel account ${root ? "account-root" : ""}`}>
      <div class="spread account-head">
        <h2>{account.name}</h2>
        <span class="row">{own && <span class="chip chip-value">you</span>}<span class="chip">{root ? "data set" : own && role === "owner" ? "owner" : "analyst"}</span></span>
      </div>
      <Gauge share={share} unlimited={unlimited} value={unlimited ? "∞" : formatEpsilon(epsilon.left)} caption={unlimited && account.parent ? `held by ${account.parent}` : "ε left"}
        label={unlimited ? `${account.name} has no limit` : `${account.name} has epsilon ${formatEpsilon(epsilon.left)} left of ${formatEpsilon(epsilon.granted)}`} />
      <dl class="facts number">
        <dt>ε spent</dt><dd>{formatPart(epsilon.spent, epsilon.granted, formatEpsilon)}</dd>
        <dt>δ spent</dt><dd>{formatPart(delta.spent, delta.granted, formatDelta)}</dd>
      </dl>
    </article>
  );
}
