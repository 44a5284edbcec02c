// What this person asked before. Asking it again, as it was, costs nothing: the answer is kept.
import { formatEpsilon, formatTime } from "../../logic/format";
import { useRemote } from "../../remote";
import { useSession } from "../../session";
import { AskIcon } from "../../ui/icons";
import { Panel } from "../../ui/panel";
import { Empty, Loading } from "../../ui/states";

const most = 6;

export function RecentQuestions({ onPick }: { onPick: (sql: string, epsilon: number) => void }) {
  const { client, identity } = useSession();
  const ledger = useRemote((signal) => client.ledger(100, null, signal), [client]);
  const seen = new Set<string>();
  const asked = (ledger.value?.events ?? []).filter((event) => {
    if (event.kind !== "charge" || !event.statement || !event.cost || event.account !== identity.account) return false;
    const known = seen.has(event.statement);
    seen.add(event.statement);
    return !known;
  });
  return (
    <Panel title="Asked before">
      {!ledger.value && ledger.loading && <Loading lines={3} label="Loading earlier questions" />}
      {ledger.error && <p class="small quiet">Earlier questions cannot be shown now: {ledger.error.message}</p>}
      {ledger.value && asked.length === 0 && (
        <Empty icon={<AskIcon />} title="No questions yet"><p>Start with one of the examples above, or write your own. You see the price before you pay it.</p></Empty>
      )}
      {asked.length > 0 && (
        <ul class="recent">
          {asked.slice(0, most).map((event) => (
            <li key={event.sequence}>
              <button type="button" onClick={() => onPick(event.statement!, event.cost!.epsilon)}>
                <code>{event.statement}</code>
                <span class="row small quiet"><span class="number">ε {formatEpsilon(event.cost!.epsilon)}</span><span>{formatTime(event.time)}</span><span class="chip chip-good">free to ask again</span></span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
