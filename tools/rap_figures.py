#!/usr/bin/env python3
"""Redraws the figures of relaxed adaptive projection from runs of ours: max error against epsilon, and against the number of marginals.

    tools/rap_figures.py --binary build/bin/discreet --data ../shared/data --out docs/lectures/img [--ways 3 5] [--points few|all]

ADULT is read from --data. Marginals are drawn among those with at most as many cells as there are rows. One run a point: the lines are as uneven as luck.
"""
import argparse
import itertools
import json
import math
import pathlib
import random
import subprocess
import tempfile

COLOURS = ["#1f6f8b", "#c8553d", "#6a994e", "#7d5ba6"]
DELTA = 4.19e-10  # 1/n^2
METHODS = {
    "as printed, T = 5, K = 20": ["--method", "rap", "--as-printed", "--rap-rounds", "5", "--rap-queries", "20"],
    "as printed, T = 1": ["--method", "rap", "--as-printed"],
    "whole marginals, T = 1": ["--method", "rap"],
    "Discreet's own": ["--fast"],
}


def workload(domain, rows, ways, count, folder):
    names = list(domain)
    sets = [s for s in itertools.combinations(names, ways) if math.prod(domain[a] for a in s) <= rows]
    chosen = random.Random(0).sample(sets, min(count, len(sets)))
    path = folder / f"{ways}way-{count}.json"
    path.write_text(json.dumps({"marginals": [list(s) for s in chosen]}))
    return path, len(chosen)


def max_error(options, folder, marginals, epsilon, method):
    common = ["--domain", options.data / "adult-domain.json", "--workload", marginals]
    twin = folder / "twin.csv"
    subprocess.run([options.binary, "synth", "fit", options.data / "adult.csv", *common, "--epsilon", str(epsilon), "--delta", str(DELTA), *METHODS[method],
                    "--out", twin], check=True, capture_output=True)
    done = subprocess.run([options.binary, "synth", "score", options.data / "adult.csv", twin, *common, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["max_error"]


def zero_error(options, marginals):
    """Answering zero everywhere: the largest cell."""
    import collections
    import csv
    rows = list(csv.DictReader(open(options.data / "adult.csv")))
    return max(max(collections.Counter(tuple(r[a] for a in s) for r in rows).values()) / len(rows) for s in json.loads(marginals.read_text())["marginals"])


def draw(path, title, x_label, lines, zero):
    width, height, left, right, top, bottom = 760, 430, 64, 210, 66, 60
    xs = sorted({x for points in lines.values() for x, _ in points})
    ys = [y for points in lines.values() for _, y in points] + [zero]
    low, high = 10 ** math.floor(math.log10(min(ys))), 1.0
    place_x = lambda x: left + (math.log(x / xs[0]) / math.log(xs[-1] / xs[0])) * (width - left - right)
    place_y = lambda y: top + (1 - math.log(max(y, low) / low) / math.log(high / low)) * (height - top - bottom)
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' role='img'>",
           "<style>text{font-family:system-ui,sans-serif;fill:#1d2733}.t{font-size:17px;font-weight:600}.s{font-size:12.5px;fill:#51606f}.l{font-size:13px}"
           ".g{stroke:#dfe5ea}@media(prefers-color-scheme:dark){svg{background:#14191f}text{fill:#e8edf2}.s{fill:#a9b6c3}.g{stroke:#2b3641}}</style>",
           f"<title>{title}</title><text x='20' y='30' class='t'>{title}</text><text x='20' y='{top - 14}' class='s'>max error over all cells (log scale)</text>"]
    tick = low
    while tick <= high * 1.001:
        for times in (1, 2, 5):
            if tick * times <= high * 1.001:
                y = place_y(tick * times)
                out.append(f"<line x1='{left}' y1='{y:.1f}' x2='{width - right}' y2='{y:.1f}' class='g'/><text x='{left - 8}' y='{y + 4:.1f}' class='s' text-anchor='end'>{tick * times:g}</text>")
        tick *= 10
    for x in xs:
        out.append(f"<text x='{place_x(x):.1f}' y='{height - bottom + 20}' class='s' text-anchor='middle'>{x:g}</text>")
    out.append(f"<text x='{(left + width - right) / 2:.1f}' y='{height - 16}' class='s' text-anchor='middle'>{x_label}</text>")
    series = list(lines.items()) + [("zero everywhere", [(xs[0], zero), (xs[-1], zero)])]
    ends = []
    for i, (name, points) in enumerate(series):
        dashed = " stroke-dasharray='6 4'" if name == "zero everywhere" else ""
        colour = COLOURS[i % 4] if not dashed else "#51606f"
        out.append(f"<polyline points='{' '.join(f'{place_x(x):.1f},{place_y(y):.1f}' for x, y in points)}' fill='none' stroke='{colour}' stroke-width='2.4'{dashed}/>")
        out += [f"<circle cx='{place_x(x):.1f}' cy='{place_y(y):.1f}' r='3.2' fill='{colour}'/>" for x, y in points if not dashed]
        ends.append((place_y(points[-1][1]), name, colour))
    below = 0
    for y, name, colour in sorted(ends):
        below = max(y + 4, below + 18)
        out.append(f"<text x='{width - right + 10}' y='{below:.1f}' class='l' style='fill:{colour}'>{name}</text>")
    path.write_text("\n".join(out) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description="Figures of relaxed adaptive projection on ADULT.")
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--ways", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--points", choices=["few", "all"], default="all")
    options = parser.parse_args()
    domain = json.loads((options.data / "adult-domain.json").read_text())
    epsilons = [0.1, 1] if options.points == "few" else [0.1, 0.2, 0.5, 1]
    counts = [16, 64] if options.points == "few" else [8, 32, 128]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for ways in options.ways:
            marginals, found = workload(domain, 48842, ways, 64, folder)
            lines = {}
            for method in METHODS:
                lines[method] = [(epsilon, max_error(options, folder, marginals, epsilon, method)) for epsilon in epsilons]
                print(f"{ways}-way, {found} marginals, {method}: " + ", ".join(f"epsilon {e:g}: {y:.4f}" for e, y in lines[method]), flush=True)
            zero = zero_error(options, marginals)
            print(f"{ways}-way, {found} marginals, zero everywhere: {zero:.4f}", flush=True)
            draw(options.out / f"rap-epsilon-{ways}way.svg", f"ADULT, {found} {ways}-way marginals", "epsilon", lines, zero)
            lines = {}
            for method in METHODS:
                lines[method] = []
                for count in counts:
                    marginals, found = workload(domain, 48842, ways, count, folder)
                    lines[method].append((found, max_error(options, folder, marginals, 0.1, method)))
                print(f"{ways}-way, epsilon 0.1, {method}: " + ", ".join(f"{c} marginals: {y:.4f}" for c, y in lines[method]), flush=True)
            draw(options.out / f"rap-marginals-{ways}way.svg", f"ADULT, {ways}-way marginals, epsilon 0.1", "number of marginals", lines, zero)


if __name__ == "__main__":
    main()
