// Randomisers: the same draws in the same order as src/local of the main repository, so that one stream of
// random words gives one report in either language.
import { Coin, expMinus, fraction, logistic, product, times, type Fraction } from "./coin.js";
import { LARGE_PRIME, SMALL_PRIME, hadamardNegative, largeBucket, smallBucket } from "./hash.js";
import { DiscreteLaplace } from "./noise.js";
import { uniformBelow, type RandomSource } from "./random.js";
import { isMean, isRecord, type Spec } from "./spec.js";

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

const GRID_HALF = 1n << 20n;

function put(bytes: Uint8Array, at: number, value: bigint, count: number): void {
  for (let i = 0; i < count; ++i) bytes[at + i] = Number((value >> BigInt(8 * i)) & 255n);
}
function bytesBelow(count: bigint): number {
  let bytes = 1;
  while (bytes < 8 && (count - 1n) >> BigInt(8 * bytes) !== 0n) ++bytes;
  return bytes;
}
function bit(bytes: Uint8Array, at: number, index: number): boolean {
  return ((bytes[at + (index >> 3)]! >> (index & 7)) & 1) !== 0;
}
function setBit(bytes: Uint8Array, at: number, index: number, one: boolean): void {
  const mask = 1 << (index & 7);
  const old = bytes[at + (index >> 3)]!;
  bytes[at + (index >> 3)] = one ? old | mask : old & ~mask;
}
function tossBits(coin: Coin, count: number, random: RandomSource, bytes: Uint8Array, at: number): void {
  for (let first = 0; first < count; first += 64) {
    const left = Math.min(64, count - first);
    const word = BigInt.asUintN(left, coin.toss64(random));
    put(bytes, at + first / 8, word, Math.ceil(left / 8));
  }
}
/** Another one of `count` values, uniformly. */
function another(than: bigint, count: bigint, random: RandomSource): bigint {
  const drawn = uniformBelow(count - 1n, random);
  return drawn + (drawn >= than ? 1n : 0n);
}

type Randomize = (input: bigint, random: RandomSource) => Uint8Array;

function simple(reportBytes: number, inputs: bigint, randomize: Randomize): Oracle {
  return { reportBytes, inputs, randomize, randomizeLasting: (input, streams) => randomize(input, streams.value) };
}

function randomizedResponse(spec: Spec, epsilon: Fraction): Oracle {
  const values = BigInt(spec.values);
  const size = bytesBelow(values);
  const lie = Coin.atLeast(logistic(epsilon, { num: values - 1n, den: 1n }));
  return simple(size, values, (input, random) => {
    const lies = lie.toss(random);
    const other = another(input, values, random);
    const report = new Uint8Array(size);
    put(report, 0, lies ? other : input, size);
    return report;
  });
}

function unary(spec: Spec, oneIfOne: Coin, oneIfZero: Coin): Oracle {
  const size = Math.ceil(spec.values / 8);
  return simple(size, BigInt(spec.values), (input, random) => {
    const report = new Uint8Array(size);
    tossBits(oneIfZero, spec.values, random, report, 0);
    setBit(report, 0, Number(input), oneIfOne.toss(random));
    return report;
  });
}

function summedHistogram(spec: Spec, epsilon: Fraction): Oracle {
  const limit = 1n << 40n;
  const noise = new DiscreteLaplace(times(epsilon, 1n, 2048n));
  return simple(6 * spec.values, BigInt(spec.values), (input, random) => {
    const report = new Uint8Array(6 * spec.values);
    for (let i = 0; i < spec.values; ++i) {
      let noisy = (BigInt(i) === input ? 1024n : 0n) + noise.draw(random);
      noisy = noisy < -limit ? -limit : noisy > limit ? limit : noisy;
      put(report, 6 * i, noisy + limit, 6);
    }
    return report;
  });
}

function localHash(spec: Spec, epsilon: Fraction): Oracle {
  const cells = BigInt(spec.cells);
  const lie = Coin.atLeast(logistic(epsilon, { num: cells - 1n, den: 1n }));
  return simple(12, BigInt(spec.values), (input, random) => {
    const a = uniformBelow(SMALL_PRIME, random);
    const b = uniformBelow(SMALL_PRIME, random);
    const cell = smallBucket(a, b, input, cells);
    const lies = lie.toss(random);
    const other = another(cell, cells, random);
    const report = new Uint8Array(12);
    put(report, 0, a, 4);
    put(report, 4, b, 4);
    put(report, 8, lies ? other : cell, 4);
    return report;
  });
}

