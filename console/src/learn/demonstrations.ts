// The formulas behind the steps about data, attacks and releases over time.
import { rhoFor } from "./bounds";
import { normal } from "./lectures";

/** How far one person's number in [0, 1] can move a statistic of n numbers (docs/inference.md has the pairs that attain it). */
export const sensitivities = {
  mean: (people: number) => 1 / people,
  "standard deviation": (people: number) => Math.sqrt(people - 1) / people,
  "maximum, median": () => 1,
} as const;

/** Share of people who stand in a group of at least k alike, when `columns` columns of `values` equally likely values each are published. */
export function kAnonymous(people: number, columns: number, values: number, k: number): number {
  const chance = values ** -columns;
  // 1 - P[fewer than k - 1 others are alike], a sum of binomial chances.
  let log = (people - 1) * Math.log1p(-chance), below = 0;
  for (let others = 0; others < k - 1 && others < people; ++others) {
    below += Math.exp(log);
    log += Math.log((people - 1 - others) / (others + 1)) + Math.log(chance) - Math.log1p(-chance);
  }
  return Math.max(0, 1 - below);
}

const variance = 0.25;  // of one attribute

/** The chance to recognise a participant from the means of `attributes` over `people`, when 5 strangers in 100 are accused (the score of Homer et al. 2008, its laws taken as normal). */
export function memberFound(attributes: number, people: number, epsilon: number | null, delta: number): number {
  const deviation = epsilon === null ? 0 : Math.sqrt(attributes) / (people * Math.sqrt(2 * rhoFor(epsilon, delta)));
  const signal = (Math.sqrt(attributes) * Math.sqrt(variance)) / people / Math.sqrt(variance / people + deviation ** 2);
  return normal(signal - 1.644854);
}

/** No attack on an (epsilon, delta)-private release finds more, at the same rate of false alarms. */
export function memberBound(epsilon: number, delta: number): number {
  return Math.min(1, 0.05 * Math.exp(epsilon) + delta, 1 - Math.exp(-epsilon) * (0.95 - delta));
}

/** 95 % error of the running total on the last of `days`, Gaussian noise for (epsilon, delta) in all. A person comes on one day. */
export const streams = {
  /** Every day's total asked anew, from a share of the budget. */
  anew: (days: number, epsilon: number, delta: number) => within95(Math.sqrt(days), epsilon, delta),
  /** Partial sums in a binary tree: everybody is in as many as it has levels (Dwork, Naor, Pitassi and Rothblum 2010; Chan, Shi and Song 2011). */
  tree: (days: number, epsilon: number, delta: number) => within95(Math.floor(Math.log2(days)) + 1, epsilon, delta),
  /** The square root of the matrix of running totals (Fichtenberger, Henzinger and Upadhyay 2023). */
  root: (days: number, epsilon: number, delta: number) => within95(rootFactor(days), epsilon, delta),
};

function within95(factor: number, epsilon: number, delta: number): number {
  return (1.959964 * factor) / Math.sqrt(2 * rhoFor(epsilon, delta));
}

/** Row norm times column norm of the square root: the sum of squares of binomial(2i, i) / 4^i, i < days. */
export function rootFactor(days: number): number {
  let term = 1, sum = 0;
  const exact = Math.min(Math.floor(days), 2000);
  for (let i = 0; i < exact; ++i) {
    sum += term * term;
    term *= (2 * i + 1) / (2 * i + 2);
  }
  // Beyond, the squares are 1 / (pi i) to within a thousandth.
  return days > exact ? sum + Math.log(days / exact) / Math.PI : sum;
}

/** People needed so that the best of `rules` rules, chosen privately, errs by at most `error` more than the best, 95 times in 100: sampling (Hoeffding) takes half of it, the choice the other half (Kasiviswanathan et al. 2011). */
export function peopleToLearn(rules: number, error: number, epsilon: number | null): number {
  const half = error / 2;
  const sampling = (2 * Math.log((2 * rules) / 0.025)) / half ** 2;
  return epsilon === null ? (2 * Math.log((2 * rules) / 0.05)) / error ** 2 : Math.max(sampling, (2 * Math.log(rules / 0.025)) / (epsilon * half));
}

/** Bidders whose limits fall evenly from 0 to 100: what a posted price takes in, as a share of the best, and how likely it is to be posted, as a share of the likeliest. */
export function takings(price: number): number {
  return (price * (100 - price)) / 2500;
}
export function postedChance(price: number, bidders: number, epsilon: number): number {
  // One bidder moves the takings by at most the highest price.
  const revenue = bidders * 25;
  return Math.exp((epsilon * revenue * (takings(price) - 1)) / (2 * 100));
}
/** What the private price takes in on average, as a share of the best. */
export function expectedTakings(bidders: number, epsilon: number): number {
  let [sum, weight] = [0, 0];
  for (let price = 1; price <= 100; ++price) {
    const chance = postedChance(price, bidders, epsilon);
    sum += chance * takings(price);
    weight += chance;
  }
  return sum / weight;
}

/** How much too large the total gets, in people, when each of `towns` noisy counts below zero is set to zero: Laplace noise of scale 1 / epsilon. */
export function clippedTotalBias(towns: number, size: number, epsilon: number): number {
  return (towns * Math.exp(-size * epsilon)) / (2 * epsilon);
}
/** 95 % error of the total when it is released with half of the budget and the towns are made to add up to it. */
export function consistentTotalError(epsilon: number): number {
  return Math.log(20) / (epsilon / 2);
}
/** Share of towns of this size whose noisy count is below zero. */
export function negativeShare(size: number, epsilon: number): number {
  return Math.exp(-size * epsilon) / 2;
}
