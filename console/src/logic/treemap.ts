// Rectangles whose areas are in proportion, as near to squares as a greedy choice of rows makes them (Bruls, Huizing and van Wijk 2000).

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One rectangle for each size, in order; sizes fall. Sizes of zero get an empty one. */
export function treemap(sizes: number[], area: Rect): Rect[] {
  const total = sizes.reduce((sum, size) => sum + Math.max(0, size), 0);
  const empty = { x: area.x, y: area.y, width: 0, height: 0 };
  if (!(total > 0) || !(area.width > 0) || !(area.height > 0)) return sizes.map(() => empty);
  const scale = (area.width * area.height) / total;
  const out: Rect[] = [];
  let rest = { ...area };
  let start = 0;
  while (start < sizes.length) {
    const side = Math.min(rest.width, rest.height);
    let end = start + 1;
    while (end < sizes.length && worst(sizes, start, end + 1, scale, side) <= worst(sizes, start, end, scale, side)) ++end;
    const sum = scale * sizes.slice(start, end).reduce((a, b) => a + Math.max(0, b), 0);
    const wide = rest.width >= rest.height;
    const depth = sum > 0 ? sum / side : 0;
    let along = wide ? rest.y : rest.x;
    for (let i = start; i < end; ++i) {
      const length = depth > 0 ? (scale * Math.max(0, sizes[i]!)) / depth : 0;
      out.push(wide ? { x: rest.x, y: along, width: depth, height: length } : { x: along, y: rest.y, width: length, height: depth });
      along += length;
    }
    rest = wide ? { x: rest.x + depth, y: rest.y, width: Math.max(0, rest.width - depth), height: rest.height }
      : { x: rest.x, y: rest.y + depth, width: rest.width, height: Math.max(0, rest.height - depth) };
    start = end;
  }
  return out;
}

/** The least square of the rectangles that a row of these sizes would have. */
function worst(sizes: number[], start: number, end: number, scale: number, side: number): number {
  const row = sizes.slice(start, end).map((size) => scale * Math.max(0, size));
  const sum = row.reduce((a, b) => a + b, 0);
  if (!(sum > 0) || !(side > 0)) return Infinity;
  const [most, least] = [Math.max(...row), Math.min(...row)];
  return least > 0 ? Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least)) : Infinity;
}
