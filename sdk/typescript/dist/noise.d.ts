import { type Fraction } from "./coin.js";
import type { RandomSource } from "./random.js";
export declare class DiscreteLaplace {
    private readonly nonzero;
    private readonly coins;
    /** P[Z = z] is proportional to exp(-rate |z|). */
    constructor(rate: Fraction);
    draw(random: RandomSource): bigint;
    private geometric;
}
