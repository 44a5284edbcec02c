// Where random bits come from.
/** The platform's cryptographic generator (WebCrypto), in browsers and in Node. */
export class SecureRandom {
    words = new BigUint64Array(512);
    next = this.words.length;
    word() {
        if (this.next === this.words.length) {
            globalThis.crypto.getRandomValues(this.words);
            this.next = 0;
        }
        const word = this.words[this.next];
        this.words[this.next++] = 0n; // used once, kept nowhere
        return word;
    }
}
/** Uniform on 0 to bound - 1, exactly (Lemire 2019). */
export function uniformBelow(bound, random) {
    const low = (x) => BigInt.asUintN(64, x);
    let product = random.word() * bound;
    if (low(product) < bound) {
        const unfair = low(-bound) % bound;
        while (low(product) < unfair)
            product = random.word() * bound;
    }
    return product >> 64n;
}
