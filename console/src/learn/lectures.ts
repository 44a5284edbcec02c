// The formulas behind the lectures' steps of the Learn page: linear queries, the privacy loss, overfitting, the smoker, sparse vector.
import { gaussianWorstOf } from "./bounds";

const beta = 0.05;

/** Every one of k linear queries about n people within this share, 95 times in 100; Laplace noise of scale k / epsilon on each count. */
export function linearLaplace(queries: number, people: number, epsilon: number): number {
  return (queries * Math.log(queries / beta)) / (epsilon * people);
}

/** The same when everybody randomizes their own bit once: Hoeffding's inequality with summands of width (e^eps + 1) / (e^eps - 1). */
export function linearResponse(queries: number, people: number, epsilon: number): number {
  return Math.sqrt(Math.log((2 * queries) / beta) / (2 * people)) / Math.tanh(epsilon / 2);
}

export function linearGaussian(queries: number, people: number, epsilon: number, delta: number): number {
  return gaussianWorstOf(queries, epsilon, delta) / people;
}

export function lossMean(times: number, epsilon: number): number {
  return times * epsilon * Math.tanh(epsilon / 2);
}

/** The chance that the total loss of k randomized responses is above x: a sum of binomial chances. */
export function lossTail(times: number, epsilon: number, x: number): number {
  const truth = 1 / (1 + Math.exp(-epsilon));
  const ratio = Math.log(1 - truth) - Math.log(truth);
  let log = times * Math.log(truth), sum = 0;
  for (let lies = 0; lies <= times && epsilon * (times - 2 * lies) > x + 1e-12; ++lies) {
    sum += Math.exp(log);
    log += Math.log((times - lies) / (lies + 1)) + ratio;
  }
  return Math.min(1, sum);
}

/** Azuma's inequality for the same: losses between -epsilon and epsilon around their mean. */
export function azumaTail(times: number, epsilon: number, x: number): number {
  const beyond = x - lossMean(times, epsilon);
  return beyond <= 0 ? 1 : Math.exp(-(beyond ** 2) / (2 * times * epsilon ** 2));
}

/** How much better than a coin the best of d coin flips looks on n people: the usual bound on its mean. */
export function bestOfCoins(features: number, people: number): number {
  return Math.sqrt(Math.log(features) / (2 * people));
}

/** How much better than it is a rule chosen with epsilon can look on average: e^epsilon - 1 (McSherry). */
export function privateOptimism(epsilon: number): number {
  return Math.expm1(epsilon);
}

/** The chance that a private study of n people concludes "smokers fall ill at least twice as often": rates 15 % and 5 %, a quarter smoke; Alice smokes and is ill. */
export function studyConcludes(people: number, epsilon: number, withAlice: boolean): number {
  const smokers = people / 4, others = people - smokers;
  const excess = (0.15 * smokers - (withAlice ? 0 : 1)) / smokers - 2 * 0.05;
  const deviation = (Math.SQRT2 / epsilon) * Math.hypot(1 / smokers, 2 / others);
  return normal(excess / deviation);
}

/** Sparse vector: every answer on the right side unless this near the threshold, 95 times in 100 (Dwork and Roth 2014, theorem 3.26). */
export function sparseError(questions: number, above: number, epsilon: number): number {
  return (8 * above * (Math.log(questions) + Math.log((2 * above) / beta))) / epsilon;
}

/** The normal distribution function (Abramowitz and Stegun 26.2.17, error below 1e-7). */
export function normal(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI) * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x > 0 ? 1 - tail : tail;
}
