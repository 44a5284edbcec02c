// Values along a numeric or time axis, with the band in which the exact answers lie 95 times in 100.
import { formatError, formatValue } from "../logic/format";
import { extentOf, type Point } from "../logic/result_shape";
import { linearScale, valueDomain, tickLabel } from "../logic/scale";
import { BottomAxis, LeftAxis, bandPath, linePath } from "./axis";
import { useWidth } from "./width";

const height = 300;

export function SeriesChart({ points, label, axis, time, otherErrors, closeUp = false }: {
  points: Point[]; label: string; axis: string; time: boolean; otherErrors?: (number | null)[] | null; closeUp?: boolean;
}) {
  const [ref, width] = useWidth();
  const placed = points.map((point, i) => ({ ...point, other: otherErrors?.[i] ?? null })).filter((point) => point.at !== null)
    .sort((a, b) => a.at! - b.at!);
  if (placed.length === 0) return null;
  const wide = placed.map((point) => ({ ...point, error: Math.max(point.error ?? 0, point.other ?? 0) }));
  const [low, high] = extentOf(wide, !closeUp);
  const y = linearScale(valueDomain(low, high), [height - 46, 26]);
  const x = linearScale([placed[0]!.at!, placed[placed.length - 1]!.at!], [58, width - 18], width < 500 ? 4 : 7);
  const every = Math.max(1, Math.ceil(placed.length / (width < 500 ? 4 : 8)));
  const ticks = time ? placed.filter((_, i) => i % every === 0).map((point) => point.at!) : x.ticks;
  const format = time ? (at: number) => new Date(at).toISOString().slice(5, 10) : tickLabel;
  const spots = placed.map((point) => ({ ...point, x: x(point.at!), y: y(point.value) }));
  const band = (error: (point: (typeof spots)[number]) => number) =>
    bandPath(spots.map((spot) => ({ x: spot.x, low: y(spot.value - error(spot)), high: y(spot.value + error(spot)) })));
  return (
    <div ref={ref}>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${label} by ${axis}, with its 95 % band`}>
        <LeftAxis scale={y} at={52} reach={width - 12} label={label} />
        <BottomAxis scale={x} at={height - 46} reach={height - 46} label={axis} ticks={ticks} format={format} />
        {otherErrors && <path d={band((spot) => spot.other ?? 0)} class="band-other" />}
        <path d={band((spot) => spot.error ?? 0)} class="band" />
        <path d={linePath(spots)} class="line" />
        {spots.map((spot) => (
          <g key={spot.at}>
            <title>{`${spot.label}: ${formatValue(spot.value, spot.error)}${spot.error === null ? "" : ` ${formatError(spot.error)}`}`}</title>
            {spot.error !== null && <line class="band-edge" x1={spot.x} x2={spot.x} y1={y(spot.value - spot.error)} y2={y(spot.value + spot.error)} />}
            <circle class="dot" cx={spot.x} cy={spot.y} r={3.5} />
          </g>
        ))}
      </svg>
    </div>
  );
}
