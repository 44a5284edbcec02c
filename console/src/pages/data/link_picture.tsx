// The links between tables: everything left of a line is protected together with what it points to.
import type { Table } from "../../api/types";
import { useWidth } from "../../charts/width";
import { placeTables, type Placed } from "../../logic/protection";

const boxHeight = 34;
const gap = 12;

export function LinkPicture({ tables, chosen }: { tables: Table[]; chosen: string }) {
  const [ref, width] = useWidth(800);
  const placed = placeTables(tables);
  const depths = Math.max(...placed.map((table) => table.depth)) + 1;
  const open = placed.filter((table) => table.public);
  const columns = [...Array.from({ length: depths }, (_, depth) => placed.filter((table) => !table.public && table.depth === depth)), ...(open.length ? [open] : [])];
  const lane = width / columns.length;
  const narrow = width < 500;
  const boxWidth = Math.min(150, lane - (narrow ? 18 : 28));
  const rows = Math.max(...columns.map((column) => column.length));
  const height = rows * (boxHeight + gap) + 26;
  const spots = new Map<string, { x: number; y: number; table: Placed }>();
  columns.forEach((column, c) => column.forEach((table, r) => {
    const top = 26 + ((rows - column.length) * (boxHeight + gap)) / 2;
    spots.set(table.name, { x: c * lane + (lane - boxWidth) / 2, y: top + r * (boxHeight + gap), table });
  }));
  const heading = (c: number) => (open.length && c === columns.length - 1 ? "public" : c === 0 ? "the people" : c === 1 ? "about them" : narrow ? "further" : "linked further");
  return (
    <div ref={ref}>
      <svg class={`chart links ${narrow ? "links-narrow" : ""}`} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={describe(placed)}>
        {columns.map((_, c) => <text key={c} x={c * lane + lane / 2} y={12} text-anchor="middle" class="lane">{heading(c)}</text>)}
        {[...spots.values()].map(({ x, y, table }) => {
          const parent = table.parent ? spots.get(table.parent) : undefined;
          if (!parent) return null;
          const [x1, y1, x2, y2] = [parent.x + boxWidth, parent.y + boxHeight / 2, x, y + boxHeight / 2];
          const bend = (x1 + x2) / 2;
          return <path key={`${table.name}-link`} class="link" d={`M${x2} ${y2}C${bend} ${y2} ${bend} ${y1} ${x1} ${y1}`} />;
        })}
        {[...spots.values()].map(({ x, y, table }) => (
          <a key={table.name} href={`#/data/${encodeURIComponent(table.name)}`}>
            <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={8} class={`box ${table.public ? "box-public" : ""} ${table.name === chosen ? "box-chosen" : ""}`} />
            <text x={x + boxWidth / 2} y={y + boxHeight / 2 + 4} text-anchor="middle" class={table.name === chosen ? "box-text-chosen" : "box-text"}>{table.name}</text>
          </a>
        ))}
      </svg>
    </div>
  );
}

function describe(placed: Placed[]): string {
  const links = placed.filter((table) => table.parent).map((table) => `${table.name} belongs to ${table.parent}`);
  return links.length ? links.join("; ") : "No tables are linked";
}
