// The TypeScript client gives the reports that the C++ client gives from the same random words.
import assert from "node:assert/strict";
import { createCipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BudgetExhausted, Client, ReportBudget, SecureRandom, parseHeader, reportLine } from "../dist/index.js";

/** The tests' seeded stream: ChaCha20 keyed by the seed. It lives here, never in the package. */
class SeededRandom {
  constructor(seed) {
    const key = Buffer.alloc(32);
    key.write("discreet tests: not private", "latin1");
    key.writeBigUInt64LE(BigInt(seed), 24);
    this.cipher = createCipheriv("chacha20", key, Buffer.alloc(16));
    this.buffer = Buffer.alloc(0);
    this.at = 0;
  }
  word() {
    if (this.at === this.buffer.length) {
      this.buffer = this.cipher.update(Buffer.alloc(8192));
      this.at = 0;
    }
    this.at += 8;
    return this.buffer.readBigUInt64LE(this.at - 8);
  }
}

const vectors = JSON.parse(readFileSync(new URL("./vectors.json", import.meta.url), "utf8"));
const bytes = (line) => Uint8Array.from(Buffer.from(JSON.parse(line), "hex"));

test("there are vectors for every oracle", () => {
  const oracles = new Set(vectors.map((v) => parseHeader(v.header).oracle));
  assert.equal(oracles.size, 18); // sixteen of one value, and records by sample and split
});

for (const vector of vectors) {
  const { oracle, epsilon, values } = parseHeader(vector.header);
  test(`${oracle} at epsilon ${epsilon.toFixed(3)} over ${values || "open text or a range"} gives the same reports`, () => {
    const client = new Client(vector.header, new ReportBudget(1e6), new SeededRandom(vector.seed));
    for (const { value, report } of vector.reports) assert.equal(reportLine(client.report(value)), report);
    const secret = bytes(vector.secret);
    for (const { value, report } of vector.lasting)
      assert.equal(reportLine(client.reportLasting(value, secret)), report);
  });
}

test("a client refuses to over-report, across restarts", () => {
  const kept = new Map();
  const storage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => void kept.set(k, v) };
  const header = vectors.find((v) => parseHeader(v.header).oracle === "grr").header;
  const epsilon = parseHeader(header).epsilon;
  const first = new Client(header, new ReportBudget(2.5 * epsilon, storage));
  first.report(1);
  first.report(2);
  assert.throws(() => first.report(3), BudgetExhausted);
  const second = new Client(header, new ReportBudget(2.5 * epsilon, storage));
  assert.throws(() => second.report(3), BudgetExhausted);
  assert.throws(() => new ReportBudget(9, storage), /made for a total/);
});

test("lasting reports are paid for once and repeat themselves", () => {
  const header = vectors.find((v) => parseHeader(v.header).oracle === "oue").header;
  const budget = new ReportBudget(1);
  const client = new Client(header, budget);
  const secret = new Uint8Array(32).fill(5);
  const report = reportLine(client.reportLasting(3, secret));
  for (let day = 0; day < 5; ++day) assert.equal(reportLine(client.reportLasting(3, secret)), report);
  assert.equal(budget.spent, parseHeader(header).epsilon);
});

test("values and headers that are none of the collection's are refused before anything is spent", () => {
  const budget = new ReportBudget(10);
  const client = new Client(vectors[0].header, budget);
  assert.throws(() => client.report(7), RangeError);
  for (const wrong of ["tea", "", " ", "1e0", "0x1", "-0"]) assert.throws(() => client.report(wrong), RangeError);
  assert.equal(budget.spent, 0);
  assert.throws(() => parseHeader("{}"), /discreet_local/);
  assert.throws(() => parseHeader('{"discreet_local":1,"oracle":"grr","epsilon":1,"values":4,"x":1}'), /unknown field/);
  assert.throws(() => parseHeader('{"discreet_local":1,"oracle":"grr","epsilon":0,"values":4}'), /epsilon/);
});

test("a record is a line, a list or an object, and cannot take more than epsilon", () => {
  const header = vectors.find((v) => parseHeader(v.header).oracle === "split").header;
  const seeded = () => new Client(header, new ReportBudget(1), new SeededRandom(7));
  const report = reportLine(seeded().report("tea,3,299"));
  assert.equal(reportLine(seeded().report(["tea", 3, 299])), report);
  assert.equal(reportLine(seeded().report({ town: 299, drink: "tea", age: 3 })), report);
  const budget = new ReportBudget(1);
  const client = new Client(header, budget);
  for (const wrong of ["tea,3", "tea,3,300", "milk,3,2", "tea,,2", ["tea", 3], { drink: "tea", age: 3, size: 2 }, {}])
    assert.throws(() => client.report(wrong), RangeError);
  assert.equal(budget.spent, 0);
  assert.equal(parseHeader(header).values, 312);
  const json = JSON.parse(header);
  json.attributes[0].epsilon = json.epsilon;
  assert.throws(() => parseHeader(JSON.stringify(json)), /more than epsilon/);
  const single = vectors[0].header;
  assert.throws(() => new Client(single, new ReportBudget(1)).report(["1"]), /not for a record/);
});

test("the platform's generator is not a constant", () => {
  const random = new SecureRandom();
  assert.equal(new Set(Array.from({ length: 1000 }, () => random.word())).size, 1000);
});
