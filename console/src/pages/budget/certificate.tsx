// The certificate of a charge: what the ledger holds about it, to keep and to check.
import type { LedgerEvent } from "../../api/types";
import { formatDelta, formatEpsilon, parseTime } from "../../logic/format";
import { Dialog } from "../../ui/dialog";
import { download } from "../../ui/download";
import { DownIcon } from "../../ui/icons";

export function Certificate({ event, events, onClose }: { event: LedgerEvent; events: LedgerEvent[]; onClose: () => void }) {
  const release = releaseOf(event, events);
  const digest = event.digest ?? release?.digest ?? null;
  return (
    <Dialog title={`Certificate of charge ${event.sequence}`} onClose={onClose}>
      <div class="stack">
        <pre class="certificate-sql"><code>{event.statement ?? "The question was not recorded."}</code></pre>
        <dl class="facts">
          <dt>Charged at</dt><dd>{parseTime(event.time).toISOString()}</dd>
          <dt>Account</dt><dd>{event.account}</dd>
          {event.cost && <><dt>Loss</dt><dd class="number">ε {formatEpsilon(event.cost.epsilon)}, δ {formatDelta(event.cost.delta)}{event.cost.rho !== undefined && `, ρ ${formatEpsilon(event.cost.rho)}`}</dd></>}
          {digest && <><dt>Answer</dt><dd class="mono small">sha256 {digest}</dd></>}
          <dt>Chain</dt><dd class="mono small">{event.hash}</dd>
        </dl>
        <p class="small quiet">
          The chain value covers this charge and everything before it. <code>discreet ledger verify</code> recomputes all of them; a changed, dropped or reordered charge is found.
        </p>
        <div>
          <button type="button" class="button" onClick={() => download(`certificate-${event.sequence}.json`, "application/json", JSON.stringify({ charge: event, release }, null, 2))}>
            <DownIcon />Save as JSON
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function releaseOf(charge: LedgerEvent, events: LedgerEvent[]): LedgerEvent | null {
  return events.find((event) => event.kind === "release" && event.charge === charge.sequence) ?? null;
}
