// Axes with their ticks and names.
import { tickLabel, type Scale } from "../logic/scale";

interface AxisProps {
  scale: Scale;
  /** Where the axis lies: its own position, and how far its grid lines reach. */
  at: number;
  reach: number;
  label?: string;
  format?: (value: number) => string;
  ticks?: number[];
}

export function BottomAxis({ scale, at, reach, label, format = tickLabel, ticks = scale.ticks }: AxisProps) {
  const [from, to] = scale.domain.map(scale) as [number, number];
  return (
    <g aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={scale(tick)} x2={scale(tick)} y1={at} y2={reach} />
          <text x={scale(tick)} y={at + 17} text-anchor="middle">{format(tick)}</text>
        </g>
      ))}
      <line class="axis" x1={from} x2={to} y1={at} y2={at} />
      {label && <text x={(from + to) / 2} y={at + 35} text-anchor="middle">{label}</text>}
    </g>
  );
}

export function LeftAxis({ scale, at, reach, label, format = tickLabel, ticks = scale.ticks }: AxisProps) {
  return (
    <g aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={at} x2={reach} y1={scale(tick)} y2={scale(tick)} />
          <text x={at - 8} y={scale(tick) + 4} text-anchor="end">{format(tick)}</text>
        </g>
      ))}
      {label && <text x={at - 8} y={scale(scale.domain[1]) - 12} text-anchor="start" dx={-28}>{label}</text>}
    </g>
  );
}

export function linePath(points: readonly { x: number; y: number }[]): string {
  return points.map(({ x, y }, i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** The area between two lines over the same places. */
export function bandPath(points: readonly { x: number; low: number; high: number }[]): string {
  const upper = points.map(({ x, high }) => ({ x, y: high }));
  const lower = points.map(({ x, low }) => ({ x, y: low })).reverse();
  return `${linePath([...upper, ...lower])}Z`;
}
