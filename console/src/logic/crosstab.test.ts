import { describe, expect, it } from "vitest";
import type { Answer } from "../api/types";
import { bestAcross, crosstab, gradeOf, hasSubtotals, isHierarchy, placedCells, treeOf } from "./crosstab";
import { treemap } from "./treemap";

function answer(rows: (string | number | null)[][], names = ["state", "sex", "n"]): Answer {
  return {
    columns: names.map((name) => ({ name, type: "text", error95: name === "n" ? 5 : null })),
    rows, errors: null, cost: { epsilon: 1, delta: 0 }, remaining: { epsilon: 1, delta: 0 }, repeated: false, receipt: "", notices: [],
  };
}

const cube = answer([["b", "f", 20], ["a", "f", 40], ["a", "m", 3], ["b", "m", 60], ["a", null, 43], ["b", null, 80], [null, "f", 60], [null, "m", 63], [null, null, 123]]);

describe("a table of an answer with several keys", () => {
  it("has one key across and the other down, with subtotals at the ends", () => {
    const cells = placedCells(cube, [0, 1], 2, true);
    const table = crosstab(cells, 2, 1)!;
    expect(table.columns).toEqual(["f", "m", null]);
    expect(table.rows).toEqual([["a"], ["b"], [null]]);
    expect(table.at(0, 0)?.value).toBe(40);
    expect(table.at(2, 2)?.value).toBe(123);
  });
  it("takes a null key for a missing value where no subtotals were asked for", () => {
    const cells = placedCells(answer([["a", null, 1], ["a", "f", 2]]), [0, 1], 2, false);
    expect(crosstab(cells, 2, 1)!.columns).toEqual(["f", "null"]);
  });
  it("is not drawn where two rows fall on one place", () => {
    expect(crosstab(placedCells(answer([["a", "f", 1], ["a", "f", 2]]), [0, 1], 2, false), 2, 1)).toBeNull();
  });
  it("puts the key with the fewest values across, and leaves a hole where the answer has none", () => {
    const cells = placedCells(answer([["a", "f", 1], ["b", "m", 2], ["c", "f", 3]]), [0, 1], 2, false);
    expect(bestAcross(cells, 2)).toBe(1);
    expect(crosstab(cells, 2, 1)!.at(0, 1)).toBeNull();
  });
  it("knows a hierarchy by its values, and builds its tree", () => {
    const places = answer([["a", "a1", 4], ["a", "a2", 6], ["b", "b1", 5], ["a", null, 11], ["b", null, 5], [null, null, 16]]);
    const cells = placedCells(places, [0, 1], 2, true);
    expect(isHierarchy(cells, 2)).toBe(true);
    expect(isHierarchy(placedCells(cube, [0, 1], 2, true), 2)).toBe(false);
    const tree = treeOf(cells, 2);
    expect(tree.parts.map((part) => [part.label, part.cell?.value, part.parts.map((leaf) => leaf.label)])).toEqual([["a", 11, ["a2", "a1"]], ["b", 5, ["b1"]]]);
  });
  it("grades a number by how much of it its error leaves", () => {
    const grade = (value: number, error: number | null) => gradeOf({ keys: [], value, error });
    expect([grade(100, 10), grade(100, 30), grade(100, 99), grade(100, 100), grade(0, 1), grade(5, null)]).toEqual(["firm", "fair", "weak", "lost", "lost", "firm"]);
  });
  it("sees subtotals in the statement", () => {
    expect(hasSubtotals("select a, count(*) from t GROUP BY ROLLUP (a)")).toBe(true);
    expect(hasSubtotals("select a, count(*) from t group by\n grouping  sets ((a), ())")).toBe(true);
    expect(hasSubtotals("select cube, count(*) from t group by color")).toBe(false);
  });
});

describe("tiles", () => {
  it("fill the area in proportion to their sizes and do not overlap", () => {
    const sizes = [60, 30, 25, 10, 5, 1, 0];
    const area = { x: 10, y: 20, width: 300, height: 200 };
    const tiles = treemap(sizes, area);
    tiles.forEach((tile, i) => {
      expect(tile.width * tile.height).toBeCloseTo((sizes[i]! / 131) * 300 * 200, 6);
      expect(tile.x + tile.width).toBeLessThanOrEqual(310.000001);
      expect(tile.y + tile.height).toBeLessThanOrEqual(220.000001);
    });
    for (let i = 0; i < tiles.length; ++i)
      for (let j = 0; j < i; ++j) {
        const [a, b] = [tiles[i]!, tiles[j]!];
        const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
        const high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
        expect(Math.max(0, wide) * Math.max(0, high)).toBeLessThan(1e-6);
      }
  });
  it("are nothing where there is nothing to draw", () => expect(treemap([0, 0], { x: 0, y: 0, width: 9, height: 9 }).every((tile) => tile.width === 0)).toBe(true));
});
