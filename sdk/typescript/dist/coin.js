/** The exact value of a finite number. */
export function fraction(value) {
    if (!Number.isFinite(value))
        throw new RangeError("not a finite number");
    let den = 1n;
    let scaled = value;
    while (!Number.isInteger(scaled)) {
        scaled *= 2;
        den *= 2n;
    }
    return { num: BigInt(scaled), den };
}
export function times(a, num, den) {
    return { num: a.num * num, den: a.den * den };
}
export function product(a, b) {
    return { num: a.num * b.num, den: a.den * b.den };
}
/** exp(-x) * 2^bits, less an error far below one unit of the last 64 digits kept by callers. */
function expMinusScaled(x, bits) {
    let halvings = 8;
    for (let whole = x.num / x.den + 1n; whole > 0n; whole >>= 1n)
        ++halvings;
    const work = BigInt(bits + halvings + 16);
    const y = (x.num << (work - BigInt(halvings))) / x.den;
    let term = 1n << work;
    let sum = term;
    for (let n = 1n; term > 0n; ++n) {
        term = ((term * y) >> work) / n;
        sum += n % 2n === 1n ? -term : term;
    }
    for (let i = 0; i < halvings; ++i)
        sum = (sum * sum) >> work;
    return sum >> (work - BigInt(bits));
}
const GUARD = 128;
export function expMinus(x) {
    return (bits) => expMinusScaled(x, bits + GUARD) >> BigInt(GUARD);
}
/** m / (m + exp(x)). */
export function logistic(x, m = { num: 1n, den: 1n }) {
    return (bits) => {
        const e = expMinusScaled(x, bits + GUARD);
        return ((m.num * e) << BigInt(bits)) / (m.num * e + (m.den << BigInt(bits + GUARD)));
    };
}
/** 2 / (1 + exp(x)). */
export function twiceLogistic(x) {
    return (bits) => {
        const e = expMinusScaled(x, bits + GUARD);
        return ((2n * e) << BigInt(bits)) / (e + (1n << BigInt(bits + GUARD)));
    };
}
/** Decides U < p exactly: `drawn` is U's first word, more are drawn while U and p agree. */
export function decide(p, drawn, random) {
    for (let bits = 64;; bits += 64) {
        const digits = BigInt.asUintN(64, p(bits));
        if (drawn !== digits)
            return drawn < digits;
        drawn = random.word();
    }
}
export class Coin {
    heads;
    /** Chance heads / 2^64. */
    constructor(heads) {
        this.heads = heads;
    }
    static fair = new Coin(1n << 63n);
    static atLeast(p) {
        return new Coin(p(64) + 1n);
    }
    static halfAtLeast(p) {
        return new Coin(p(63) + 1n);
    }
    opposite() {
        return new Coin((1n << 64n) - this.heads);
    }
    toss(random) {
        return random.word() < this.heads;
    }
    /** 64 tosses: bit i of the result is toss i. */
    toss64(random) {
        const all = (1n << 64n) - 1n;
        let below = 0n;
        let open = all;
        for (let digit = 63n; digit >= 0n && open !== 0n; --digit) {
            const drawn = random.word();
            if (((this.heads >> digit) & 1n) !== 0n) {
                below |= open & ~drawn;
                open &= drawn;
            }
            else {
                open &= ~drawn;
            }
        }
        return below & all;
    }
}
