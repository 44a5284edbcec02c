// The picture of the expected error: the curve of each column's noise, with the 95 % span marked.
import type { ExplainedColumn } from "../../api/types";
import { BottomAxis, linePath } from "../../charts/axis";
import { useWidth } from "../../charts/width";
import { formatError } from "../../logic/format";
import { familyOf, noiseCurve } from "../../logic/noise_shape";
import { linearScale } from "../../logic/scale";

const height = 96;

export function ErrorPicture({ column }: { column: ExplainedColumn & { error95: number } }) {
  const [ref, width] = useWidth(320);
  const { error95 } = column;
  const reach = error95 * 1.7;
  const x = linearScale([-reach, reach], [8, width - 8], 3);
  const y = linearScale([0, 1], [height - 26, 8]);
  const curve = noiseCurve(familyOf(column.mechanism), error95, reach).map((point) => ({ x: x(point.x), y: y(point.y), at: point.x }));
  const inside = curve.filter((point) => Math.abs(point.at) <= error95);
  return (
    <figure class="error-picture" ref={ref}>
      <div class="spread">
        <span class="mono error-name">{column.name}</span>
        <strong class="number error-size">{formatError(error95)}</strong>
      </div>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${column.name}: 95 answers in 100 are within ${formatError(error95)} of the exact one`}>
        <BottomAxis scale={x} at={height - 26} reach={height - 26} ticks={[-error95, 0, error95]} format={(v) => (v === 0 ? "exact" : v < 0 ? `\u2212${formatError(error95).slice(1)}` : `+${formatError(error95).slice(1)}`)} />
        <path d={`${linePath(inside)}L${x(error95)} ${y(0)}L${x(-error95)} ${y(0)}Z`} class="error-area" />
        <path d={linePath(curve)} class="error-line" />
        <line class="error-edge" x1={x(-error95)} x2={x(-error95)} y1={y(0)} y2={y(0.32)} />
        <line class="error-edge" x1={x(error95)} x2={x(error95)} y1={y(0)} y2={y(0.32)} />
        <text x={x(0)} y={y(0.16)} text-anchor="middle" class="error-share">95 %</text>
      </svg>
      {column.mechanism && <div class="small quiet">{column.mechanism} noise{column.mechanism === "K-norm" && ", for a group of 1,000; it falls with the group's size"}</div>}
    </figure>
  );
}
