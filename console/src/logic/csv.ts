// An answer as CSV: a NULL is an empty field, released columns are followed by their error.
import type { Answer, Cell } from "../api/types";
import { errorAt } from "./result_shape";

export function toCsv(answer: Answer): string {
  const noisy = answer.columns.map((_, column) => answer.rows.some((_, row) => errorAt(answer, row, column) !== null));
  const head = answer.columns.flatMap((column, i) => (noisy[i] ? [column.name, `${column.name}_error95`] : [column.name]));
  const lines = answer.rows.map((row, r) =>
    row.flatMap((cell, c) => (noisy[c] ? [field(cell), field(errorAt(answer, r, c))] : [field(cell)])).join(","));
  return `${[head.map(field).join(","), ...lines].join("\r\n")}\r\n`;
}

function field(cell: Cell): string {
  if (cell === null) return "";
  const text = Array.isArray(cell) ? JSON.stringify(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
