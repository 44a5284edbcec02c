// Where random bits come from.

/** Independent uniform 64-bit words. */
export interface RandomSource {
  word(): bigint;
}

/** The platform's cryptographic generator (WebCrypto), in browsers and in Node. */
export class SecureRandom implements RandomSource {
  private readonly words = new BigUint64Array(512);
  private next = this.words.length;

  word(): bigint {
    if (this.next === this.words.length) {
      globalThis.crypto.getRandomValues(this.words);
      this.next = 0;
    }
    const word = this.words[this.next]!;
    this.words[this.next++] = 0n; // used once, kept nowhere
    return word;
  }
}

/** Uniform on 0 to bound - 1, exactly (Lemire 2019). */
export function uniformBelow(bound: bigint, random: RandomSource): bigint {
  const low = (x: bigint) => BigInt.asUintN(64, x);
  let product = random.word() * bound;
  if (low(product) < bound) {
    const unfair = low(-bound) % bound;
    while (low(product) < unfair) product = random.word() * bound;
  }
  return product >> 64n;
}
