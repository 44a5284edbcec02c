import { describe, expect, it } from "vitest";
import type { Answer, Cell } from "../api/types";
import { errorAt, errorsVanish, extentOf, pointsOf, shapeOf } from "./result_shape";

function answer(columns: [string, number | null][], rows: Cell[][], errors: Answer["errors"] = null): Answer {
  return {
    columns: columns.map(([name, error95]) => ({ name, type: "", error95 })),
    rows, errors, cost: { epsilon: 1, delta: 0 }, remaining: { epsilon: 1, delta: 0 }, repeated: false, receipt: "", notices: [],
  };
}

describe("the shape of an answer", () => {
  it("draws named groups as bars", () => {
    const shape = shapeOf(answer([["ward", null], ["n", 5]], [["ER", 10], ["ICU", 4]]));
    expect(shape).toEqual({ kind: "bars", keys: [0], measures: [{ column: 1, name: "n" }], time: false });
  });
  it("shows a single row without a key as numbers", () =>
    expect(shapeOf(answer([["n", 5]], [[10]])).kind).toBe("numbers"));
  it("draws numbers and dates along a line", () => {
    expect(shapeOf(answer([["age", null], ["n", 5]], [[0, 3], [10, 4], [20, 6]])).kind).toBe("line");
    const byDay = shapeOf(answer([["day", null], ["n", 5]], [["2025-11-03", 3], ["2025-11-04", 4], ["2025-11-05", 6]]));
    expect(byDay).toMatchObject({ kind: "line", time: true });
  });
  it("takes a noisy number for a measure and an exact one for a key", () => {
    const shape = shapeOf(answer([["beds", null], ["n", 5]], [[3, 3], [4, 4]]));
    expect(shape).toMatchObject({ kind: "bars", keys: [0] });
  });
  it("leaves long or empty answers to the table", () => {
    expect(shapeOf(answer([["n", 5]], [])).kind).toBe("table");
    const many = Array.from({ length: 200 }, (_, i) => [`zip ${i}`, i]);
    expect(shapeOf(answer([["zip", null], ["n", 5]], many)).kind).toBe("table");
  });
  it("prefers a cell's own error to its column's", () => {
    const mixed = answer([["ward", null], ["n", 5]], [["ER", 10], ["ICU", 4]], [[null, 2], [null, null]]);
    expect(errorAt(mixed, 0, 1)).toBe(2);
    expect(errorAt(mixed, 1, 1)).toBe(5);
    expect(errorAt(mixed, 0, 0)).toBeNull();
  });
  it("leaves out groups that have no value, and keeps zero and the whiskers in view", () => {
    const points = pointsOf(answer([["ward", null], ["n", 5]], [["ER", 10], ["ICU", null]]), [0], 1);
    expect(points).toEqual([{ label: "ER", at: null, value: 10, error: 5 }]);
    expect(extentOf(points)).toEqual([0, 15]);
    expect(extentOf(points, false)).toEqual([5, 15]);
  });
  it("asks for a closer look when error bars would be too thin to see", () => {
    const point = { label: "", at: null, value: 10_000 };
    expect(errorsVanish([{ ...point, error: 11 }])).toBe(true);
    expect(errorsVanish([{ ...point, error: 900 }])).toBe(false);
    expect(errorsVanish([{ ...point, error: null }])).toBe(false);
    expect(errorsVanish([{ ...point, error: 11 }, { ...point, value: 20, error: 11 }])).toBe(false);  // no closer with both in view
  });
});