function hadamard(spec: Spec, epsilon: Fraction): Oracle {
  let columns = 1n;
  while (columns < BigInt(spec.values) + 1n) columns *= 2n;
  const size = bytesBelow(columns);
  const lie = Coin.atLeast(logistic(epsilon));
  return simple(size, BigInt(spec.values), (input, random) => {
    const row = input + 1n;
    const negative = lie.toss(random);
    const column = random.word() & (columns - 1n);
    const turn = hadamardNegative(row, column) !== negative;
    const report = new Uint8Array(size);
    put(report, 0, column ^ (turn ? row & -row : 0n), size);
    return report;
  });
}

function subset(spec: Spec, epsilon: Fraction): Oracle {
  const size = Math.ceil(spec.values / 8);
  const weight = { num: BigInt(spec.values - spec.subset), den: BigInt(spec.subset) };
  const leftOut = Coin.atLeast(logistic(epsilon, weight));
  return simple(size, BigInt(spec.values), (input, random) => {
    const report = new Uint8Array(size);
    const own = Number(input);
    const isIn = !leftOut.toss(random);
    const others = spec.values - 1;
    const wanted = spec.subset - (isIn ? 1 : 0);
    const place = (other: number) => other + (other >= own ? 1 : 0);
    for (let top = others - wanted; top < others; ++top) {
      const drawn = Number(uniformBelow(BigInt(top + 1), random));
      setBit(report, 0, bit(report, 0, place(drawn)) ? place(top) : place(drawn), true);
    }
    if (isIn) uniformBelow(BigInt(others), random);
    setBit(report, 0, own, isIn);
    return report;
  });
}

function sketchInputs(spec: Spec): bigint {
  return spec.values === 0 ? LARGE_PRIME : BigInt(spec.values);
}

function countMeanSketch(spec: Spec, epsilon: Fraction): Oracle {
  const hashes = BigInt(spec.hashes);
  const rowBytes = bytesBelow(hashes);
  const size = rowBytes + Math.ceil(spec.width / 8);
  const flip = Coin.atLeast(logistic(times(epsilon, 1n, 2n)));
  return simple(size, sketchInputs(spec), (input, random) => {
    const report = new Uint8Array(size);
    const row = uniformBelow(hashes, random);
    put(report, 0, row, rowBytes);
    tossBits(flip, spec.width, random, report, rowBytes);
    const own = Number(largeBucket(spec.hashSeed, row, input, BigInt(spec.width)));
    setBit(report, rowBytes, own, !bit(report, rowBytes, own));
    return report;
  });
}

function hadamardSketch(spec: Spec, epsilon: Fraction): Oracle {
  const hashes = BigInt(spec.hashes);
  const width = BigInt(spec.width);
  const rowBytes = bytesBelow(hashes);
  const columnBytes = bytesBelow(2n * width);
  const flip = Coin.atLeast(logistic(epsilon));
  return simple(rowBytes + columnBytes, sketchInputs(spec), (input, random) => {
    const report = new Uint8Array(rowBytes + columnBytes);
    const row = uniformBelow(hashes, random);
    const column = uniformBelow(width, random);
    const own = largeBucket(spec.hashSeed, row, input, width);
    const negative = hadamardNegative(own, column) !== flip.toss(random);
    put(report, 0, row, rowBytes);
    put(report, rowBytes, 2n * column + (negative ? 1n : 0n), columnBytes);
    return report;
  });
}

function rappor(spec: Spec, epsilon: Fraction): Oracle {
  const perBit = (e: Fraction) => logistic(times(e, 1n, 2n * BigInt(spec.hashes)));
  const once = perBit(epsilon);
  const permanent = spec.permanentEpsilon === 0 ? Coin.atLeast(once)
    : Coin.atLeast(perBit(fraction(spec.permanentEpsilon)));
  let again: Coin | undefined;
  if (spec.permanentEpsilon !== 0) {
    const total = once(128) + 1n;
    again = new Coin((total - (permanent.heads << 64n)) / ((1n << 64n) - 2n * permanent.heads) + 1n);
  }
  const size = 2 + Math.ceil(spec.width / 8);
  const randomizeLasting = (input: bigint, streams: Streams) => {
    const report = new Uint8Array(size);
    const cohort = uniformBelow(BigInt(spec.cohorts), streams.client);
    put(report, 0, cohort, 2);
    tossBits(permanent, spec.width, streams.value, report, 2);
    const places = new Set<number>();
    for (let i = 0n; i < BigInt(spec.hashes); ++i)
      places.add(Number(largeBucket(spec.hashSeed, cohort * BigInt(spec.hashes) + i, input, BigInt(spec.width))));
    for (const place of places) setBit(report, 2, place, !bit(report, 2, place));
    if (again !== undefined) {
      const flips = new Uint8Array(size);
      tossBits(again, spec.width, streams.fresh, flips, 2);
      for (let i = 2; i < size; ++i) report[i]! ^= flips[i]!;
    }
    return report;
  };
  const randomize: Randomize = (input, random) =>
    randomizeLasting(input, { client: random, value: random, fresh: random });
  return { reportBytes: size, inputs: sketchInputs(spec), randomize, randomizeLasting };
}

