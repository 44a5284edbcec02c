#!/usr/bin/env python3
"""Pictures of tables, as SVG on stdout.

tools/tables_picture.py errors < output of `bench_tables --everything yes`
    the error of a cell at three epsilons: independent noise, jointly planned, whole and consistent
tools/tables_picture.py heat ROW COLUMN VALUE < output of `discreet query --errors --json "select ... group by cube (...)"`
    the table with its totals; a cell is as dark as its value, and hatched where the error is not small beside it
"""
import json
import math
import re
import sys

FONT = 'font-family="system-ui, sans-serif"'
COLOURS = {"independent": "#9aa5b1", "released": "#4a7fb5", "whole": "#1b9e6b"}
NAMES = {"independent": "independent noise, even split", "released": "jointly planned", "whole": "whole, non-negative, consistent"}


def text(x, y, words, size=13, anchor="start", weight="normal", colour="#222"):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}" {FONT}>{words}</text>'


def page(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
            f'<rect width="{width}" height="{height}" fill="#fff"/>' + "".join(parts) + "</svg>")


def errors(log):
    runs, current = [], None
    for line in log.splitlines():
        if found := re.match(r"(\w+) eps ([\d.]+),", line):
            current = (found[1], float(found[2]))
        elif found := re.search(r"independent ([\d.]+) / ([\d.]+); released ([\d.]+) / ([\d.]+).*whole ([\d.]+) / ([\d.]+)", line):
            v = [float(x) for x in found.groups()]
            runs.append((current, {"independent": v[0], "released": v[2], "whole": v[4]}, {"independent": v[1], "released": v[3], "whole": v[5]}))
    width, height, top, bottom = 960, 440, 76, 350
    low, high = -1, 3.4
    parts = [text(24, 30, "Error of a cell of all 1-, 2- and 3-way tables (root mean square, log scale)", 17, weight="600")]
    place = lambda value: bottom - (math.log10(max(value, 0.11)) - low) / (high - low) * (bottom - top)
    for power in range(-1, 4):
        y = place(10.0 ** power)
        parts += [f'<line x1="64" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e7eb"/>', text(56, y + 4, f"{10.0 ** power:g}", 12, "end", colour="#555")]
    slot = (width - 110) / max(1, len(runs))
    for i, ((table, epsilon), cells, _) in enumerate(runs):
        left = 78 + i * slot
        for j, name in enumerate(COLOURS):
            bar = slot / 4.2
            x, y = left + j * (bar + 3), place(cells[name])
            parts += [f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{bottom - y:.1f}" rx="2" fill="{COLOURS[name]}"/>',
                      text(x + bar / 2, y - 5, f"{cells[name]:,.0f}" if cells[name] >= 100 else f"{cells[name]:.3g}", 11, "middle")]
        parts += [text(left + slot * 0.38, bottom + 20, f"ε = {epsilon:g}", 13, "middle"),
                  text(left + slot * 0.38, bottom + 38, {"adult": "ADULT", "nist": "NIST ACS"}.get(table, table), 12, "middle", colour="#555")]
    x = 64
    for name in COLOURS:
        parts += [f'<rect x="{x}" y="{height - 24}" width="12" height="12" rx="2" fill="{COLOURS[name]}"/>', text(x + 18, height - 13, NAMES[name], 13)]
        x += 60 + 7.2 * len(NAMES[name])
    return page(width, height, parts)


def heat(answer, row, column, value):
    rows = json.loads(answer)
    total = "all"
    name = lambda one: total if one is None else str(one)
    cells = {(name(r[row]), name(r[column])): (r[value], r.get(value + "_error95")) for r in rows}
    order = lambda keys: sorted(set(keys) - {total}) + [total]
    downs, acrosses = order(k[0] for k in cells), order(k[1] for k in cells)
    size_x, size_y, left, top = 92, 44, 150, 92
    width, height = left + size_x * len(acrosses) + 30, top + size_y * len(downs) + 70
    most = max([v for k, (v, _) in cells.items() if total not in k] + [1])
    parts = ['<defs><pattern id="unsure" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
             '<line x1="0" y1="0" x2="0" y2="7" stroke="#fff" stroke-width="3.2" stroke-opacity=".75"/></pattern></defs>',
             text(24, 30, f"{value} by {row} and {column}", 17, weight="600"),
             text(24, 52, "± is the 95 % error, known before it was paid; hatched where it is more than a quarter of the count", 12, colour="#555")]
    for i, across in enumerate(acrosses):
        parts.append(text(left + size_x * (i + 0.5), top - 10, across, 13, "middle", "600" if across == total else "normal"))
    for j, down in enumerate(downs):
        y = top + size_y * j
        parts.append(text(left - 12, y + size_y / 2 + 5, down, 13, "end", "600" if down == total else "normal"))
        for i, across in enumerate(acrosses):
            if (down, across) not in cells:
                continue
            number, error = cells[down, across]
            x, is_total = left + size_x * i, total in (down, across)
            shade = 0.06 if is_total else 0.12 + 0.78 * math.sqrt(max(0, number) / most)
            parts.append(f'<rect x="{x + 1}" y="{y + 1}" width="{size_x - 2}" height="{size_y - 2}" rx="3" fill="{"#333" if is_total else "#1b7a9e"}" fill-opacity="{shade:.2f}"/>')
            if error and error > 0.25 * max(number, 1e-9):
                parts.append(f'<rect x="{x + 1}" y="{y + 1}" width="{size_x - 2}" height="{size_y - 2}" rx="3" fill="url(#unsure)"/>')
            colour = "#fff" if shade > 0.72 else "#222"
            parts += [text(x + size_x / 2, y + 20, f"{number:,.0f}", 14, "middle", "600", colour),
                      text(x + size_x / 2, y + 36, f"±{error:.3g}" if error else "", 11, "middle", colour=colour)]
    parts.append(text(24, height - 24, "Rows and columns add up exactly.", 12, colour="#555"))
    return page(width, height, parts)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] == "errors":
        print(errors(sys.stdin.read()))
    elif len(sys.argv) == 5 and sys.argv[1] == "heat":
        print(heat(sys.stdin.read(), *sys.argv[2:]))
    else:
        sys.exit(__doc__)
