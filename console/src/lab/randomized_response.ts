// Everybody answers a yes/no question, truthfully with probability p and the opposite otherwise.
import { seededUniform } from "./random";

export interface Survey {
  truth: boolean[];
  answers: boolean[];
  estimate: number;
  standardError: number;
}

/** p = e^epsilon / (1 + e^epsilon) is what makes one answer epsilon-private (Warner 1965). */
export function truthProbability(epsilon: number): number {
  return Math.exp(epsilon) / (1 + Math.exp(epsilon));
}

export function survey(people: number, share: number, epsilon: number, seed: number): Survey {
  const uniform = seededUniform(seed);
  const p = truthProbability(epsilon);
  const yes = Math.round(people * share);
  const truth = Array.from({ length: people }, (_, i) => Math.floor(((i + 1) * yes) / people) > Math.floor((i * yes) / people));
  const answers = truth.map((secret) => (uniform() < p ? secret : !secret));
  return { truth, answers, ...estimate(answers.filter(Boolean).length, people, p) };
}

/** The unbiased estimate of the share of yes, and its standard error. */
export function estimate(yes: number, people: number, p: number): { estimate: number; standardError: number } {
  const observed = yes / people;
  return {
    estimate: (observed - (1 - p)) / (2 * p - 1),
    standardError: Math.sqrt((observed * (1 - observed)) / people) / (2 * p - 1),
  };
}

/** What a trusted curator would give for the same epsilon: Laplace noise on the count, as a share. */
export function centralError95(people: number, epsilon: number): number {
  return Math.log(20) / epsilon / people;
}
