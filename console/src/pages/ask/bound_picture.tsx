// The expected error where how much one person may add is found privately while answering: a line against that bound.
import type { ExplainedColumn } from "../../api/types";
import { BottomAxis, LeftAxis, linePath } from "../../charts/axis";
import { useWidth } from "../../charts/width";
import { formatError, formatNumber } from "../../logic/format";
import { logScale } from "../../logic/scale";

const height = 132;
const bounds: [number, number] = [1, 64];

export type Yardstick = ExplainedColumn & { error95_per_row: number };

export function hasYardstick(column: ExplainedColumn): column is Yardstick {
  return typeof column.error95_per_row === "number" && column.error95_per_row > 0;
}

export function BoundPicture({ column }: { column: Yardstick }) {
  const [ref, width] = useWidth(320);
  const error = (bound: number) => bound * column.error95_per_row;
  const x = logScale(bounds, [44, width - 12]);
  const y = logScale([error(bounds[0]), error(bounds[1])], [height - 40, 12]);
  const marks = [1, 4, 16, 64];
  const line = [{ x: x(bounds[0]), y: y(error(bounds[0])) }, { x: x(bounds[1]), y: y(error(bounds[1])) }];
  return (
    <figure class="error-picture" ref={ref}>
      <div class="spread">
        <span class="mono error-name">{column.name}</span>
        <strong class="number error-size">{formatError(column.error95_per_row)} × rows</strong>
      </div>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img"
        aria-label={`${column.name}: the 95 % error is ${formatError(error(1))} if one person may add one row, ${formatError(error(16))} for sixteen; which it is, is found privately while answering`}>
        <LeftAxis scale={y} at={40} reach={width - 8} ticks={marks.map(error)} format={(value) => formatError(value).slice(1)} />
        <BottomAxis scale={x} at={height - 40} reach={height - 40} ticks={marks} format={formatNumber} label="rows one person may add" />
        <path d={`${linePath(line)}L${line[1]!.x} ${height - 40}L${line[0]!.x} ${height - 40}Z`} class="error-area" />
        <path d={linePath(line)} class="error-line" />
        {marks.map((mark) => <circle key={mark} cx={x(mark)} cy={y(error(mark))} r="3.5" class="bound-dot" />)}
      </svg>
    </figure>
  );
}
