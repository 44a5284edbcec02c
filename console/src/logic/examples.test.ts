import { describe, expect, it } from "vitest";
import type { Table } from "../api/types";
import { exampleQuestions, id } from "./examples";

const visits: Table = {
  name: "visits", public: false, unit: "patient_id", link: null, max_rows_per_unit: 12,
  columns: [
    { name: "ward", type: "VARCHAR", range: null, values: ["ER", "ICU"] },
    { name: "cost", type: "BIGINT", range: [0, 250000], values: null },
  ],
};

describe("example questions", () => {
  it("are made from columns that can be grouped and averaged", () => {
    const [first] = exampleQuestions([visits]);
    expect(first?.sql).toBe("select ward, count(*) as visits, avg(cost) as cost\nfrom visits\ngroup by ward");
  });
  it("leave public tables alone, because those cost nothing to read", () => {
    expect(exampleQuestions([{ ...visits, public: true }])).toEqual([]);
  });
  it("quote names that SQL would fold", () => {
    expect(id("Ward")).toBe('"Ward"');
    expect(id('a"b')).toBe('"a""b"');
    expect(id("ward_2")).toBe("ward_2");
  });
});
