// Lines over a numeric axis, straight or logarithmic, with a marked place.
import { linearScale, logScale, tickLabel } from "../logic/scale";
import { BottomAxis, LeftAxis, linePath } from "./axis";
import { useWidth } from "./width";

export interface Curve {
  name: string;
  at: (x: number) => number;
  /** Dashed lines are for comparison. */
  dashed?: boolean;
}

interface CurveChartProps {
  label: string;
  x: { label: string; domain: [number, number]; log?: boolean; format?: (value: number) => string };
  y: { label: string; domain: [number, number]; log?: boolean; format?: (value: number) => string };
  curves: Curve[];
  here: number;
}

const height = 300;
const steps = 120;

export function CurveChart({ label, x, y, curves, here }: CurveChartProps) {
  const [ref, width] = useWidth();
  const across = x.log ? logScale(x.domain, [58, width - 16]) : linearScale(x.domain, [58, width - 16], width < 500 ? 4 : 7);
  const up = y.log ? logScale(y.domain, [height - 48, 26]) : linearScale(y.domain, [height - 48, 26]);
  const clamp = (value: number) => Math.min(y.domain[1], Math.max(y.domain[0], value));
  const place = (share: number) => (x.log ? x.domain[0] * (x.domain[1] / x.domain[0]) ** share : x.domain[0] + share * (x.domain[1] - x.domain[0]));
  return (
    <figure>
      <div ref={ref}>
        <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
          <LeftAxis scale={up} at={52} reach={width - 12} label={y.label} format={y.format ?? tickLabel} />
          <BottomAxis scale={across} at={height - 48} reach={height - 48} label={x.label} format={x.format ?? tickLabel} />
          <line class="here-line" x1={across(here)} x2={across(here)} y1={26} y2={height - 48} />
          {curves.map((curve, i) => (
            <g key={curve.name} class={`series-${i % 4}`}>
              <path class={`series-line ${curve.dashed ? "series-dashed" : ""}`} d={linePath(Array.from({ length: steps + 1 }, (_, n) => place(n / steps)).map((at) => ({ x: across(at), y: up(clamp(curve.at(at))) })))} />
              <circle class="series-current" cx={across(here)} cy={up(clamp(curve.at(here)))} r={5} />
            </g>
          ))}
        </svg>
      </div>
      <div class="legend">{curves.map((curve, i) => <span key={curve.name}><span class={`swatch series-swatch-${i % 4}`} />{curve.name}</span>)}</div>
    </figure>
  );
}
