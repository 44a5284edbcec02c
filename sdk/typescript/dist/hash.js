// Public hash functions: they spread values, they hide nothing.
const MASK = (1n << 64n) - 1n;
export const SMALL_PRIME = (1n << 31n) - 1n;
export const LARGE_PRIME = (1n << 61n) - 1n;
/** x -> ((a x + b) mod (2^31 - 1)), cut into `ranges` parts. */
export function smallBucket(a, b, x, ranges) {
    return (((a * x + b) % SMALL_PRIME) * ranges) >> 31n;
}
export function mix64(x) {
    x = (x + 0x9e3779b97f4a7c15n) & MASK;
    x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return x ^ (x >> 31n);
}
/** Function `index` of the family that a collection announces by its seed, cut into `ranges` parts. */
export function largeBucket(seed, index, x, ranges) {
    const start = mix64(seed);
    const a = mix64((start + 2n * index) & MASK) % LARGE_PRIME;
    const b = mix64((start + 2n * index + 1n) & MASK) % LARGE_PRIME;
    return (((a * x + b) % LARGE_PRIME) * ranges) >> 61n;
}
/** The key of a text: FNV-1a over its UTF-8 bytes, mixed, 61 bits. */
export function textKey(text) {
    let state = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text))
        state = ((state ^ BigInt(byte)) * 0x100000001b3n) & MASK;
    const key = mix64(state) >> 3n;
    return key === LARGE_PRIME ? 0n : key;
}
export function hadamardNegative(row, column) {
    let odd = false;
    for (let bits = row & column; bits !== 0n; bits &= bits - 1n)
        odd = !odd;
    return odd;
}
