import { describe, expect, it } from "vitest";
import { completionSchema, describeColumn } from "./completion";

describe("completion", () => {
  it("offers tables and their columns, with what is declared", () => {
    const schema = completionSchema([{
      name: "visits", public: false, unit: "patient_id", link: null, max_rows_per_unit: 12,
      columns: [{ name: "days", type: "BIGINT", range: [1, 60], values: null }],
    }]);
    expect(schema["visits"]?.self).toEqual({ label: "visits", type: "class", detail: "private" });
    expect(schema["visits"]?.children).toEqual([{ label: "days", type: "property", detail: "1 to 60" }]);
  });
  it("counts long lists of values", () => {
    expect(describeColumn({ name: "a", type: "VARCHAR", range: null, values: ["x", "y"] })).toBe("x, y");
    expect(describeColumn({ name: "a", type: "VARCHAR", range: null, values: ["1", "2", "3", "4"] })).toBe("4 values");
    expect(describeColumn({ name: "a", type: "VARCHAR", range: null, values: null })).toBe("varchar");
  });
});
