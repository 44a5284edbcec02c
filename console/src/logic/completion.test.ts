import { describe, expect, it } from "vitest";
import type { Table } from "../api/types";
import { describeColumn, offersAt } from "./completion";

const table = (name: string, ...columns: string[]): Table => ({
  name, public: false, unit: "id", link: null, max_rows_per_unit: null,
  columns: columns.map((column) => ({ name: column, type: "BIGINT", range: [1, 60], values: null })),
});
const tables = [table("visits", "ward", "days"), table("people", "age", "zip")];
const labels = (sql: string, at = sql.length) => offersAt(sql, at, tables).offers.map((offer) => offer.label);

describe("completion", () => {
  it("offers tables, and columns of the tables that the statement names", () => {
    const offers = labels("select d from visits", 8);
    expect(offers).toContain("days");
    expect(offers).toContain("people");
    expect(offers).not.toContain("zip");
  });
  it("offers every column while no table is named", () => expect(labels("select z")).toContain("zip"));
  it("offers only a table's columns after its name or alias", () => {
    expect(labels("select visits.")).toEqual(["ward", "days"]);
    expect(labels("select p. from people as p", 9)).toEqual(["age", "zip"]);
    expect(labels("select p. from people p", 9)).toEqual(["age", "zip"]);
    expect(labels("select x.")).toEqual([]);
  });
  it("replaces the word under the cursor and nothing more", () => {
    expect(offersAt("select visits.da", 16, tables).from).toBe(14);
    expect(offersAt("select da", 9, tables).from).toBe(7);
  });
  it("says what is declared about a column", () => {
    expect(describeColumn({ name: "a", type: "VARCHAR", range: null, values: ["x", "y"] })).toBe("x, y");
    expect(describeColumn({ name: "a", type: "VARCHAR", range: null, values: ["1", "2", "3", "4"] })).toBe("4 values");
    expect(describeColumn({ name: "a", type: "VARCHAR", range: null, values: null })).toBe("varchar");
  });
});
