// Dinur and Nissim's attack: enough counts over random subsets, answered too accurately, give away every bit.
import { gaussian, seededUniform } from "./random";

export interface Reconstruction {
  secret: boolean[];
  guess: boolean[];
  accuracy: number;
}

/** Asks `queries` random half-subset counts with Gaussian noise `sigma` and solves for the bits by least squares. */
export function reconstruct(people: number, queries: number, sigma: number, seed: number): Reconstruction {
  const uniform = seededUniform(seed);
  const secret = Array.from({ length: people }, () => uniform() < 0.5);
  // Normal equations, with subsets coded as +-1 around one half so that they are well conditioned.
  const gram = new Float64Array(people * people);
  const right = new Float64Array(people);
  const row = new Float64Array(people);
  for (let q = 0; q < queries; ++q) {
    let answer = 0;
    for (let i = 0; i < people; ++i) {
      row[i] = uniform() < 0.5 ? 1 : 0;
      if (row[i] && secret[i]) answer += 1;
    }
    answer += gaussian(uniform, sigma);
    for (let i = 0; i < people; ++i) {
      if (!row[i]) continue;
      right[i]! += answer;
      for (let j = 0; j <= i; ++j) gram[i * people + j]! += row[j]!;
    }
  }
  const solution = solveSymmetric(gram, right, people);
  const guess = Array.from(solution, (value) => value > 0.5);
  return { secret, guess, accuracy: guess.filter((bit, i) => bit === secret[i]).length / people };
}

/** Cholesky, in place, on the lower triangle; a tiny ridge keeps few queries solvable. */
export function solveSymmetric(matrix: Float64Array, right: Float64Array, n: number): Float64Array {
  const l = Float64Array.from(matrix);
  const x = Float64Array.from(right);
  for (let i = 0; i < n; ++i) l[i * n + i]! += 1e-6;
  for (let j = 0; j < n; ++j) {
    for (let k = 0; k < j; ++k) {
      const factor = l[j * n + k]!;
      for (let i = j; i < n; ++i) l[i * n + j]! -= factor * l[i * n + k]!;
    }
    const pivot = Math.sqrt(Math.max(l[j * n + j]!, 1e-12));
    for (let i = j; i < n; ++i) l[i * n + j]! /= pivot;
  }
  for (let i = 0; i < n; ++i) {
    for (let k = 0; k < i; ++k) x[i]! -= l[i * n + k]! * x[k]!;
    x[i]! /= l[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; --i) {
    for (let k = i + 1; k < n; ++k) x[i]! -= l[k * n + i]! * x[k]!;
    x[i]! /= l[i * n + i]!;
  }
  return x;
}

/** Least squares leaves each bit a standard deviation of 2 sigma / sqrt(m - n); accuracy is the normal law at 1/2 of it. */
export function predictedAccuracy(people: number, queries: number, sigma: number): number {
  if (sigma === 0) return 1;
  const deviation = (2 * sigma) / Math.sqrt(Math.max(1, queries - people));
  return normalCdf(1 / (2 * deviation));
}

/** Abramowitz and Stegun 26.2.17, good to 7.5e-8. */
export function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}
