import { type RandomSource } from "./random.js";
import { type Spec } from "./spec.js";
/** Lasting streams yield the same words every time; `fresh` does not. */
export interface Streams {
    client: RandomSource;
    value: RandomSource;
    fresh: RandomSource;
}
export interface Oracle {
    readonly reportBytes: number;
    /** Inputs are below this. */
    readonly inputs: bigint;
    randomize(input: bigint, random: RandomSource): Uint8Array;
    randomizeLasting(input: bigint, streams: Streams): Uint8Array;
}
export declare function makeOracle(spec: Spec): Oracle;
