// Random numbers for demonstrations in the browser, repeatable by seed. The server's releases never use these:
// its noise is exact and comes from the operating system.

/** Uniform in [0, 1), from a 32-bit state (the mulberry32 construction). */
export function seededUniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function laplace(uniform: () => number, scale: number): number {
  const u = uniform() - 0.5;
  return -scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
}

export function gaussian(uniform: () => number, sigma: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
  return sigma * radius * Math.cos(2 * Math.PI * uniform());
}
