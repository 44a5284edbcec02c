// Running sums of what each account was charged.
import { BottomAxis, LeftAxis } from "../../charts/axis";
import { useWidth } from "../../charts/width";
import { formatEpsilon } from "../../logic/format";
import { linearScale, niceDomain } from "../../logic/scale";
import type { SpendingPoint } from "../../logic/spending";

const height = 240;

export function SpendingChart({ lines }: { lines: Map<string, SpendingPoint[]> }) {
  const [ref, width] = useWidth(800);
  const all = [...lines.values()].flat();
  const first = Math.min(...all.map((point) => point.time));
  const last = Math.max(...all.map((point) => point.time), first + 60_000);
  const pad = (last - first) * 0.02;
  const x = linearScale([first - pad, last + pad], [52, width - 18]);
  const y = linearScale(niceDomain(0, Math.max(...all.map((point) => point.spent)), 4), [height - 42, 22], 4);
  const tickCount = width < 500 ? 3 : 5;
  const ticks = Array.from({ length: tickCount }, (_, i) => first + ((last - first) * i) / (tickCount - 1));
  return (
    <figure>
      <div ref={ref}>
        <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label="Epsilon charged over time, by account">
          <LeftAxis scale={y} at={46} reach={width - 12} label="ε charged" />
          <BottomAxis scale={x} at={height - 42} reach={height - 42} ticks={ticks} format={(time) => timeLabel(time, last - first)} />
          {[...lines].map(([account, points], i) => (
            <g key={account} class={`series-${i % 4}`}>
              <path d={steps(points, x, y, first - pad, last + pad)} class="series-line" />
              {points.map((point, n) => <circle key={n} cx={x(point.time)} cy={y(point.spent)} r={3.5} class="series-dot"><title>{`${account}: ε ${formatEpsilon(point.spent)}`}</title></circle>)}
            </g>
          ))}
        </svg>
      </div>
      <div class="legend">
        {[...lines].map(([account, points], i) => <span key={account}><span class={`swatch series-swatch-${i % 4}`} />{account}, ε {formatEpsilon(points[points.length - 1]!.spent)}</span>)}
      </div>
      <figcaption>Charges added up one by one. The ledger's filter composes them more tightly, so less may be gone than the sum says.</figcaption>
    </figure>
  );
}

function steps(points: SpendingPoint[], x: (time: number) => number, y: (spent: number) => number, from: number, to: number): string {
  let path = `M${x(from)} ${y(0)}`;
  for (const point of points) path += `H${x(point.time).toFixed(1)}V${y(point.spent).toFixed(1)}`;
  return `${path}H${x(to).toFixed(1)}`;
}

function timeLabel(time: number, span: number): string {
  const date = new Date(time);
  if (span < 600_000) return date.toLocaleTimeString("en-GB");
  if (span < 36 * 3_600_000) return date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}
