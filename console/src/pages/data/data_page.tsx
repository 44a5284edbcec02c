// Data: what may be asked about, who is protected and how tables hang together. Rows are never shown.
import { useState } from "preact/hooks";
import type { Table } from "../../api/types";
import { useRemote } from "../../remote";
import { useSession } from "../../session";
import { DataIcon, OpenIcon, ShieldIcon } from "../../ui/icons";
import { PageHead, Panel } from "../../ui/panel";
import { Empty, ErrorNote, Loading } from "../../ui/states";
import { LinkPicture } from "./link_picture";
import { TableDetail } from "./table_detail";

export function DataPage({ table: wanted }: { table: string }) {
  const { client } = useSession();
  const tables = useRemote((signal) => client.tables(signal), [client]);
  const [filter, setFilter] = useState("");
  const all = tables.value ?? [];
  const shown = all.filter((table) => matches(table, filter));
  const chosen = all.find((table) => table.name === wanted) ?? all[0];
  return (
    <div class="page">
      <PageHead title="Data">What may be asked about, and who is protected. People's rows are never shown here; preview rows are made up from the declared ranges.</PageHead>
      {tables.error && <ErrorNote error={tables.error} retry={tables.reload} />}
      {!tables.value && tables.loading && <Panel><Loading lines={6} label="Loading tables" /></Panel>}
      {tables.value && all.length === 0 && <Panel><Empty icon={<DataIcon />} title="No tables"><p>The policy names no table that you may ask about. The data owner adds them in the policy file.</p></Empty></Panel>}
      {chosen && (
        <>
          <Panel title="How tables belong together"><LinkPicture tables={all} chosen={chosen.name} /></Panel>
          <div class="data-grid">
            <nav class="panel table-list" aria-label="Tables">
              <input class="input" type="search" aria-label="Find a table or column" placeholder="Find a table or column" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
              <ul>
                {shown.map((table) => (
                  <li key={table.name}>
                    <a href={`#/data/${encodeURIComponent(table.name)}`} {...(table === chosen ? { "aria-current": "true" as const } : {})}>
                      {table.public ? <OpenIcon /> : <ShieldIcon />}
                      <span>{table.name}</span>
                      <span class="small quiet">{table.synthetic ? "synthetic, " : ""}{table.columns.length} columns</span>
                    </a>
                  </li>
                ))}
              </ul>
              {shown.length === 0 && <p class="small quiet table-none">Nothing is called that.</p>}
            </nav>
            <TableDetail key={chosen.name} table={chosen} />
          </div>
        </>
      )}
    </div>
  );
}

function matches(table: Table, filter: string): boolean {
  const text = filter.trim().toLowerCase();
  return text === "" || table.name.toLowerCase().includes(text) || table.columns.some((column) => column.name.toLowerCase().includes(text));
}
