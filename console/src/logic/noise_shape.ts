// The curve of a mechanism's noise, drawn from its 95 % error before anything is asked.

export type NoiseFamily = "laplace" | "gaussian";

export function familyOf(mechanism: string | null): NoiseFamily {
  return mechanism !== null && /gauss/i.test(mechanism) ? "gaussian" : "laplace";
}

/** Density at `x`, scaled so that its peak is 1, of noise that stays within `error95` with probability 0.95. */
export function relativeDensity(family: NoiseFamily, error95: number, x: number): number {
  if (!(error95 > 0)) return x === 0 ? 1 : 0;
  if (family === "laplace") return Math.exp((-Math.abs(x) * Math.log(20)) / error95);
  const z = (x / error95) * 1.959964;
  return Math.exp((-z * z) / 2);
}

export interface CurvePoint {
  x: number;
  y: number;
}

export function noiseCurve(family: NoiseFamily, error95: number, reach: number, steps = 120): CurvePoint[] {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const x = -reach + (2 * reach * i) / steps;
    return { x, y: relativeDensity(family, error95, x) };
  });
}

/** Epsilons worth comparing: a fixed ladder, and the one in hand. */
export function epsilonLadder(current: number): number[] {
  const ladder = [0.05, 0.1, 0.2, 0.5, 1, 2];
  const near = ladder.some((epsilon) => Math.abs(epsilon / current - 1) < 0.02);
  return (near ? ladder : [...ladder, current]).sort((a, b) => a - b);
}
