import { describe, expect, it } from "vitest";
import type { Table } from "../api/types";
import { placeTables, protectionOf } from "./protection";

const table = (name: string, link: string | null, isPublic = false): Table => ({
  name, public: isPublic, unit: isPublic ? null : "person_id", link, max_rows_per_unit: isPublic ? null : 12, columns: [],
});

describe("protection", () => {
  it("says who is protected and how many rows count", () => {
    expect(protectionOf(table("visits", null))).toContain("one person_id");
    expect(protectionOf(table("visits", null))).toContain("At most 12 rows");
    expect(protectionOf(table("wards", null, true))).toContain("Public");
    expect(protectionOf({ ...table("twin", null, true), synthetic: true })).toContain("Synthetic");
    expect(protectionOf({ ...table("calls", null), unit: "row" })).toContain("Each row is protected");
  });
  it("places tables by their distance from the people", () => {
    const placed = placeTables([table("people", null), table("patients", "people.person_id"), table("visits", "patients.patient_id"), table("wards", null, true)]);
    expect(placed.map(({ name, depth, parent }) => [name, depth, parent])).toEqual([
      ["people", 0, null], ["patients", 1, "people"], ["visits", 2, "patients"], ["wards", 0, null],
    ]);
  });
  it("ends on a ring of links and on a link to a hidden table", () => {
    const ring = placeTables([table("a", "b.x"), table("b", "a.x"), table("c", "hidden.x")]);
    expect(ring.map(({ depth }) => depth)).toEqual([1, 1, 0]);
  });
});
