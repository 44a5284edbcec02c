// The answer as a picture: numbers, bars or a line, each with its error.
import type { Answer } from "../../api/types";
import { BarChart } from "../../charts/bar_chart";
import { SeriesChart } from "../../charts/series_chart";
import { formatError, formatValue } from "../../logic/format";
import { errorAt, pointsOf, type Measure, type Shape } from "../../logic/result_shape";
import { linearScale } from "../../logic/scale";
import { Whisker } from "../../charts/bar_chart";

interface ResultChartProps {
  answer: Answer;
  shape: Shape;
  measure: Measure;
  /** How much larger or smaller the error would be at the compared epsilon; null compares nothing. */
  factor: number | null;
  closeUp: boolean;
}

export function ResultChart({ answer, shape, measure, factor, closeUp }: ResultChartProps) {
  if (shape.kind === "table") return null;
  if (shape.kind === "numbers") return <BigNumbers answer={answer} measures={shape.measures} />;
  const points = pointsOf(answer, shape.keys, measure.column);
  const others = factor === null ? null : points.map((point) => (point.error === null ? null : point.error * factor));
  const axis = shape.keys.map((key) => answer.columns[key]?.name ?? "").join(" · ");
  return (
    <figure>
      {shape.kind === "bars"
        ? <BarChart points={points} label={measure.name} otherErrors={others} closeUp={closeUp} />
        : <SeriesChart points={points} label={measure.name} axis={axis} time={shape.time} otherErrors={others} closeUp={closeUp} />}
    </figure>
  );
}

function BigNumbers({ answer, measures }: { answer: Answer; measures: Measure[] }) {
  return (
    <div class="big-numbers">
      {measures.map(({ column, name }) => {
        const value = answer.rows[0]?.[column];
        if (typeof value !== "number") return null;
        const error = errorAt(answer, 0, column);
        const reach = (error ?? 1) * 1.5;
        const scale = linearScale([value - reach, value + reach], [4, 256]);
        return (
          <div key={column} class="big-number">
            <span class="quiet small mono">{name}</span>
            <span class="big-value number">{formatValue(value, error)}</span>
            {error !== null && (
              <>
                <svg viewBox="0 0 260 20" class="chart big-bar" aria-hidden="true"><Whisker scale={scale} value={value} error={error} y={10} class="whisker" /></svg>
                <span class="small">
                  <span class="result-error">{formatError(error)}</span> <span class="quiet">so the exact value is very likely between {formatValue(value - error, error)} and {formatValue(value + error, error)}</span>
                </span>
              </>
            )}
          </div>
        );
      })}
    </div>
  );
}
