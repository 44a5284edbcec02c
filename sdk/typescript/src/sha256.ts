// SHA-256 and HMAC (FIPS 180-4, FIPS 198-1), synchronous: WebCrypto's are not, and a report is one call.

const K = new Uint32Array(64);
const INITIAL = new Uint32Array(8);
{
  // The constants are the fractional parts of cube and square roots of the first primes.
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; ++n) if (primes.every((p) => n % p !== 0)) primes.push(n);
  const root = (n: bigint, power: bigint, bits: bigint): bigint => {
    let low = 0n;
    let high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** power <= n << (bits * power)) low = middle;
      else high = middle;
    }
    return low;
  };
  primes.forEach((p, i) => {
    K[i] = Number(root(BigInt(p), 3n, 32n) & 0xffffffffn);
    if (i < 8) INITIAL[i] = Number(root(BigInt(p), 2n, 32n) & 0xffffffffn);
  });
}

const rotate = (x: number, n: number) => (x >>> n) | (x << (32 - n));

export function sha256(message: Uint8Array): Uint8Array {
  const blocks = Math.ceil((message.length + 9) / 64);
  const padded = new Uint8Array(blocks * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  const hash = INITIAL.slice();
  const w = new Uint32Array(64);
  for (let block = 0; block < blocks; ++block) {
    for (let i = 0; i < 16; ++i) w[i] = view.getUint32(64 * block + 4 * i);
    for (let i = 16; i < 64; ++i) {
      const a = w[i - 15]!;
      const b = w[i - 2]!;
      w[i] = w[i - 16]! + (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) + w[i - 7]! +
        (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; ++i) {
      const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => (hash[i] = hash[i]! + x));
  }
  const out = new Uint8Array(32);
  hash.forEach((x, i) => new DataView(out.buffer).setUint32(4 * i, x));
  return out;
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(64);
  padded.set(key.length > 64 ? sha256(key) : key);
  const keyed = (mask: number, rest: Uint8Array) => {
    const all = new Uint8Array(64 + rest.length);
    padded.forEach((byte, i) => (all[i] = byte ^ mask));
    all.set(rest, 64);
    return sha256(all);
  };
  return keyed(0x5c, keyed(0x36, message));
}
