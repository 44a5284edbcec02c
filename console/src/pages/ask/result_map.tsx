// An answer with several keys as a coloured table, and as nested tiles where the keys are a hierarchy or values are parts of a whole.
import { useState } from "preact/hooks";
import type { Answer } from "../../api/types";
import { GradeLegend, HeatTable } from "../../charts/heat_table";
import { TileMap } from "../../charts/tile_map";
import { bestAcross, crosstab, type Placed, treeOf } from "../../logic/crosstab";
import type { Measure } from "../../logic/result_shape";
import { Segments } from "../../ui/field";

interface ResultMapProps {
  answer: Answer;
  keys: number[];
  cells: Placed[];
  measure: Measure;
}

export function ResultMap({ answer, keys, cells, measure }: ResultMapProps) {
  const names = keys.map((key) => answer.columns[key]?.name ?? "");
  const [chosen, choose] = useState<number | null>(null);
  const best = bestAcross(cells, keys.length);
  const across = chosen !== null && chosen < keys.length ? chosen : best;
  const table = crosstab(cells, keys.length, across) ?? crosstab(cells, keys.length, best);
  if (!table) return <p class="small quiet">Too many values for a table across; the rows are below.</p>;
  return (
    <div class="stack-tight">
      <div class="row">
        <span class="small quiet">Across</span>
        <Segments label="Key across" value={String(across)} onValue={(value) => choose(Number(value))} options={names.map((name, i) => ({ value: String(i), label: name }))} />
      </div>
      <HeatTable table={table} down={names.filter((_, i) => i !== across)} across={names[across]!} label={measure.name} />
      <GradeLegend />
    </div>
  );
}

export function ResultTiles({ answer, keys, cells, measure }: ResultMapProps) {
  return (
    <div class="stack-tight">
      <TileMap tree={treeOf(cells, keys.length)} label={measure.name} keys={keys.map((key) => answer.columns[key]?.name ?? "")} />
      <GradeLegend />
    </div>
  );
}
