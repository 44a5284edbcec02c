// A table whose cells are coloured by their value and hatched by how much of it the error leaves. Every cell says its number.
import { formatError, formatValue } from "../logic/format";
import { gradeOf, type Crosstab, type Placed } from "../logic/crosstab";

interface HeatTableProps {
  table: Crosstab;
  /** Names of the keys down, and of the one across. */
  down: string[];
  across: string;
  label: string;
}

export function HeatTable({ table, down, across, label }: HeatTableProps) {
  const inner = table.rows.flatMap((row, r) => table.columns.map((column, c) => ({ cell: table.at(r, c), total: column === null || row.includes(null) })));
  const values = inner.filter(({ total }) => !total).map(({ cell }) => cell?.value ?? 0);
  const most = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  return (
    <div class="table-wrap heat-wrap" tabIndex={0} role="group" aria-label={`${label} by ${[...down, across].join(" and ")}`}>
      <table class="heat">
        <caption class="hidden-visually">{label}: {across} across, {down.join(" and ")} down. Darker is more; hatched cells have errors of a tenth of their value and above.</caption>
        <thead>
          <tr>
            {down.map((name) => <th key={name} scope="col" class="heat-corner">{name}</th>)}
            {table.columns.map((column) => <th key={column ?? ""} scope="col" class={column === null ? "right heat-total" : "right"}>{column ?? `all ${across}`}</th>)}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, r) => (
            <tr key={row.join("\u0000")} class={row.includes(null) ? "heat-sum" : ""}>
              {row.map((name, i) => {
                const repeated = r > 0 && i < row.length - 1 && row.slice(0, i + 1).every((part, k) => part === table.rows[r - 1]![k]);
                return <th key={i} scope="row" class={name === null ? "heat-total" : repeated ? "heat-again" : ""}>{name ?? (i > 0 && row[i - 1] === null ? "" : `all ${down[i]}`)}</th>;
              })}
              {table.columns.map((column, c) => (
                <HeatCell key={column ?? ""} cell={table.at(r, c)} most={most} total={column === null || row.includes(null)} where={[...row, column].map((part) => part ?? "all").join(", ")} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeatCell({ cell, most, total, where }: { cell: Placed | null; most: number; total: boolean; where: string }) {
  if (!cell) return <td class="heat-none right"><span class="quiet" aria-label="not in the answer">·</span></td>;
  const grade = gradeOf(cell);
  const share = Math.min(1, Math.abs(cell.value) / most);
  return (
    <td class={`heat-cell heat-${grade}${total ? " heat-total" : ""}${cell.value < 0 ? " heat-below" : ""}`} style={total ? {} : { "--heat": `${Math.round(share * 100)}%` }}
      title={`${where}: ${formatValue(cell.value, cell.error)}${cell.error === null ? "" : ` ${formatError(cell.error)}`}`}>
      <span class="heat-value number">{formatValue(cell.value, cell.error)}</span>
      {cell.error !== null && <span class="heat-error number">{formatError(cell.error)}</span>}
    </td>
  );
}

/** What the hatching says. */
export function GradeLegend() {
  return (
    <div class="legend">
      <span><span class="swatch heat-swatch heat-firm" />error up to a tenth</span>
      <span><span class="swatch heat-swatch heat-fair" />up to a third</span>
      <span><span class="swatch heat-swatch heat-weak" />up to all of it</span>
      <span><span class="swatch heat-swatch heat-lost" />cannot be told from zero</span>
    </div>
  );
}
