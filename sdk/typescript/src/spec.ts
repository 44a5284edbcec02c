// What a collection asks of its clients: the header line of docs/formats/local.md.
import { fraction, type Fraction } from "./coin.js";
import { textKey } from "./hash.js";

export type OracleName =
  | "grr" | "sue" | "oue" | "the" | "she" | "blh" | "olh" | "hr" | "ss" | "cms" | "hcms" | "rappor"
  | "duchi" | "piecewise" | "hybrid" | "laplace" | "sample" | "split";

/** A person's value; of a record, the values of all attributes: in order, or by name. */
export type Value = string | number | readonly (string | number)[] | { readonly [attribute: string]: string | number };

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
  /** Of a record (`sample`, `split`); each has its name and its own epsilon. */
  attributes: Spec[];
  /** The header as it was read: lasting reports are bound to it. */
  line: string;
}

const MEANS: OracleName[] = ["duchi", "piecewise", "hybrid", "laplace"];
const OPEN: OracleName[] = ["cms", "hcms", "rappor"];
const COUNTS: OracleName[] = ["grr", "sue", "oue", "the", "she", "blh", "olh", "hr", "ss"];
const FIELDS = [
  "discreet_local", "name", "oracle", "epsilon", "values", "labels", "cells", "subset", "threshold", "hashes",
  "width", "cohorts", "hash_seed", "permanent_epsilon", "range", "report_bytes", "attributes",
];
const RECORDS: OracleName[] = ["sample", "split"];
const GRID_HALF = 1 << 20;

export function isMean(spec: Spec): boolean {
  return MEANS.includes(spec.oracle);
}

export function isRecord(spec: Spec): boolean {
  return RECORDS.includes(spec.oracle);
}

type Json = Record<string, unknown>;

function fail(why: string): never {
  throw new RangeError(`header of the collection: ${why}`);
}

/** Reads a header line; throws a RangeError that says what is wrong. */
export function parseHeader(line: string): Spec {
  let json: Json = {};
  try {
    json = JSON.parse(line) as Json;
  } catch {
    fail("it is not JSON");
  }
  if (json === null || typeof json !== "object" || json["discreet_local"] !== 1) fail('it lacks "discreet_local": 1');
  // A seed above 2^53 would lose digits as a number; take it from the text.
  const seed = "attributes" in json ? null : /"hash_seed"\s*:\s*(\d+)/.exec(line);
  const spec = parseFields(json, BigInt(seed?.[1] ?? 0), line.trim());
  if (isRecord(spec)) readAttributes(json, spec);
  else if ("attributes" in json) fail("attributes are of 'sample' and 'split' only");
  return spec;
}

function parseFields(json: Json, hashSeed: bigint, line: string): Spec {
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
  if (![...COUNTS, ...OPEN, ...MEANS, ...RECORDS].includes(oracle)) fail(`there is no oracle '${String(oracle)}'`);
  const range = (json["range"] ?? [-1, 1]) as [number, number];
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
    hashSeed,
    permanentEpsilon: number("permanent_epsilon", 0),
    range,
    attributes: [],
    line,
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

/** No header can make a record cost more than its epsilon: what its attributes take is added up exactly. */
function readAttributes(json: Json, spec: Spec): void {
  const given = json["attributes"];
  if (!Array.isArray(given) || given.length < 1 || given.length > 1000) fail("a record has 1 to 1000 attributes");
  const names = new Set<string>();
  let taken: Fraction = { num: 0n, den: 1n };
  let combinations = 1n;
  for (const one of given as Json[]) {
    if (one === null || typeof one !== "object" || "attributes" in one) fail("an attribute is not an object of its own");
    const seed = one["hash_seed"] ?? 0;
    if (!Number.isSafeInteger(seed)) fail("an attribute's 'hash_seed' is not below 2^53");
    const attribute = parseFields(one, BigInt(seed as number), JSON.stringify(one));
    if (isRecord(attribute) || isMean(attribute) || attribute.values < 2) fail("attributes of a record have numbered values");
    if (attribute.name === "" || names.has(attribute.name)) fail("attributes have names, each its own");
    if ([attribute.name, ...attribute.labels].some((text) => text === "" || /[,=\r\n]/.test(text)))
      fail("names and labels of attributes are not empty and have no ',' and no '='");
    names.add(attribute.name);
    combinations *= BigInt(attribute.values);
    const own = fraction(attribute.epsilon);
    const sum = { num: taken.num * own.den + own.num * taken.den, den: taken.den * own.den };
    if (spec.oracle === "split" || own.num * taken.den > taken.num * own.den) taken = spec.oracle === "split" ? sum : own;
    spec.attributes.push(attribute);
  }
  const whole = fraction(spec.epsilon);
  if (taken.num * whole.den > whole.num * taken.den) fail("the attributes take more than epsilon");
  if (combinations > 1n << 62n) fail("a record has more than 2^62 combinations of values");
  spec.values = spec.attributes.reduce((rows, attribute) => rows + attribute.values, 0);
}

function recordInput(spec: Spec, value: Value): bigint {
  const count = spec.attributes.length;
  let values: readonly (string | number)[];
  if (typeof value === "string" || typeof value === "number") values = String(value).split(",");
  else if (Array.isArray(value)) values = value as readonly (string | number)[];
  else {
    const byName = value as { readonly [attribute: string]: string | number };
    values = spec.attributes.map((attribute) => {
      const own = byName[attribute.name];
      if (own === undefined) throw new RangeError(`the record lacks the attribute '${attribute.name}'`);
      return own;
    });
    if (Object.keys(byName).length !== count) throw new RangeError(`a record has ${count} attributes`);
  }
  if (values.length !== count) throw new RangeError(`a record has ${count} values`);
  let input = 0n;
  let weight = 1n;
  spec.attributes.forEach((attribute, i) => {
    input += weight * inputOf(attribute, values[i]!);
    weight *= BigInt(attribute.values);
  });
  return input;
}

/** What a person's value is as the input of a report; throws when it is none of the collection's. */
export function inputOf(spec: Spec, value: Value): bigint {
  if (isRecord(spec)) return recordInput(spec, value);
  if (typeof value === "object") throw new RangeError("this collection asks for one value, not for a record");
  if (isMean(spec)) {
    const given = typeof value === "number" ? value : value.trim() === "" ? NaN : Number(value);
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
  const index = typeof value === "number" ? value : /^\d+$/.test(value) ? Number(value) : NaN;
  if (!Number.isInteger(index) || index < 0 || index >= spec.values)
    throw new RangeError(`the value is not a whole number from 0 to ${spec.values - 1}`);
  return BigInt(index);
}
