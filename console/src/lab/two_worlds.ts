// One count, two worlds: the same question asked of data with and without one person.
import { laplace, seededUniform } from "./random";

export interface TwoWorlds {
  with: Float64Array;
  without: Float64Array;
}

export function simulateTwoWorlds(count: number, epsilon: number, trials: number, seed: number): TwoWorlds {
  const uniform = seededUniform(seed);
  const draw = (exact: number) => Float64Array.from({ length: trials }, () => Math.round(exact + laplace(uniform, 1 / epsilon)));
  return { with: draw(count), without: draw(count - 1) };
}

/** Distance that holds for 95 answers in 100: P[|Laplace(1/epsilon)| > t] = exp(-epsilon t). */
export function laplaceError95(epsilon: number, sensitivity = 1): number {
  return (sensitivity * Math.log(20)) / epsilon;
}

/** The most often anybody can be right who guesses, from one release, which of two equally likely worlds it is. */
export function guessBound(epsilon: number): number {
  return Math.exp(epsilon) / (1 + Math.exp(epsilon));
}

export interface Bin {
  from: number;
  to: number;
  count: number;
}

export function histogram(values: ArrayLike<number>, low: number, high: number, bins: number): Bin[] {
  const width = (high - low) / bins;
  const result = Array.from({ length: bins }, (_, i) => ({ from: low + i * width, to: low + (i + 1) * width, count: 0 }));
  for (let i = 0; i < values.length; ++i) {
    const at = Math.floor((values[i]! - low) / width);
    if (at >= 0 && at < bins) result[at]!.count += 1;
  }
  return result;
}
