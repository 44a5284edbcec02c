// Ask: write a question, see its price and error as you type, pay, read the answer.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { exampleQuestions } from "../../logic/examples";
import { asApiError, useRemote } from "../../remote";
import { useSession } from "../../session";
import { PageHead, Panel } from "../../ui/panel";
import { ErrorNote } from "../../ui/states";
import { draft } from "./draft";
import { OtherEpsilons } from "./other_epsilons";
import { PricePanel } from "./price_panel";
import { RecentQuestions } from "./recent_questions";
import { ResultPanel, type Asked } from "./result_panel";
import { SqlEditor } from "./sql_editor";
import { useExplanation, useLadder } from "./use_explanation";

export function AskPage() {
  const { client, budgetChanged } = useSession();
  const tables = useRemote((signal) => client.tables(signal), [client]);
  const [sql, setSql] = useState(draft.sql);
  const [loaded, load] = useState({ sql: draft.sql });
  const [epsilon, setEpsilon] = useState(draft.epsilon);
  const [asked, setAsked] = useState<Asked | null>(draft.asked);
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const pricing = useExplanation(sql, epsilon);
  const blank = sql.trim() === "";
  const rungs = useLadder(sql, epsilon, pricing.explanation !== null && pricing.explanation.cost.epsilon > 0);
  useEffect(() => void Object.assign(draft, { sql, epsilon, asked }), [sql, epsilon, asked]);

  const run = useCallback(async () => {
    if (running || sql.trim() === "") return;
    setRunning(true);
    setError(null);
    try {
      const answer = await client.query({ sql, epsilon, idempotency_key: freshKey() });
      setAsked({ sql, epsilon, answer });
    } catch (cause) {
      setError(asApiError(cause));
    }
    setRunning(false);
    budgetChanged();
  }, [running, sql, epsilon, client, budgetChanged]);
  useEffect(() => setError(null), [sql, epsilon]);

  return (
    <div class="page">
      <PageHead title="Ask">Questions in SQL. You see the price and the error first; a question already answered is free to ask again.</PageHead>
      <div class="ask-grid">
        <div class="ask-main">
          <section class="panel editor-panel" aria-label="Question">
            <SqlEditor loaded={loaded} tables={tables.value ?? []} errorAt={(error ?? pricing.error)?.position ?? null} onValue={setSql} onRun={run} />
            <div class="editor-foot">
              <Examples tables={tables.value} onPick={(example) => load({ sql: example })} hidden={!blank} />
              <button type="button" class="button button-main" disabled={running || blank} onClick={run}>
                {running ? <><span class="spinner" aria-hidden="true" /> Asking</> : <>Run <kbd>Ctrl ↵</kbd></>}
              </button>
            </div>
          </section>
          {tables.error && <ErrorNote error={tables.error} retry={tables.reload} />}
          <div class="stack" aria-live="polite">
            {error && <ErrorNote error={error} />}
            {asked && !error && <ResultPanel asked={asked} rungs={asked.sql === sql ? rungs : []} earlier={asked.sql !== sql} />}
          </div>
          {blank && !asked && <RecentQuestions onPick={(earlier, price) => { load({ sql: earlier }); setEpsilon(price); }} />}
          {!blank && pricing.explanation && pricing.explanation.cost.epsilon > 0 && pricing.explanation.columns.some((column) => column.error95 !== null) && (
            <OtherEpsilons rungs={rungs} epsilon={epsilon} onEpsilon={setEpsilon} />
          )}
        </div>
        <aside class="ask-side" aria-label="Price and expected error">
          <PricePanel pricing={pricing} epsilon={epsilon} onEpsilon={setEpsilon} blank={blank} />
          {pricing.explanation?.plan && (
            <Panel>
              <details class="plan"><summary>How it is computed</summary><pre>{pricing.explanation.plan}</pre></details>
            </Panel>
          )}
        </aside>
      </div>
    </div>
  );
}

function Examples({ tables, onPick, hidden }: { tables: Parameters<typeof exampleQuestions>[0] | null; onPick: (sql: string) => void; hidden: boolean }) {
  const examples = tables ? exampleQuestions(tables, 4) : [];
  if (hidden || examples.length === 0) return <span class="small quiet keyboard-hint"><kbd>Ctrl Space</kbd> completes names</span>;
  return (
    <div class="row examples" role="group" aria-label="Example questions">
      <span class="small quiet">Try</span>
      {examples.map((example) => <button key={example.sql} type="button" class="chip" onClick={() => onPick(example.sql)}>{example.title}</button>)}
    </div>
  );
}

/** One key per press of Run, so that a request the browser repeats is answered once. */
function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
