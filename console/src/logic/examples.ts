// Questions to start from, made out of the catalog so that they can be asked of any data.
import type { Column, Table } from "../api/types";

export interface Example {
  title: string;
  sql: string;
}

export function exampleQuestions(tables: Table[], most = 5): Example[] {
  const found: Example[] = [];
  for (const table of tables.filter((candidate) => !candidate.public)) {
    const key = table.columns.find((column) => isKey(column));
    const numbers = table.columns.filter((column) => isNumber(column));
    const number = numbers[numbers.length - 1];
    if (key && number)
      found.push({
        title: `${capital(label(number.name))} by ${label(key.name)}`,
        sql: `select ${id(key.name)}, count(*) as ${id(table.name)}, avg(${id(number.name)}) as ${id(number.name)}\nfrom ${id(table.name)}\ngroup by ${id(key.name)}`,
      });
    const age = numbers.find((column) => column.name === "age");
    if (age)
      found.push({
        title: `${capital(label(table.name))} by age`,
        sql: `select age / 10 as decade, count(*) as ${id(table.name)}\nfrom ${id(table.name)}\ngroup by 1\norder by 1`,
      });
    const wide = table.columns.find((column) => isKey(column, 12, 40) && column !== key);
    if (wide)
      found.push({
        title: `Most frequent ${label(wide.name)}`,
        sql: `select ${id(wide.name)}, count(*) as n\nfrom ${id(table.name)}\ngroup by ${id(wide.name)}\norder by n desc`,
      });
  }
  return found.slice(0, most);
}

function isKey(column: Column, least = 2, most = 16): boolean {
  return column.values !== null && column.values.length >= least && column.values.length <= most;
}

function isNumber(column: Column): boolean {
  return column.range !== null && typeof column.range[0] === "number";
}

function label(name: string): string {
  return name.replaceAll("_", " ");
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** An identifier as SQL wants it: quoted unless it is plain lower case. */
export function id(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
