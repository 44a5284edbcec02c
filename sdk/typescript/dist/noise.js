// Discrete Laplace noise, drawn as in src/random of the main repository: one exact coin per binary digit.
import { decide, expMinus, logistic, times, twiceLogistic } from "./coin.js";
export class DiscreteLaplace {
    nonzero;
    coins = [];
    /** P[Z = z] is proportional to exp(-rate |z|). */
    constructor(rate) {
        const prepared = (digits) => ({ first: digits(64), digits });
        this.nonzero = prepared(twiceLogistic(rate));
        let reach = rate;
        for (; reach.num < 45n * reach.den; reach = times(reach, 2n, 1n))
            this.coins.push(prepared(logistic(reach)));
        this.coins.push(prepared(expMinus(reach)));
    }
    draw(random) {
        const nonzero = toss(this.nonzero, random);
        const negative = (random.word() & 1n) !== 0n;
        const magnitude = this.geometric(random) + 1n;
        return nonzero ? (negative ? -magnitude : magnitude) : 0n;
    }
    geometric(random) {
        let value = 0n;
        this.coins.forEach((coin, j) => {
            if (toss(coin, random))
                value |= 1n << BigInt(j);
        });
        const last = BigInt(this.coins.length - 1);
        return value >> last !== 0n ? (1n << last) + this.geometric(random) : value;
    }
}
function toss(coin, random) {
    const drawn = random.word();
    return drawn === coin.first ? decide(coin.digits, drawn, random) : drawn < coin.first;
}
