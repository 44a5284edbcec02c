// Groups as horizontal bars with the 95 % error as a whisker; names get the room they need.
import { formatError, formatValue } from "../logic/format";
import type { Point } from "../logic/result_shape";
import { extentOf } from "../logic/result_shape";
import { linearScale, valueDomain } from "../logic/scale";
import { BottomAxis } from "./axis";
import { useWidth } from "./width";

interface BarChartProps {
  points: Point[];
  label: string;
  /** Errors the same question would have at another price, drawn lighter; in the points' order. */
  otherErrors?: (number | null)[] | null;
  /** Leaves zero out, so that errors small beside the values can be seen; values are then dots. */
  closeUp?: boolean;
}

const rowHeight = 30;
const barHeight = 16;

export function BarChart({ points, label, otherErrors, closeUp = false }: BarChartProps) {
  const [ref, width] = useWidth();
  const longest = Math.max(...points.map((point) => point.label.length));
  const left = Math.min(width * 0.36, longest * 7.2 + 16);
  const right = 16;
  const bottom = points.length * rowHeight + 8;
  const wide = otherErrors ? points.map((point, i) => ({ ...point, error: Math.max(point.error ?? 0, otherErrors[i] ?? 0) })) : points;
  const [low, high] = extentOf(wide, !closeUp);
  const scale = linearScale(valueDomain(low, high), [left, width - right], width < 500 ? 3 : 5);
  const most = Math.floor((left - 12) / 7);
  return (
    <div ref={ref}>
      <svg class="chart" viewBox={`0 0 ${width} ${bottom + 42}`} role="img" aria-label={`${label} by group, with 95 % error bars`}>
        <BottomAxis scale={scale} at={bottom} reach={0} label={label} />
        {!closeUp && <line class="axis" x1={scale(0)} x2={scale(0)} y1={0} y2={bottom} />}
        {points.map((point, i) => {
          const y = i * rowHeight + rowHeight / 2 + 2;
          const [from, to] = [scale(Math.min(0, point.value)), scale(Math.max(0, point.value))];
          return (
            <g key={i} class="bar-row">
              <title>{`${point.label}: ${formatValue(point.value, point.error)}${point.error === null ? "" : ` ${formatError(point.error)}`}`}</title>
              <rect x={0} y={y - rowHeight / 2} width={width} height={rowHeight} fill="transparent" />
              <text x={left - 10} y={y + 4} text-anchor="end" class="bar-label">{shorten(point.label, most)}</text>
              {!closeUp && <rect class="bar" x={from} y={y - barHeight / 2} width={Math.max(1, to - from)} height={barHeight} rx={3} />}
              {otherErrors?.[i] != null && <Whisker scale={scale} value={point.value} error={otherErrors[i]!} y={y} class="whisker-other" />}
              {point.error !== null && <Whisker scale={scale} value={point.value} error={point.error} y={y} class="whisker" />}
              {closeUp && <circle class="dot" cx={scale(point.value)} cy={y} r={3.5} />}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

export function Whisker({ scale, value, error, y, class: kind }: { scale: (value: number) => number; value: number; error: number; y: number; class: string }) {
  const [from, to] = [scale(value - error), scale(value + error)];
  const cap = kind === "whisker" ? 5 : 7;
  return (
    <g class={kind}>
      <line x1={from} x2={to} y1={y} y2={y} />
      <line x1={from} x2={from} y1={y - cap} y2={y + cap} />
      <line x1={to} x2={to} y1={y - cap} y2={y + cap} />
      {kind === "whisker" && <circle cx={scale(value)} cy={y} r={3} />}
    </g>
  );
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}
