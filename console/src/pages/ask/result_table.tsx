// The answer's rows. A released number stands with its error and a small error bar on the column's own scale.
import type { Answer, Cell } from "../../api/types";
import { formatCell, formatError, formatValue } from "../../logic/format";
import { errorAt } from "../../logic/result_shape";
import { linearScale } from "../../logic/scale";

const barWidth = 120;
const shownAtMost = 500;

export function ResultTable({ answer }: { answer: Answer }) {
  const scales = answer.columns.map((_, column) => columnScale(answer, column));
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Result rows">
      <table class="result-table">
        <thead>
          <tr>{answer.columns.map((column, i) => <th key={i} scope="col" class={isNumeric(answer, i) ? "right" : ""}>{column.name}</th>)}</tr>
        </thead>
        <tbody>
          {answer.rows.slice(0, shownAtMost).map((row, r) => (
            <tr key={r}>
              {row.map((cell, c) => (
                <td key={c} class={isNumeric(answer, c) ? "right number" : ""}>
                  <ResultCell cell={cell} error={errorAt(answer, r, c)} scale={scales[c] ?? null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {answer.rows.length > shownAtMost && <p class="small quiet table-more">{answer.rows.length - shownAtMost} more rows; the CSV has them all.</p>}
    </div>
  );
}

function ResultCell({ cell, error, scale }: { cell: Cell; error: number | null; scale: ((value: number) => number) | null }) {
  if (typeof cell !== "number" || error === null) return <span class={cell === null ? "quiet" : ""}>{formatCell(cell)}</span>;
  return (
    <span class="result-cell">
      <span class="result-number">{formatValue(cell, error)}</span>
      <span class="result-error">{formatError(error)}</span>
      {scale && (
        <svg class="mini-bar" width={barWidth} height="16" viewBox={`0 0 ${barWidth} 16`} aria-hidden="true">
          <line class="mini-track" x1="0" x2={barWidth} y1="8" y2="8" />
          <line class="mini-error" x1={scale(cell - error)} x2={scale(cell + error)} y1="8" y2="8" />
          <circle class="mini-dot" cx={scale(cell)} cy="8" r="3" />
        </svg>
      )}
    </span>
  );
}

function isNumeric(answer: Answer, column: number): boolean {
  return answer.rows.length > 0 && answer.rows.every((row) => typeof row[column] === "number" || row[column] === null) &&
    answer.rows.some((row) => typeof row[column] === "number");
}

function columnScale(answer: Answer, column: number): ((value: number) => number) | null {
  let [low, high] = [Infinity, -Infinity];
  answer.rows.forEach((row, r) => {
    const [value, error] = [row[column], errorAt(answer, r, column)];
    if (typeof value !== "number" || error === null) return;
    low = Math.min(low, value - error);
    high = Math.max(high, value + error);
  });
  return high > low ? linearScale([low, high], [4, barWidth - 4]) : null;
}
