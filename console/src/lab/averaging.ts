// Asking the same question again and again. With fresh noise each time the mean homes in on the secret;
// where the first answer is given again, for free, there is nothing to average.
import { laplace, seededUniform } from "./random";

export interface AveragingRun {
  fresh: number[];
  repeated: number[];
}

/** Running means after 1, 2, ... answers. */
export function averagingRun(exact: number, epsilon: number, times: number, seed: number): AveragingRun {
  const uniform = seededUniform(seed);
  const first = exact + laplace(uniform, 1 / epsilon);
  const run: AveragingRun = { fresh: [], repeated: [] };
  let sum = 0;
  for (let i = 0; i < times; ++i) {
    sum += i === 0 ? first : exact + laplace(uniform, 1 / epsilon);
    run.fresh.push(sum / (i + 1));
    run.repeated.push(first);
  }
  return run;
}
