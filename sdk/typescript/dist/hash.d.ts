export declare const SMALL_PRIME: bigint;
export declare const LARGE_PRIME: bigint;
/** x -> ((a x + b) mod (2^31 - 1)), cut into `ranges` parts. */
export declare function smallBucket(a: bigint, b: bigint, x: bigint, ranges: bigint): bigint;
export declare function mix64(x: bigint): bigint;
/** Function `index` of the family that a collection announces by its seed, cut into `ranges` parts. */
export declare function largeBucket(seed: bigint, index: bigint, x: bigint, ranges: bigint): bigint;
/** The key of a text: FNV-1a over its UTF-8 bytes, mixed, 61 bits. */
export declare function textKey(text: string): bigint;
export declare function hadamardNegative(row: bigint, column: bigint): boolean;
