// Decides how an answer is best drawn, from its columns alone.
import type { Answer, Cell } from "../api/types";

export interface Measure {
  column: number;
  name: string;
}

export interface Point {
  label: string;
  /** Position on a numeric or time axis; null where the key is a name. */
  at: number | null;
  value: number;
  error: number | null;
}

export type Shape =
  | { kind: "numbers"; measures: Measure[] }
  | { kind: "bars" | "line"; keys: number[]; measures: Measure[]; time: boolean }
  | { kind: "table" };

const tallest = 60;

/** What was released, and the columns it was grouped by (GROUPING's own columns are neither). */
export function partsOf(answer: Answer): { keys: number[]; measures: Measure[] } {
  const measures = answer.columns
    .map((column, index) => ({ column: index, name: column.name }))
    .filter(({ column }) => isMeasure(answer, column));
  const keys = answer.columns.map((_, index) => index)
    .filter((index) => !measures.some((m) => m.column === index) && !/^grouping/i.test(answer.columns[index]!.name));
  return { keys, measures };
}

export function shapeOf(answer: Answer): Shape {
  const { keys, measures } = partsOf(answer);
  if (measures.length === 0 || answer.rows.length === 0) return { kind: "table" };
  if (answer.rows.length === 1 && keys.length === 0) return { kind: "numbers", measures };
  if (keys.length === 0) return { kind: "table" };
  if (keys.length === 1) {
    const cells = answer.rows.map((row) => row[keys[0]!] ?? null);
    const time = cells.every((cell) => cell === null || isDate(cell));
    const ordered = time || cells.every((cell) => cell === null || typeof cell === "number");
    if (ordered && answer.rows.length > 2) return { kind: "line", keys, measures, time };
  }
  return answer.rows.length <= tallest ? { kind: "bars", keys, measures, time: false } : { kind: "table" };
}

/** A measure is a number that was released with noise; in an exact answer, any number after the first column. */
function isMeasure(answer: Answer, column: number): boolean {
  const cells = answer.rows.map((row) => row[column] ?? null);
  if (!cells.every((cell) => cell === null || typeof cell === "number") || cells.every((cell) => cell === null)) return false;
  if (errorAt(answer, 0, column) !== null || answer.rows.some((_, row) => errorAt(answer, row, column) !== null)) return true;
  return !answer.columns.some((_, index) => hasError(answer, index)) && column > 0;
}

function hasError(answer: Answer, column: number): boolean {
  return answer.rows.some((_, row) => errorAt(answer, row, column) !== null);
}

/** The 95 % error of one cell: its own where the server gives one, else its column's. */
export function errorAt(answer: Answer, row: number, column: number): number | null {
  const own = answer.errors?.[row]?.[column];
  if (typeof own === "number" && Number.isFinite(own)) return own;
  const whole = answer.columns[column]?.error95;
  return typeof whole === "number" && Number.isFinite(whole) ? whole : null;
}

function isDate(cell: Cell): boolean {
  return typeof cell === "string" && /^\d{4}-\d{2}-\d{2}/.test(cell) && !Number.isNaN(Date.parse(cell));
}

export function pointsOf(answer: Answer, keys: number[], measure: number): Point[] {
  const points: Point[] = [];
  answer.rows.forEach((row, index) => {
    const value = row[measure];
    if (typeof value !== "number") return;
    const cells = keys.map((key) => row[key] ?? null);
    const label = cells.map((cell) => (cell === null ? "null" : String(cell))).join(" · ");
    const first = cells[0] ?? null;
    const at = typeof first === "number" ? first : isDate(first) ? Date.parse(String(first)) : null;
    points.push({ label, at, value, error: errorAt(answer, index, measure) });
  });
  return points;
}

/** The span of values with their errors; with zero in view unless a closer look is asked for. */
export function extentOf(points: Point[], withZero = true): [number, number] {
  let [low, high] = withZero ? [0, 0] : [Infinity, -Infinity];
  for (const { value, error } of points) {
    low = Math.min(low, value - (error ?? 0));
    high = Math.max(high, value + (error ?? 0));
  }
  return high > low ? [low, high] : Number.isFinite(low) ? [low, low + 1] : [0, 1];
}

/** Error bars thinner than this share of an axis from zero are not seen: a closer look is better where it is much closer. */
const visibleShare = 0.015;

export function errorsVanish(points: Point[]): boolean {
  const [low, high] = extentOf(points);
  const [closeLow, closeHigh] = extentOf(points, false);
  const widest = Math.max(0, ...points.map((point) => 2 * (point.error ?? 0)));
  return widest > 0 && widest < visibleShare * (high - low) && closeHigh - closeLow < (high - low) / 2;
}
