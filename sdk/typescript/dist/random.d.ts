/** Independent uniform 64-bit words. */
export interface RandomSource {
    word(): bigint;
}
/** The platform's cryptographic generator (WebCrypto), in browsers and in Node. */
export declare class SecureRandom implements RandomSource {
    private readonly words;
    private next;
    word(): bigint;
}
/** Uniform on 0 to bound - 1, exactly (Lemire 2019). */
export declare function uniformBelow(bound: bigint, random: RandomSource): bigint;
