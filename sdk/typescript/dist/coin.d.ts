import type { RandomSource } from "./random.js";
/** An exact fraction; the denominator is positive. */
export interface Fraction {
    num: bigint;
    den: bigint;
}
/** The exact value of a finite number. */
export declare function fraction(value: number): Fraction;
export declare function times(a: Fraction, num: bigint, den: bigint): Fraction;
export declare function product(a: Fraction, b: Fraction): Fraction;
/** The first `bits` binary digits of a probability. */
export type Digits = (bits: number) => bigint;
export declare function expMinus(x: Fraction): Digits;
/** m / (m + exp(x)). */
export declare function logistic(x: Fraction, m?: Fraction): Digits;
/** 2 / (1 + exp(x)). */
export declare function twiceLogistic(x: Fraction): Digits;
/** Decides U < p exactly: `drawn` is U's first word, more are drawn while U and p agree. */
export declare function decide(p: Digits, drawn: bigint, random: RandomSource): boolean;
export declare class Coin {
    readonly heads: bigint;
    /** Chance heads / 2^64. */
    constructor(heads: bigint);
    static readonly fair: Coin;
    static atLeast(p: Digits): Coin;
    static halfAtLeast(p: Digits): Coin;
    opposite(): Coin;
    toss(random: RandomSource): boolean;
    /** 64 tosses: bit i of the result is toss i. */
    toss64(random: RandomSource): bigint;
}
