// A hierarchy as nested tiles: a tile's area is its value, its hatching the error. The table below says every number.
import { useId } from "preact/hooks";
import { gradeOf, type ErrorGrade, type Tree } from "../logic/crosstab";
import { formatError, formatNumber, formatValue } from "../logic/format";
import { treemap, type Rect } from "../logic/treemap";
import { useWidth } from "./width";

const headRoom = 20;
const gap = 2;

export function TileMap({ tree, label, keys }: { tree: Tree; label: string; keys: string[] }) {
  const [ref, width] = useWidth(640);
  const hatch = useId();
  const height = Math.round(Math.max(260, Math.min(460, width * 0.55)));
  return (
    <figure ref={ref}>
      <svg class="chart tiles" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${label} by ${keys.join(", then ")}: ${spoken(tree)}`}>
        <defs>
          {(["fair", "weak", "lost"] as const).map((grade) => (
            <pattern key={grade} id={`${hatch}-${grade}`} width={spacing[grade]} height={spacing[grade]} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <line class="tile-hatch" x1="0" x2="0" y1="0" y2={spacing[grade]} />
              {grade === "lost" && <line class="tile-hatch" x1="0" x2={spacing[grade]} y1="0" y2="0" />}
            </pattern>
          ))}
        </defs>
        <Tiles tree={tree} area={{ x: 0, y: 0, width, height }} depth={0} path={[]} hatch={hatch} />
      </svg>
    </figure>
  );
}

const spacing: Record<ErrorGrade, number> = { firm: 0, fair: 11, weak: 6, lost: 6 };

function spoken(tree: Tree): string {
  return tree.parts.slice(0, 12).map((part) => `${part.label} ${formatNumber(Math.round(part.cell?.value ?? part.value))}`).join(", ");
}

interface TilesProps {
  tree: Tree;
  area: Rect;
  depth: number;
  path: string[];
  hatch: string;
}

function Tiles({ tree, area, depth, path, hatch }: TilesProps) {
  const places = treemap(tree.parts.map((part) => part.value), area);
  const most = Math.max(...tree.parts.map((part) => part.value), 1e-9);
  return (
    <>
      {tree.parts.map((part, i) => {
        const at = places[i]!;
        if (at.width < 1 || at.height < 1) return null;
        const here = [...path, part.label];
        return part.parts.length === 0
          ? <Tile key={part.label} part={part} at={at} share={part.value / most} path={here} hatch={hatch} />
          : <Frame key={part.label} part={part} at={at} depth={depth} path={here} hatch={hatch} />;
      })}
    </>
  );
}

function Frame({ part, at, depth, path, hatch }: { part: Tree; at: Rect; depth: number; path: string[]; hatch: string }) {
  const room = at.height > 3 * headRoom && at.width > 40 ? headRoom : 0;
  const inner = { x: at.x + gap, y: at.y + room + (room ? 0 : gap), width: at.width - 2 * gap, height: at.height - room - 2 * gap };
  const text = [part.label, part.cell ? `${formatValue(part.cell.value, part.cell.error)}${part.cell.error === null ? "" : ` ${formatError(part.cell.error)}`}` : formatNumber(Math.round(part.value))];
  return (
    <g class={`tile-frame tile-depth-${Math.min(depth, 2)}`}>
      <rect x={at.x + gap / 2} y={at.y + gap / 2} width={Math.max(0, at.width - gap)} height={Math.max(0, at.height - gap)} rx="4" class="tile-edge"><title>{`${path.join(" › ")}: ${text[1]}`}</title></rect>
      {room > 0 && <text x={at.x + 7} y={at.y + 14} class="tile-head">{clipped(text.join("  "), at.width - 12, 6.6) || clipped(text[0]!, at.width - 12, 6.6)}</text>}
      <Tiles tree={part} area={inner} depth={depth + 1} path={path} hatch={hatch} />
    </g>
  );
}

function Tile({ part, at, share, path, hatch }: { part: Tree; at: Rect; share: number; path: string[]; hatch: string }) {
  const cell = part.cell;
  const grade = cell ? gradeOf(cell) : "firm";
  const value = cell ? formatValue(cell.value, cell.error) : formatNumber(Math.round(part.value));
  const error = cell && cell.error !== null ? formatError(cell.error) : "";
  const box = { x: at.x + gap / 2, y: at.y + gap / 2, width: Math.max(0, at.width - gap), height: Math.max(0, at.height - gap), rx: 3 };
  // As in the coloured table, the hatching is a strip at the edge: numbers stand beside it, not on it.
  const strip = grade === "firm" || box.width < 16 ? 0 : Math.min(12, box.width / 3);
  const left = at.x + 7 + strip, room = at.width - 12 - strip;
  const name = at.height > 22 ? clipped(part.label, room, 6.8) : "";
  return (
    <g class="tile">
      <rect {...box} class="tile-fill" style={{ "--heat": `${Math.round(25 + 75 * share)}%` }}><title>{`${path.join(" › ")}: ${value} ${error}`}</title></rect>
      {grade !== "firm" && <rect {...box} width={strip || box.width} fill={`url(#${hatch}-${grade})`} pointer-events="none" />}
      {name && <text x={left} y={at.y + 16} class="tile-name">{name}</text>}
      {name && at.height > 40 && value.length * 7 < room && <text x={left} y={at.y + 32} class="tile-value">{value}</text>}
      {name && at.height > 56 && error.length * 6.6 < room && <text x={left} y={at.y + 47} class="tile-error">{error}</text>}
    </g>
  );
}

/** As much of the text as fits; nothing where that would be a letter or two. */
function clipped(text: string, width: number, letter: number): string {
  const fits = Math.floor(width / letter);
  if (text.length <= fits) return text;
  return fits >= 4 ? `${text.slice(0, fits - 1)}…` : "";
}
