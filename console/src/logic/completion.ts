// What the editor offers while one types: tables and columns of the catalog, with what is declared about them.
import type { Column, Table } from "../api/types";

export interface CompletionItem {
  label: string;
  type: string;
  detail: string;
}

export interface TableCompletion {
  self: CompletionItem;
  children: CompletionItem[];
}

export function completionSchema(tables: Table[]): Record<string, TableCompletion> {
  return Object.fromEntries(tables.map((table) => [table.name, {
    self: { label: table.name, type: "class", detail: table.public ? "public" : "private" },
    children: table.columns.map((column) => ({ label: column.name, type: "property", detail: describeColumn(column) })),
  }]));
}

export function describeColumn(column: Column): string {
  if (column.values) return column.values.length <= 3 ? column.values.join(", ") : `${column.values.length} values`;
  if (column.range) return `${column.range[0]} to ${column.range[1]}`;
  return column.type.toLowerCase();
}
