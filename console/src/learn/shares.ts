// Two servers that add up numbers neither of them sees. Every number is split into two shares that are each
// uniform; the servers' totals differ from the true one by the same amount with opposite sign.
import { seededUniform } from "../lab/random";

export const modulus = 1009;

export interface Shared {
  value: number;
  first: number;
  second: number;
  /** Whether the servers accept it. The real proof shows this without the value; here the rule is looked at. */
  accepted: boolean;
}

export function shareAll(values: readonly number[], largest: number, seed: number): Shared[] {
  const uniform = seededUniform(seed);
  return values.map((value) => {
    const first = Math.floor(uniform() * modulus);
    return { value, first, second: wrap(value - first), accepted: Number.isInteger(value) && value >= 0 && value <= largest };
  });
}

export function totals(shared: readonly Shared[]): { first: number; second: number; sum: number } {
  const accepted = shared.filter((one) => one.accepted);
  const first = wrap(accepted.reduce((sum, one) => sum + one.first, 0));
  const second = wrap(accepted.reduce((sum, one) => sum + one.second, 0));
  return { first, second, sum: wrap(first + second) };
}

function wrap(value: number): number {
  return ((value % modulus) + modulus) % modulus;
}