function mean(spec: Spec, epsilon: Fraction): Oracle {
  const inputs = 2n * GRID_HALF + 1n;
  if (spec.oracle === "laplace") {
    const limit = 1n << 46n;
    const noise = new DiscreteLaplace(times(epsilon, 1n, 2n * GRID_HALF));
    return simple(6, inputs, (input, random) => {
      let noisy = input - GRID_HALF + noise.draw(random);
      noisy = noisy < -limit ? -limit : noisy > limit ? limit : noisy;
      const report = new Uint8Array(6);
      put(report, 0, noisy + limit, 6);
      return report;
    });
  }
  const step = ((1n << 63n) - Coin.atLeast(logistic(epsilon)).heads) / GRID_HALF;
  const width = BigInt(Math.max(1, Math.round(2 * Number(GRID_HALF) * Math.exp(-spec.epsilon / 2))));
  const outside = Coin.atLeast(logistic(epsilon, { num: 2n * GRID_HALF, den: width }));
  let useWindow = new Coin(0n);
  if (spec.oracle === "piecewise") useWindow = new Coin((1n << 64n) - 1n);
  else if (spec.oracle === "hybrid" && spec.epsilon > 0.61)
    useWindow = Coin.atLeast(expMinus(times(epsilon, 1n, 2n))).opposite();
  const size = spec.oracle === "duchi" ? 1 : 5;
  return simple(size, inputs, (input, random) => {
    const window = useWindow.toss(random) || spec.oracle === "piecewise";
    const up = new Coin((1n << 63n) + step * (input - GRID_HALF)).toss(random);
    const out = outside.toss(random);
    const within = input + uniformBelow(width, random);
    const rest = uniformBelow(2n * GRID_HALF, random);
    const cell = out ? rest + (rest >= input ? width : 0n) : within;
    const report = new Uint8Array(size);
    if (size === 1) {
      report[0] = up ? 1 : 0;
    } else {
      report[0] = window ? 1 : 0;
      put(report, 1, window ? cell : up ? 1n : 0n, 4);
    }
    return report;
  });
}

/** Several attributes: the number of the one drawn (2 bytes) and its report, or all reports end to end. */
function record(spec: Spec): Oracle {
  const oracles = spec.attributes.map(makeOracle);
  const sizes = oracles.map((oracle) => oracle.reportBytes);
  const sample = spec.oracle === "sample";
  const size = sample ? 2 + Math.max(...sizes) : sizes.reduce((sum, bytes) => sum + bytes, 0);
  const inputs = spec.attributes.reduce((product, attribute) => product * BigInt(attribute.values), 1n);
  return simple(size, inputs, (input, random) => {
    const values = spec.attributes.map((attribute) => {
      const value = input % BigInt(attribute.values);
      input /= BigInt(attribute.values);
      return value;
    });
    const report = new Uint8Array(size);
    if (sample) {
      const drawn = Number(uniformBelow(BigInt(oracles.length), random));
      put(report, 0, BigInt(drawn), 2);
      report.set(oracles[drawn]!.randomize(values[drawn]!, random), 2);
      return report;
    }
    let at = 0;
    oracles.forEach((oracle, i) => {
      report.set(oracle.randomize(values[i]!, random), at);
      at += oracle.reportBytes;
    });
    return report;
  });
}

export function makeOracle(spec: Spec): Oracle {
  if (isRecord(spec)) return record(spec);
  const epsilon = fraction(spec.epsilon);
  if (isMean(spec)) return mean(spec, epsilon);
  const half = times(epsilon, 1n, 2n);
  switch (spec.oracle) {
    case "grr":
      return randomizedResponse(spec, epsilon);
    case "sue": {
      const flip = Coin.atLeast(logistic(half));
      return unary(spec, flip.opposite(), flip);
    }
    case "oue":
      return unary(spec, Coin.fair, Coin.atLeast(logistic(epsilon)));
    case "the": {
      const t = fraction(spec.threshold);
      const rest = { num: t.den - t.num, den: t.den };
      const missed = Coin.halfAtLeast(expMinus(product(half, rest)));
      return unary(spec, missed.opposite(), Coin.halfAtLeast(expMinus(product(half, t))));
    }
    case "she":
      return summedHistogram(spec, epsilon);
    case "blh":
    case "olh":
      return localHash(spec, epsilon);
    case "hr":
      return hadamard(spec, epsilon);
    case "ss":
      return subset(spec, epsilon);
    case "cms":
      return countMeanSketch(spec, epsilon);
    case "hcms":
      return hadamardSketch(spec, epsilon);
    case "rappor":
      return rappor(spec, epsilon);
    default:
      throw new RangeError(`no randomiser for '${spec.oracle}'`);
  }
}
