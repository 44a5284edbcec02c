// Rows that show what a table looks like. They are made up here from the declared types, ranges and values;
// nothing about them comes from the data.
import type { Cell, Column } from "../api/types";
import { seededUniform } from "../lab/random";

const day = 86_400_000;

export function previewRows(table: string, columns: Column[], count: number): Cell[][] {
  const uniform = seededUniform(hash(table));
  return Array.from({ length: count }, (_, row) => columns.map((column) => madeUp(column, row, uniform)));
}

function madeUp(column: Column, row: number, uniform: () => number): Cell {
  if (column.values && column.values.length > 0)
    return column.values[Math.floor(uniform() * column.values.length)] ?? null;
  const type = column.type.toLowerCase();
  if (column.range) {
    const [low, high] = column.range;
    if (typeof low === "string" || typeof high === "string") return dateBetween(String(low), String(high), uniform());
    const value = low + uniform() * (high - low);
    return isWhole(type) || (Number.isInteger(low) && Number.isInteger(high) && !isReal(type)) ? Math.floor(value) : Number(value.toFixed(2));
  }
  if (type.includes("bool")) return uniform() < 0.5;
  if (type.includes("date") || type.includes("time")) return dateBetween("2000-01-01", "2001-01-01", uniform());
  if (isWhole(type)) return 900_001 + row;
  if (isReal(type)) return Number((uniform() * 100).toFixed(2));
  return `example ${row + 1}`;
}

function isWhole(type: string): boolean {
  return /int|serial/.test(type);
}

function isReal(type: string): boolean {
  return /double|real|float|decimal|numeric/.test(type);
}

function dateBetween(low: string, high: string, share: number): string {
  const [from, to] = [Date.parse(low), Date.parse(high)];
  if (Number.isNaN(from) || Number.isNaN(to)) return low;
  return new Date(from + Math.floor(((to - from) / day) * share) * day).toISOString().slice(0, 10);
}

function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0)!, 16777619);
  return value >>> 0;
}
