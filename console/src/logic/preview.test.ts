import { describe, expect, it } from "vitest";
import type { Column } from "../api/types";
import { previewRows } from "./preview";

const columns: Column[] = [
  { name: "age", type: "BIGINT", range: [0, 105], values: null },
  { name: "sex", type: "VARCHAR", range: null, values: ["female", "male"] },
  { name: "born", type: "DATE", range: ["1915-01-01", "2025-12-31"], values: null },
  { name: "id", type: "BIGINT", range: null, values: null },
  { name: "zip", type: "VARCHAR", range: null, values: null },
  { name: "ok", type: "BOOLEAN", range: null, values: null },
];

describe("preview rows", () => {
  const rows = previewRows("people", columns, 200);
  it("stay within what is declared", () => {
    for (const [age, sex, born] of rows) {
      expect(Number.isInteger(age)).toBe(true);
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThanOrEqual(105);
      expect(["female", "male"]).toContain(sex);
      expect(String(born) >= "1915-01-01" && String(born) <= "2025-12-31").toBe(true);
    }
  });
  it("are plainly made up where nothing is declared", () => {
    expect(rows[0]?.[3]).toBe(900_001);
    expect(rows[1]?.[4]).toBe("example 2");
    expect(typeof rows[0]?.[5]).toBe("boolean");
  });
  it("are the same each time a table is shown", () => expect(previewRows("people", columns, 200)).toEqual(rows));
});
