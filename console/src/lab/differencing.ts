// A differencing attack: how many broke the rules, with and without one person; the difference is that person's secret.
import { laplace, seededUniform } from "./random";

export interface Resident {
  name: string;
  street: string;
  brokeRules: boolean;
}

const firstNames = ["Ada", "Ben", "Cleo", "Dov", "Esme", "Finn", "Gita", "Hugo", "Ines", "Jonas", "Kaya", "Liam", "Mina", "Noor", "Otis", "Pia", "Quinn", "Rosa", "Sami", "Tess", "Uma", "Vito", "Wren", "Yara"];
const lastNames = ["Ash", "Brook", "Cole", "Dunn", "Ember", "Frost", "Glen", "Hale", "Ivory", "Jute", "Kerr", "Lark"];
const streets = ["Iron St", "Mill Lane", "Hill Road", "Quay"];

/** A made-up street of Merrow; the mayor is the first. */
export function neighbourhood(size: number, seed: number): Resident[] {
  const uniform = seededUniform(seed);
  return Array.from({ length: size }, (_, i) => ({
    name: i === 0 ? "Mayor Wade" : `${firstNames[i % firstNames.length]} ${lastNames[Math.floor(uniform() * lastNames.length)]}`,
    street: `${100 + Math.floor(uniform() * 800)} ${streets[Math.floor(uniform() * streets.length)]}`,
    brokeRules: i === 0 ? true : uniform() < 0.35,
  }));
}

export interface Attack {
  everyone: number;
  withoutTarget: number;
  difference: number;
  guess: boolean;
  right: boolean;
}

/** `epsilon` null means exact answers; otherwise both answers together cost `epsilon`, half each. */
export function attack(residents: Resident[], target: number, epsilon: number | null, uniform: () => number): Attack {
  const exact = residents.filter((person) => person.brokeRules).length;
  const secret = residents[target]!.brokeRules;
  const noise = () => (epsilon === null ? 0 : Math.round(laplace(uniform, 2 / epsilon)));
  const everyone = exact + noise();
  const withoutTarget = exact - (secret ? 1 : 0) + noise();
  const difference = everyone - withoutTarget;
  const guess = difference > 0.5;  // the exact difference is 1 for a yes and 0 for a no
  return { everyone, withoutTarget, difference, guess, right: guess === secret };
}

/** How often the attack is right when the secret itself is a fair coin: the number the guess bound speaks about. */
export function successRate(epsilon: number | null, trials: number, seed: number): number {
  const uniform = seededUniform(seed);
  let right = 0;
  for (let i = 0; i < trials; ++i) {
    const person: Resident = { name: "", street: "", brokeRules: uniform() < 0.5 };
    right += attack([person], 0, epsilon, uniform).right ? 1 : 0;
  }
  return right / trials;
}
