// A client of a collection: text in, report out, within what its person agreed to give.
import { makeOracle, type Oracle } from "./oracles.js";
import { SecureRandom, type RandomSource } from "./random.js";
import { hmacSha256 } from "./sha256.js";
import { inputOf, parseHeader, type Spec, type Value } from "./spec.js";

/** Where a budget is kept; `localStorage` fits. */
export interface BudgetStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export class BudgetExhausted extends Error {}

/** a + b, rounded up, so that a sum of losses never understates. */
function addUp(a: number, b: number): number {
  const sum = a + b;
  const part = sum - a;
  const lost = a - (sum - part) + (b - part);
  return lost > 0 ? sum * (1 + 2 ** -52) : sum;
}

/** What a client's reports may cost their person together. It is stored before a report is handed out. */
export class ReportBudget {
  private spentSoFar = 0;
  private readonly paid = new Set<string>();

  constructor(readonly total: number, private readonly storage?: BudgetStorage, private readonly key = "discreet-budget") {
    if (!(total >= 0 && Number.isFinite(total))) throw new RangeError("a budget is a finite number, not negative");
    const text = storage?.getItem(key);
    if (text === null || text === undefined) return;
    const stored = JSON.parse(text) as { total: number; spent: number; paid: string[] };
    if (stored.total !== total) throw new RangeError(`this budget was made for a total of ${stored.total}`);
    this.spentSoFar = stored.spent;
    for (const tag of stored.paid) this.paid.add(tag);
  }

  get spent(): number {
    return this.spentSoFar;
  }

  spend(epsilon: number): void {
    this.record(epsilon);
  }

  /** Pays once for a tag; later calls with the same one are free. */
  spendOnce(tag: string, epsilon: number): void {
    if (!this.paid.has(tag)) this.record(epsilon, tag);
  }

  private record(epsilon: number, tag?: string): void {
    const after = addUp(this.spentSoFar, epsilon);
    if (!(after <= this.total))
      throw new BudgetExhausted(`this person has given epsilon ${this.spentSoFar} of ${this.total}; another report of ${epsilon} would be too much`);
    const paid = tag === undefined ? [...this.paid] : [...this.paid, tag];
    this.storage?.setItem(this.key, JSON.stringify({ total: this.total, spent: after, paid }));
    this.spentSoFar = after;
    if (tag !== undefined) this.paid.add(tag);
  }
}

/** The same words for the same secret and label, every time. */
class LastingRandom implements RandomSource {
  private block = 0n;
  private words: bigint[] = [];

  constructor(private readonly secret: Uint8Array, private readonly label: Uint8Array) {}

  word(): bigint {
    if (this.words.length === 0) {
      const view = new DataView(hmacSha256(this.secret, concat(this.label, littleEndian(this.block++))).buffer);
      this.words = [0, 8, 16, 24].map((at) => view.getBigUint64(at, true));
    }
    return this.words.shift()!;
  }
}

function concat(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function littleEndian(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** One line of a file or a batch: a JSON string of hexadecimal digits. */
export function reportLine(report: Uint8Array): string {
  return `"${hex(report)}"`;
}

export class Client {
  readonly spec: Spec;
  readonly oracle: Oracle;

  /** `header` is the collection's header line. */
  constructor(header: string, private readonly budget: ReportBudget, private readonly random: RandomSource = new SecureRandom()) {
    this.spec = parseHeader(header);
    this.oracle = makeOracle(this.spec);
  }

  /** One fresh report; it costs the collection's epsilon. Throws BudgetExhausted. */
  report(value: Value): Uint8Array {
    const input = inputOf(this.spec, value);
    this.budget.spend(this.spec.epsilon);
    return this.oracle.randomize(input, this.random);
  }

  /** A report that may be asked for again and again: pays once for each different value. */
  reportLasting(value: Value, secret: Uint8Array): Uint8Array {
    if (secret.length !== 32) throw new RangeError("a client's secret has 32 bytes");
    const input = inputOf(this.spec, value);
    const text = new TextEncoder();
    const ofValue = concat(text.encode(`${this.spec.line}\nv`), littleEndian(input));
    const tag = hex(hmacSha256(secret, concat(ofValue, text.encode("paid"))));
    this.budget.spendOnce(tag, this.spec.permanentEpsilon > 0 ? this.spec.permanentEpsilon : this.spec.epsilon);
    return this.oracle.randomizeLasting(input, {
      client: new LastingRandom(secret, text.encode(`${this.spec.line}\nc`)),
      value: new LastingRandom(secret, ofValue),
      fresh: this.random,
    });
  }
}
