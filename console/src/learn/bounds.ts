// The formulas behind the steps of the Learn page, each with where it comes from.

/** What an answer can make of a prior belief in a yes: Bayes with likelihood ratios between e^-epsilon and e^epsilon. */
export function posteriorBounds(prior: number, epsilon: number): { low: number; high: number } {
  const after = (ratio: number) => (prior * ratio) / (prior * ratio + 1 - prior);
  return { low: after(Math.exp(-epsilon)), high: after(Math.exp(epsilon)) };
}

/** 95 % error of a share of n people, when each randomizes their own answer (worst case, a share of one half). */
export function localError95(people: number, epsilon: number): number {
  const p = Math.exp(epsilon) / (1 + Math.exp(epsilon));
  return (1.96 * 0.5) / ((2 * p - 1) * Math.sqrt(people));
}

/** The same for a curator who adds Laplace noise to the count. */
export function curatorError95(people: number, epsilon: number): number {
  return Math.log(20) / (epsilon * people);
}

/** The sampling error alone: what n people say about everybody else. */
export function samplingError95(people: number): number {
  return (1.96 * 0.5) / Math.sqrt(people);
}

/** Largest of k errors, 95 times in 100, for k counts at epsilon in all, Laplace with epsilon / k each (union bound). */
export function laplaceWorstOf(counts: number, epsilon: number): number {
  return (counts / epsilon) * Math.log(counts / 0.05);
}

/** The same with Gaussian noise, calibrated by zero-concentrated privacy to (epsilon, delta) for all counts together. */
export function gaussianWorstOf(counts: number, epsilon: number, delta: number): number {
  const sigma = Math.sqrt(counts / (2 * rhoFor(epsilon, delta)));
  return sigma * Math.sqrt(2 * Math.log((2 * counts) / 0.05));
}

/** The rho whose conversion rho + 2 sqrt(rho ln(1/delta)) is epsilon (Bun and Steinke 2016, proposition 1.3). */
export function rhoFor(epsilon: number, delta: number): number {
  const log = Math.log(1 / delta);
  return (Math.sqrt(log + epsilon) - Math.sqrt(log)) ** 2;
}

export function basicComposition(times: number, epsilon: number): number {
  return times * epsilon;
}

/** Dwork, Rothblum and Vadhan 2010, theorem III.3. */
export function advancedComposition(times: number, epsilon: number, delta: number): number {
  return Math.sqrt(2 * times * Math.log(1 / delta)) * epsilon + times * epsilon * (Math.exp(epsilon) - 1);
}

/** epsilon-DP is (epsilon^2 / 2)-zCDP (Bun and Steinke 2016, proposition 1.4), which adds up, and is turned back. */
export function concentratedComposition(times: number, epsilon: number, delta: number): number {
  const rho = (times * epsilon * epsilon) / 2;
  return rho + 2 * Math.sqrt(rho * Math.log(1 / delta));
}

/** Each option's chance to be picked: proportional to exp(epsilon score / 2), scores moved by at most one person by 1. */
export function exponentialChoice(scores: readonly number[], epsilon: number): number[] {
  const best = Math.max(...scores);
  const weights = scores.map((score) => Math.exp((epsilon * (score - best)) / 2));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** With probability 0.95 the pick is at most this far below the best (McSherry and Talwar 2007, theorem 6). */
export function exponentialShortfall(options: number, epsilon: number): number {
  return (2 / epsilon) * Math.log(options / 0.05);
}

/** A mechanism run on a random share q of the people (Poisson sampling) is ln(1 + q (e^epsilon - 1))-DP. */
export function amplified(share: number, epsilon: number): number {
  return Math.log1p(share * Math.expm1(epsilon));
}
