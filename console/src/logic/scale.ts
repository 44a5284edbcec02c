// Axes: nice ticks and the map from data to pixels.

export interface Scale {
  (value: number): number;
  ticks: number[];
  domain: [number, number];
}

/** Round steps (1, 2, 5 times a power of ten) that cover the domain with about `count` ticks. */
export function linearTicks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(clean(i * step));
  return ticks;
}

function clean(value: number): number {
  return Number(value.toPrecision(12)) + 0;
}

export function linearScale(domain: [number, number], range: [number, number], count = 5): Scale {
  const [low, high] = domain[1] > domain[0] ? domain : [domain[0] - 0.5, domain[0] + 0.5];
  const scale = (value: number) => range[0] + ((value - low) / (high - low)) * (range[1] - range[0]);
  return Object.assign(scale, { ticks: linearTicks(low, high, count), domain: [low, high] as [number, number] });
}

/** The domain widened to whole steps, so that the first and last tick are on its ends. */
export function niceDomain(low: number, high: number, count = 5): [number, number] {
  if (!(high > low)) return [low - 0.5, low + 0.5];
  const ticks = linearTicks(low, high, count);
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : high - low;
  return [clean(Math.floor(low / step + 1e-9) * step), clean(Math.ceil(high / step - 1e-9) * step)];
}

/** As niceDomain, but a little below zero (the error of a small count) does not cost a whole step of room. */
export function valueDomain(low: number, high: number, count = 5): [number, number] {
  const nice = niceDomain(low, high, count);
  return low < 0 && -low < 0.06 * high ? [low, nice[1]] : nice;
}

export function logScale(domain: [number, number], range: [number, number]): Scale {
  const [low, high] = [Math.log10(domain[0]), Math.log10(domain[1])];
  const scale = (value: number) => range[0] + ((Math.log10(value) - low) / (high - low || 1)) * (range[1] - range[0]);
  return Object.assign(scale, { ticks: logTicks(domain[0], domain[1]), domain });
}

export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const factors = decades > 3.2 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const factor of factors) {
      const tick = clean(factor * 10 ** power);
      if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
    }
  return ticks;
}

/** Axis labels: 12000 as 12k, 3000000 as 3M. */
export function tickLabel(value: number): string {
  const size = Math.abs(value);
  const short = (divisor: number, unit: string) => `${Number((value / divisor).toPrecision(4))}${unit}`;
  const text = size >= 1e9 ? short(1e9, "B") : size >= 1e6 ? short(1e6, "M") : size >= 1e4 ? short(1e3, "k")
    : size !== 0 && size < 1e-4 ? value.toExponential(0) : value.toLocaleString("en-US", { maximumFractionDigits: 6 });
  return text.replace("-", "\u2212");
}
