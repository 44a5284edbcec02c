// Discrete Laplace noise, drawn as in src/random of the main repository: one exact coin per binary digit.
import { decide, expMinus, logistic, times, twiceLogistic, type Digits, type Fraction } from "./coin.js";
import type { RandomSource } from "./random.js";

export class DiscreteLaplace {
  private readonly nonzero: { first: bigint; digits: Digits };
  private readonly coins: { first: bigint; digits: Digits }[] = [];

  /** P[Z = z] is proportional to exp(-rate |z|). */
  constructor(rate: Fraction) {
    const prepared = (digits: Digits) => ({ first: digits(64), digits });
    this.nonzero = prepared(twiceLogistic(rate));
    let reach = rate;
    for (; reach.num < 45n * reach.den; reach = times(reach, 2n, 1n)) this.coins.push(prepared(logistic(reach)));
    this.coins.push(prepared(expMinus(reach)));
  }

  draw(random: RandomSource): bigint {
    const nonzero = toss(this.nonzero, random);
    const negative = (random.word() & 1n) !== 0n;
    const magnitude = this.geometric(random) + 1n;
    return nonzero ? (negative ? -magnitude : magnitude) : 0n;
  }

  private geometric(random: RandomSource): bigint {
    let value = 0n;
    this.coins.forEach((coin, j) => {
      if (toss(coin, random)) value |= 1n << BigInt(j);
    });
    const last = BigInt(this.coins.length - 1);
    return value >> last !== 0n ? (1n << last) + this.geometric(random) : value;
  }
}

function toss(coin: { first: bigint; digits: Digits }, random: RandomSource): boolean {
  const drawn = random.word();
  return drawn === coin.first ? decide(coin.digits, drawn, random) : drawn < coin.first;
}
