// What a collection asks of its clients: the header line of docs/formats/local.md.
import { textKey } from "./hash.js";

export type OracleName =
  | "grr" | "sue" | "oue" | "the" | "she" | "blh" | "olh" | "hr" | "ss" | "cms" | "hcms" | "rappor"
  | "duchi" | "piecewise" | "hybrid" | "laplace";

export interface Spec {
  oracle: OracleName;
  /** Privacy loss of one report. */
  epsilon: number;
  /** How many values there are; 0 for open text and means. */
  values: number;
  labels: string[];
  name: string;
  cells: number;
  subset: number;
  threshold: number;
  hashes: number;
  width: number;
  cohorts: number;
  hashSeed: bigint;
  permanentEpsilon: number;
  range: [number, number];
  /** The header as it was read: lasting reports are bound to it. */
  line: string;
}

const MEANS: OracleName[] = ["duchi", "piecewise", "hybrid", "laplace"];
const OPEN: OracleName[] = ["cms", "hcms", "rappor"];
const COUNTS: OracleName[] = ["grr", "sue", "oue", "the", "she", "blh", "olh", "hr", "ss"];
const FIELDS = [
  "discreet_local", "name", "oracle", "epsilon", "values", "labels", "cells", "subset", "threshold", "hashes",
  "width", "cohorts", "hash_seed", "permanent_epsilon", "range", "report_bytes",
];
const GRID_HALF = 1 << 20;

export function isMean(spec: Spec): boolean {
  return MEANS.includes(spec.oracle);
}

/** Reads a header line; throws a RangeError that says what is wrong. */
export function parseHeader(line: string): Spec {
  const fail = (why: string): never => {
    throw new RangeError(`header of the collection: ${why}`);
  };
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(line) as Record<string, unknown>;
  } catch {
    fail("it is not JSON");
  }
  if (json === null || typeof json !== "object" || json["discreet_local"] !== 1) fail('it lacks "discreet_local": 1');
  for (const field of Object.keys(json)) if (!FIELDS.includes(field)) fail(`unknown field '${field}'`);
  const number = (field: string, otherwise: number): number => {
    const value = json[field] ?? otherwise;
    return typeof value === "number" && Number.isFinite(value) ? value : fail(`'${field}' is not a number`);
  };
  const whole = (field: string, least: number, most: number, otherwise: number): number => {
    const value = number(field, otherwise);
    return Number.isInteger(value) && ((value >= least && value <= most) || !(field in json))
      ? value : fail(`'${field}' must be a whole number from ${least} to ${most}`);
  };
  const oracle = json["oracle"] as OracleName;
  if (![...COUNTS, ...OPEN, ...MEANS].includes(oracle)) fail(`there is no oracle '${String(oracle)}'`);
  const range = (json["range"] ?? [-1, 1]) as [number, number];
  // A seed above 2^53 would lose digits as a number; take it from the text.
  const seed = /"hash_seed"\s*:\s*(\d+)/.exec(line);
  const spec: Spec = {
    oracle,
    epsilon: number("epsilon", NaN),
    values: whole("values", 2, 2 ** 24, 0),
    labels: (json["labels"] ?? []) as string[],
    name: String(json["name"] ?? ""),
    cells: whole("cells", 2, 2 ** 30, oracle === "blh" ? 2 : 0),
    subset: whole("subset", 1, 2 ** 24, 0),
    threshold: number("threshold", 0),
    hashes: whole("hashes", 1, 65536, 0),
    width: whole("width", 2, 65536, 0),
    cohorts: whole("cohorts", 1, 1024, 0),
    hashSeed: BigInt(seed?.[1] ?? 0),
    permanentEpsilon: number("permanent_epsilon", 0),
    range,
    line: line.trim(),
  };
  if (!(spec.epsilon >= 2 ** -20 && spec.epsilon <= 20)) fail("epsilon must be between 2^-20 and 20");
  if (spec.labels.length > 0 && spec.labels.length !== spec.values) fail("labels and values do not agree");
  if (COUNTS.includes(oracle) && spec.values < 2) fail("'values' is missing");
  if (isMean(spec) && !(spec.range[0] < spec.range[1])) fail("the range is empty");
  if ((oracle === "olh" || oracle === "blh") && spec.cells < 2) fail("'cells' is missing");
  if (oracle === "ss" && !(spec.subset >= 1 && spec.subset < spec.values)) fail("'subset' must be below 'values'");
  if (oracle === "the" && !(spec.threshold > 0.5 && spec.threshold < 1)) fail("'threshold' must be in (0.5, 1)");
  if (OPEN.includes(oracle) && (spec.hashes < 1 || spec.width < 2)) fail("'hashes' and 'width' are missing");
  if (oracle === "hcms" && (spec.width & (spec.width - 1)) !== 0) fail("'width' must be a power of two");
  if (oracle === "rappor" && spec.cohorts < 1) fail("'cohorts' is missing");
  if (spec.permanentEpsilon !== 0 && !(spec.permanentEpsilon > spec.epsilon && spec.permanentEpsilon <= 20))
    fail("the permanent epsilon must be above that of one report");
  return spec;
}

/** What a person's value is as the input of a report; throws when it is none of the collection's. */
export function inputOf(spec: Spec, value: string | number): bigint {
  if (isMean(spec)) {
    const given = typeof value === "number" ? value : Number(value);
    if (!Number.isFinite(given)) throw new RangeError("the value is not a number");
    const [low, high] = spec.range;
    const share = (Math.min(Math.max(given, low), high) - low) / (high - low);
    return BigInt(Math.round(share * 2 * GRID_HALF));
  }
  if (spec.values === 0) return textKey(String(value));
  if (spec.labels.length > 0) {
    const index = spec.labels.indexOf(String(value));
    if (index < 0) throw new RangeError("the value is not among the labels of the collection");
    return BigInt(index);
  }
  const index = Number(value);
  if (!Number.isInteger(index) || index < 0 || index >= spec.values)
    throw new RangeError(`the value is not a whole number from 0 to ${spec.values - 1}`);
  return BigInt(index);
}
