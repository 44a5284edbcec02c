// What the editor offers while one types: tables and columns of the catalog with what is declared about them,
// and the words of SQL that Discreet answers.
import type { Column, Table } from "../api/types";

export interface Offer {
  label: string;
  detail?: string;
  type: "table" | "column" | "function" | "keyword";
  boost: number;
}

const keywords = ["select", "from", "where", "group by", "order by", "having", "limit", "join", "left join", "on", "and", "or", "not", "in", "between", "like",
  "is null", "is not null", "case", "when", "then", "else", "end", "as", "with", "union all", "exists", "desc", "asc", "distinct", "filter", "within group", "explain"];
const functions = ["count", "sum", "avg", "min", "max", "median", "stddev", "variance", "corr", "percentile_cont", "mode", "top_k", "histogram", "countif",
  "extract", "date_trunc", "coalesce", "nullif", "greatest", "least", "round", "floor", "lower", "upper", "substring"];

/** Offers for the word that ends at `at`. After `visits.` or an alias only that table's columns are offered. */
export function offersAt(sql: string, at: number, tables: Table[]): { from: number; offers: Offer[] } {
  const word = /(?:([A-Za-z_]\w*)\.)?(\w*)$/.exec(sql.slice(0, at));
  const typed = word?.[2] ?? "";
  const from = at - typed.length;
  if (word?.[1]) {
    const table = tableCalled(word[1], sql, tables);
    return { from, offers: table ? table.columns.map((column) => columnOffer(column, 3)) : [] };
  }
  const named = tables.filter((table) => mentions(sql, table.name));
  const seen = new Set<string>();
  const columns = (named.length > 0 ? named : tables).flatMap((table) => table.columns)
    .filter((column) => !seen.has(column.name) && seen.add(column.name)).map((column) => columnOffer(column, 3));
  return {
    from,
    offers: [
      ...tables.map((table): Offer => ({ label: table.name, detail: table.synthetic ? "synthetic table" : table.public ? "public table" : "table", type: "table", boost: 4 })),
      ...columns,
      ...functions.map((label): Offer => ({ label, type: "function", boost: 1 })),
      ...keywords.map((label): Offer => ({ label, type: "keyword", boost: 0 })),
    ],
  };
}

function columnOffer(column: Column, boost: number): Offer {
  return { label: column.name, detail: describeColumn(column), type: "column", boost };
}

function mentions(sql: string, name: string): boolean {
  return new RegExp(`\\b${escape(name)}\\b`, "i").test(sql);
}

/** `from visits v` and `join visits as v` make v another name of visits. */
function tableCalled(name: string, sql: string, tables: Table[]): Table | undefined {
  const direct = tables.find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (direct) return direct;
  return tables.find((table) => new RegExp(`\\b${escape(table.name)}\\s+(?:as\\s+)?${escape(name)}\\b`, "i").test(sql));
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

export function describeColumn(column: Column): string {
  if (column.values) return column.values.length <= 3 ? column.values.join(", ") : `${column.values.length} values`;
  if (column.range) return `${column.range[0]} to ${column.range[1]}`;
  return column.type.toLowerCase();
}
