// Released answers of two worlds as heaps on top of each other, with the span of 95 answers in 100.
import { histogram, type TwoWorlds } from "../lab/two_worlds";
import { formatError, formatNumber } from "../logic/format";
import { linearScale } from "../logic/scale";
import { BottomAxis } from "./axis";
import { useWidth } from "./width";

/** The exact count in the world with the person. */
export const heapCount = 1000;
const count = heapCount;
const height = 250;

export function Heaps({ worlds, error }: { worlds: TwoWorlds; error: number }) {
  const [ref, width] = useWidth();
  const reach = Math.max(4.5, error * 1.6);
  const whole = Math.max(1, Math.ceil((2 * reach) / 45));
  const bins = 2 * Math.ceil(reach / whole) + 1;
  const low = count - 0.5 - whole * ((bins - 1) / 2) - (whole - 1) / 2;
  const high = low + bins * whole;
  const heaps = [histogram(worlds.with, low, high, bins), histogram(worlds.without, low, high, bins)];
  const tallest = Math.max(...heaps.flat().map((bin) => bin.count));
  const x = linearScale([low, high], [8, width - 8], width < 500 ? 4 : 7);
  const y = linearScale([0, tallest], [height - 42, 10]);
  return (
    <figure>
      <div ref={ref}>
        <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Released answers with and without one person; 95 in 100 lie within ${formatError(error)}`}>
          <rect x={x(count - error)} width={Math.max(0, x(count + error) - x(count - error))} y={10} height={height - 52} class="span-95" />
          {heaps.map((heap, world) => heap.map((bin) => (
            <rect key={`${world}-${bin.from}`} class={world ? "heap-without" : "heap-with"} x={x(bin.from) + 0.5} width={Math.max(0.5, x(bin.to) - x(bin.from) - 1)} y={y(bin.count)} height={y(0) - y(bin.count)} />
          )))}
          <BottomAxis scale={x} at={height - 42} reach={height - 42} label="released count" format={(value) => formatNumber(value)} />
        </svg>
      </div>
      <div class="legend">
        <span><span class="swatch heap-with-swatch" />with the person</span>
        <span><span class="swatch heap-without-swatch" />without</span>
        <span><span class="swatch span-swatch" />95 % of answers</span>
      </div>
    </figure>
  );
}
