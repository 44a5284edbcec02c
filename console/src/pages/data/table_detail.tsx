// One table: its protection in a sentence, its columns, and made-up rows.
import type { Column, Table } from "../../api/types";
import { formatCell } from "../../logic/format";
import { previewRows } from "../../logic/preview";
import { protectionOf } from "../../logic/protection";
import { OpenIcon, ShieldIcon } from "../../ui/icons";
import { Panel } from "../../ui/panel";

export function TableDetail({ table }: { table: Table }) {
  return (
    <div class="stack table-detail">
      <Panel title={table.name} aside={table.public
        ? <span class="chip chip-good"><OpenIcon />{table.synthetic ? "synthetic, free to ask" : "public"}</span>
        : <span class="chip chip-price"><ShieldIcon />protected</span>}>
        <div class="stack">
          <p>{protectionOf(table)}</p>
          {!table.public && (
            <dl class="facts">
              <dt>Privacy unit</dt><dd class="mono">{table.unit ?? "row"}</dd>
              {table.link && <><dt>Linked to</dt><dd class="mono">{table.link}</dd></>}
              {table.max_rows_per_unit !== null && <><dt>Rows counted per person</dt><dd>at most {table.max_rows_per_unit}</dd></>}
            </dl>
          )}
        </div>
      </Panel>
      <Panel title="Columns" flush>
        <div class="table-wrap panel-table" tabIndex={0} role="group" aria-label={`Columns of ${table.name}`}>
          <table>
            <thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">Declared</th></tr></thead>
            <tbody>
              {table.columns.map((column) => (
                <tr key={column.name}>
                  <td class="mono">{column.name}{column.name === table.unit && <span class="chip chip-price unit-chip">unit</span>}</td>
                  <td class="quiet">{column.type.toLowerCase()}</td>
                  <td><Declared column={column} isPublic={table.public} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      <Preview table={table} />
    </div>
  );
}

const valuesShown = 8;

function Declared({ column, isPublic }: { column: Column; isPublic: boolean }) {
  if (column.values)
    return (
      <span class="row values">
        {column.values.slice(0, valuesShown).map((value) => <span key={String(value)} class="chip">{String(value)}</span>)}
        {column.values.length > valuesShown && <span class="small quiet">and {column.values.length - valuesShown} more</span>}
      </span>
    );
  if (column.range) return <span class="number">{String(column.range[0])} to {String(column.range[1])}</span>;
  return <span class="quiet">{isPublic ? "anything" : "nothing: its values stay private until a release names them"}</span>;
}

function Preview({ table }: { table: Table }) {
  const rows = previewRows(table.name, table.columns, 5);
  return (
    <Panel title="What a row looks like" flush aside={<span class="chip chip-error">made up, not data</span>}>
      <div class="table-wrap panel-table" tabIndex={0} role="group" aria-label={`Made-up rows of ${table.name}`}>
        <table class="preview">
          <thead><tr>{table.columns.map((column) => <th key={column.name} scope="col">{column.name}</th>)}</tr></thead>
          <tbody>{rows.map((row, i) => <tr key={i}>{row.map((cell, c) => <td key={c} class="nowrap">{formatCell(cell)}</td>)}</tr>)}</tbody>
        </table>
      </div>
    </Panel>
  );
}
