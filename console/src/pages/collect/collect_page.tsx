// Collect: what people's devices reported, randomised before it left them. Bars move as reports arrive.
import { useEffect, useState } from "preact/hooks";
import type { Collection, Estimates } from "../../api/types";
import { BarChart } from "../../charts/bar_chart";
import { formatNumber } from "../../logic/format";
import { useRemote } from "../../remote";
import { useSession } from "../../session";
import { CollectIcon } from "../../ui/icons";
import { PageHead, Panel } from "../../ui/panel";
import { Empty, ErrorNote, Loading } from "../../ui/states";

const refreshMs = 1500;
const shownMost = 25;

export function CollectPage({ name: wanted }: { name: string }) {
  const { client } = useSession();
  const collections = useRemote((signal) => client.collections(signal), [client]);
  useEvery(refreshMs, collections.reload);
  const all = collections.value ?? [];
  const chosen = all.find((one) => one.name === wanted) ?? all.find((one) => one.reports > 0) ?? all[0];
  return (
    <div class="page">
      <PageHead title="Collect">What people's devices reported. Every report was randomised before it left the device, so nothing here costs budget; what one report tells about its sender is bounded by its ε.</PageHead>
      {collections.error && <ErrorNote error={collections.error} retry={collections.reload} />}
      {!collections.value && collections.loading && <Panel><Loading lines={6} label="Loading collections" /></Panel>}
      {collections.value && all.length === 0 && (
        <Panel><Empty icon={<CollectIcon />} title="Nothing is collected"><p>Start the server with <code>--reports FOLDER</code> and <code>--collection FILE</code>, or with <code>--emoji</code> for the demonstration.</p></Empty></Panel>
      )}
      {chosen && (
        <div class="data-grid">
          <nav class="panel table-list" aria-label="Collections">
            <ul>
              {all.map((one) => (
                <li key={one.name}>
                  <a href={`#/collect/${encodeURIComponent(one.name)}`} {...(one === chosen ? { "aria-current": "true" as const } : {})}>
                    <CollectIcon /><span>{one.name}</span><span class="small quiet">{formatNumber(one.reports)} reports</span>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Live key={chosen.name} collection={chosen} />
        </div>
      )}
    </div>
  );
}

function Live({ collection }: { collection: Collection }) {
  const { client } = useSession();
  const estimates = useRemote((signal) => client.estimates(collection.name, shownMost, signal), [client, collection.name, collection.reports]);
  const { epsilon, oracle, values } = collection.header;
  return (
    <Panel title={collection.name} aside={<span class="small quiet">ε {epsilon} a report · {oracle.toUpperCase()} · as SQL: <code>local.{tableName(collection.name)}</code></span>}>
      {estimates.error && <ErrorNote error={estimates.error} retry={estimates.reload} />}
      {collection.reports === 0 && <Empty icon={<CollectIcon />} title="No reports yet"><p>They are sent to <code>/v1/collections/{collection.name}/reports</code>{collection.name.startsWith("emoji") && <>; the <a href="/emoji/">emoji page</a> sends some</>}.</p></Empty>}
      {collection.reports > 0 && estimates.value && <Bars estimates={estimates.value} values={values ?? 0} />}
    </Panel>
  );
}

function Bars({ estimates, values }: { estimates: Estimates; values: number }) {
  const points = estimates.rows.map((row) => ({ label: row.value, at: null, value: row.estimate, error: 1.96 * row.stderr }));
  const error = Math.max(...points.map((point) => point.error));
  return (
    <>
      <p class="quiet" role="status">
        {formatNumber(estimates.reports)} reports; each count is known to about ±{formatNumber(Math.round(error))} (95 %)
        {values > points.length && `; the ${points.length} most frequent of ${formatNumber(values)} values`}.
      </p>
      <BarChart points={points} label="people, estimated" />
    </>
  );
}

/** As the server names the table. */
export function tableName(collection: string): string {
  return collection.replace(/[-.]/g, "_");
}

function useEvery(ms: number, act: () => void) {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (!document.hidden) act();
      setTurn(turn + 1);
    }, ms);
    return () => clearTimeout(timer);
  }, [turn, ms, act]);
}
