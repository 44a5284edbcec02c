// What is protected about a table, in one sentence; and how the tables hang together.
import type { Table } from "../api/types";

export function protectionOf(table: Table): string {
  if (table.synthetic) return "Synthetic: a twin made with privacy from another table. Its rows are nobody's; answers from it are exact about the twin and cost nothing.";
  if (table.public) return "Public: anybody may know every row. Answers from it are exact and cost nothing.";
  const rows = table.max_rows_per_unit;
  const most = rows === null ? "" : rows === 1 ? " One row counts per person." : ` At most ${rows} rows count per person.`;
  if (table.unit === null || table.unit === "row") return `Each row is protected: no answer tells whether any one row is in the data.${most}`;
  return `Everything that belongs to one ${table.unit} is protected as a whole: no answer tells whether that person is in the data, or what any of their rows say.${most}`;
}

export interface Placed {
  name: string;
  public: boolean;
  /** Steps from the table that holds the people; public tables have no links and stand apart. */
  depth: number;
  parent: string | null;
}

/** Tables by their distance from the one whose unit they share. A link to nowhere, or a ring, counts as a root. */
export function placeTables(tables: Table[]): Placed[] {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const parentOf = (table: Table): Table | null => {
    const name = table.link?.split(".")[0];
    return name ? (byName.get(name) ?? null) : null;
  };
  return tables.map((table) => {
    let depth = 0;
    const seen = new Set([table.name]);
    for (let at = parentOf(table); at && !seen.has(at.name); at = parentOf(at)) {
      seen.add(at.name);
      ++depth;
    }
    return { name: table.name, public: table.public, depth, parent: parentOf(table)?.name ?? null };
  });
}
