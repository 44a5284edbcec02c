// An answer that was paid for: what it says, how sure that is, what it cost.
import { useState } from "preact/hooks";
import type { Answer } from "../../api/types";
import { toCsv } from "../../logic/csv";
import { formatEpsilon } from "../../logic/format";
import { bestAcross, crosstab, hasSubtotals, isHierarchy, isRolledUp, placedCells, type Placed } from "../../logic/crosstab";
import { errorsVanish, partsOf, pointsOf, shapeOf, type Shape } from "../../logic/result_shape";
import { download } from "../../ui/download";
import { Segments } from "../../ui/field";
import { DownIcon } from "../../ui/icons";
import { Panel } from "../../ui/panel";
import { Empty, Notices } from "../../ui/states";
import { ResultChart } from "./result_chart";
import { ResultMap, ResultTiles } from "./result_map";
import { ResultTable } from "./result_table";
import type { Rung } from "./use_explanation";

export interface Asked {
  sql: string;
  epsilon: number;
  answer: Answer;
}

/** `earlier`: the editor holds another question by now. */
export function ResultPanel({ asked, rungs, earlier }: { asked: Asked; rungs: Rung[]; earlier: boolean }) {
  const { answer } = asked;
  const shape = shapeOf(answer);
  const [measureIndex, setMeasureIndex] = useState(0);
  const [compared, setCompared] = useState<string>("none");
  const { keys, measures } = partsOf(answer);
  const measure = measures[Math.min(measureIndex, measures.length - 1)];
  const subtotals = hasSubtotals(asked.sql);
  const cells = measure && keys.length >= 2 ? placedCells(answer, keys, measure.column, subtotals) : [];
  const views = viewsOf(shape, cells, keys.length, asked.sql);
  const [wanted, setWanted] = useState<PictureView | null>(null);
  const picture = wanted !== null && views.includes(wanted) ? wanted : views[0];
  const [view, setView] = useState<"auto" | "zero" | "close">("auto");
  const points = measure && (shape.kind === "bars" || shape.kind === "line") ? pointsOf(answer, shape.keys, measure.column) : [];
  const closeUp = view === "close" || (view === "auto" && errorsVanish(points));
  const factor = measure ? errorFactor(rungs, asked.epsilon, Number(compared), measure.name) : null;
  return (
    <Panel title="Answer" flush aside={
      <div class="row">
        {answer.repeated
          ? <span class="chip chip-good">asked before: free</span>
          : <span class="chip chip-price number">cost ε {formatEpsilon(answer.cost.epsilon)}</span>}
        <button type="button" class="button button-small" onClick={() => download("answer.csv", "text/csv", toCsv(answer))}><DownIcon />CSV</button>
      </div>
    }>
      <div class="panel-body stack">
        {earlier && <p class="small quiet">To the question asked before: <code>{asked.sql.replace(/\s+/g, " ")}</code></p>}
        <Notices notices={answer.notices} />
        {answer.rows.length === 0 && <Empty title="No rows">No group was large enough to be named, or the conditions leave none.</Empty>}
        {measure && (
          <>
            {shape.kind !== "numbers" && (views.length > 1 || picture === "chart") && (
              <div class="row chart-tools">
                {views.length > 1 && <Segments label="Picture" value={picture!} onValue={setWanted} options={views.map((value) => ({ value, label: viewNames[value] }))} />}
                {measures.length > 1 && (
                  <Segments label="Column in the chart" value={String(measureIndex)} onValue={(value) => setMeasureIndex(Number(value))}
                    options={measures.map((m, i) => ({ value: String(i), label: m.name }))} />
                )}
                {picture === "chart" && <Segments label="Scale of the chart" value={closeUp ? "close" : "zero"} onValue={setView}
                  options={[{ value: "zero", label: "From zero" }, { value: "close", label: "Close up" }]} />}
                {picture === "chart" && rungs.length > 1 && (
                  <label class="compare">
                    <span class="small quiet">Compare with</span>
                    <select class="input" value={compared} onChange={(event) => setCompared(event.currentTarget.value)}>
                      <option value="none">nothing</option>
                      {rungs.filter((rung) => Math.abs(rung.epsilon / asked.epsilon - 1) > 0.02).map((rung) => (
                        <option key={rung.epsilon} value={String(rung.epsilon)}>{`ε ${formatEpsilon(rung.epsilon)}`}</option>
                      ))}
                    </select>
                  </label>
                )}
              </div>
            )}
            {picture === "map" && <ResultMap answer={answer} keys={keys} cells={cells} measure={measure} />}
            {picture === "tiles" && <ResultTiles answer={answer} keys={keys} cells={cells} measure={measure} />}
            {picture === "chart" && <ResultChart answer={answer} shape={shape} measure={measure} factor={factor} closeUp={closeUp} />}
            {shape.kind !== "numbers" && picture === "chart" && (
              <div class="legend">
                <span><span class="swatch swatch-value" />released value</span>
                <span><span class="swatch swatch-error" />95 % error at ε {formatEpsilon(asked.epsilon)}</span>
                {factor !== null && <span><span class="swatch swatch-other" />expected error at ε {formatEpsilon(Number(compared))}</span>}
              </div>
            )}
          </>
        )}
      </div>
      {answer.rows.length > 0 && <ResultTable answer={answer} />}
      {answer.receipt && <p class="receipt small quiet">Receipt <code>{answer.receipt}</code></p>}
    </Panel>
  );
}

type PictureView = "chart" | "map" | "tiles";
const viewNames: Record<PictureView, string> = { chart: "Chart", map: "Table", tiles: "Tiles" };

/** How it can be drawn, the best first. */
function viewsOf(shape: Shape, cells: Placed[], keys: number, sql: string): PictureView[] {
  const chart: PictureView[] = shape.kind === "table" ? [] : ["chart"];
  if (keys < 2 || cells.length < 3) return chart;
  const map: PictureView[] = crosstab(cells, keys, bestAcross(cells, keys)) ? ["map"] : [];
  const tiles: PictureView[] = cells.some((cell) => cell.value > 0) ? ["tiles"] : [];
  if (isRolledUp(sql) || (shape.kind === "table" && isHierarchy(cells, keys))) return [...tiles, ...map, ...chart];
  // Bars of parts beside bars of their totals mislead.
  return hasSubtotals(sql) || shape.kind === "table" ? [...map, ...tiles, ...chart] : [...chart, ...map, ...tiles];
}

/** Ratio of the expected errors at two epsilons; the released errors are scaled by it. */
function errorFactor(rungs: Rung[], from: number, to: number, column: string): number | null {
  if (!Number.isFinite(to)) return null;
  const errorAtRung = (epsilon: number) =>
    rungs.find((rung) => Math.abs(rung.epsilon / epsilon - 1) < 0.02)?.explanation.columns.find((candidate) => candidate.name === column)?.error95 ?? null;
  const [own, other] = [errorAtRung(from), errorAtRung(to)];
  return own && other ? other / own : null;
}
