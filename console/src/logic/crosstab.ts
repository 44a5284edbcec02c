// An answer with two keys or more as a table of tables: one key across, the others down, subtotals at the ends.
import type { Answer, Cell } from "../api/types";
import { errorAt } from "./result_shape";

/** One released number and where it stands: null where its key is rolled up. */
export interface Placed {
  keys: (string | null)[];
  value: number;
  error: number | null;
}

export interface Crosstab {
  /** Labels of each row's keys; null: all of them together. */
  rows: (string | null)[][];
  columns: (string | null)[];
  at: (row: number, column: number) => Placed | null;
}

/** Whether the statement asks for subtotals; a null key is then "all", else a value that is missing. */
export function hasSubtotals(sql: string): boolean {
  return /\bgroup\s+by\b[\s\S]*\b(cube|rollup|grouping\s+sets)\b/i.test(sql);
}

/** ROLLUP names its keys from the whole to its parts. */
export function isRolledUp(sql: string): boolean {
  return /\bgroup\s+by\b[\s\S]*\brollup\b/i.test(sql);
}

const columnsMost = 30;
const rowsMost = 200;
const separator = "\u0000";

export function placedCells(answer: Answer, keys: number[], measure: number, subtotals: boolean): Placed[] {
  return answer.rows.flatMap((row, index) => {
    const value = row[measure];
    if (typeof value !== "number") return [];
    const labels = keys.map((key) => labelOf(row[key] ?? null, subtotals));
    return [{ keys: labels, value, error: errorAt(answer, index, measure) }];
  });
}

function labelOf(cell: Cell, subtotals: boolean): string | null {
  if (cell === null) return subtotals ? null : "null";
  return String(cell);
}

/** Distinct labels of one key, sorted as people count; "all" comes last. */
export function labelsOf(cells: Placed[], key: number): (string | null)[] {
  return [...new Set(cells.map((cell) => cell.keys[key] ?? null))].sort(byLabel);
}

const collator = new Intl.Collator("en", { numeric: true });
function byLabel(a: string | null, b: string | null): number {
  return a === null ? (b === null ? 0 : 1) : b === null ? -1 : collator.compare(a, b);
}

/** The key with the fewest values is best across. */
export function bestAcross(cells: Placed[], keys: number): number {
  const sizes = Array.from({ length: keys }, (_, key) => labelsOf(cells, key).length);
  return sizes.lastIndexOf(Math.min(...sizes));
}

/** Nothing where two rows of the answer fall on one place, or it would be too large to read. */
export function crosstab(cells: Placed[], keys: number, across: number): Crosstab | null {
  const columns = labelsOf(cells, across);
  const down = Array.from({ length: keys }, (_, key) => key).filter((key) => key !== across);
  const places = new Map<string, Placed>();
  const tuples = new Map<string, (string | null)[]>();
  for (const cell of cells) {
    const tuple = down.map((key) => cell.keys[key] ?? null);
    tuples.set(placeOf(tuple), tuple);
    const place = placeOf([...tuple, cell.keys[across] ?? null]);
    if (places.has(place)) return null;
    places.set(place, cell);
  }
  const rows = [...tuples.values()].sort(byTuple);
  if (columns.length > columnsMost || rows.length > rowsMost) return null;
  return { rows, columns, at: (row, column) => places.get(placeOf([...rows[row]!, columns[column]!])) ?? null };
}

function placeOf(labels: (string | null)[]): string {
  return labels.map((label) => (label === null ? "\u0001" : `=${label}`)).join(separator);
}

function byTuple(a: (string | null)[], b: (string | null)[]): number {
  for (let i = 0; i < a.length; ++i) {
    const order = byLabel(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

/** Each value of a key stands under one value of the key before it: state, county, ... */
export function isHierarchy(cells: Placed[], keys: number): boolean {
  if (keys < 2) return false;
  for (let key = 1; key < keys; ++key) {
    const above = new Map<string, string>();
    for (const cell of cells) {
      const [own, parent] = [cell.keys[key], cell.keys[key - 1]];
      if (own === null || own === undefined || parent === null || parent === undefined) continue;
      if ((above.get(own) ?? parent) !== parent) return false;
      above.set(own, parent);
    }
  }
  return true;
}

export const errorGrades = ["firm", "fair", "weak", "lost"] as const;
export type ErrorGrade = (typeof errorGrades)[number];

/** How much of a number its error leaves: up to a tenth, a third, all of it, nothing. */
export function gradeOf(cell: Placed): ErrorGrade {
  if (cell.error === null || cell.error === 0) return "firm";
  const share = cell.value === 0 ? Infinity : cell.error / Math.abs(cell.value);
  return share <= 0.1 ? "firm" : share <= 0.33 ? "fair" : share < 1 ? "weak" : "lost";
}

export interface Tree {
  label: string;
  value: number;
  /** The number released for this place itself; null where only its parts were. */
  cell: Placed | null;
  parts: Tree[];
}

/** The cells as a tree along the keys. A place's size is its own number, or the sum of its parts where it has none. */
export function treeOf(cells: Placed[], keys: number): Tree {
  const root: Tree = { label: "all", value: 0, cell: null, parts: [] };
  for (const cell of cells) {
    let at = root;
    let depth = 0;
    for (; depth < keys && cell.keys[depth] !== null; ++depth) {
      const label = cell.keys[depth]!;
      let next = at.parts.find((part) => part.label === label);
      if (!next) at.parts.push((next = { label, value: 0, cell: null, parts: [] }));
      at = next;
    }
    // A subtotal over an inner key alone (CUBE) has no place in the tree.
    if (cell.keys.slice(depth).every((key) => key === null)) at.cell = cell;
  }
  const size = (tree: Tree): number => {
    const parts = tree.parts.map(size).reduce((sum, part) => sum + part, 0);
    tree.value = Math.max(0, tree.parts.length > 0 ? parts : (tree.cell?.value ?? 0));
    tree.parts.sort((a, b) => b.value - a.value);
    return tree.value;
  };
  size(root);
  return root;
}
