#!/usr/bin/env python3
"""Redraws the figures of relaxed adaptive projection from runs of ours: max error against epsilon, and against the number of marginals.

    tools/rap_figures.py --binary build/bin/discreet --data ../shared/data --out docs/lectures/img [--ways 3 5] [--points few|all]
                         [--runs 5] [--keep build/rap.json]

ADULT is read from --data. Marginals are drawn among those with at most as many cells as there are rows. A point is the mean of --runs independent
fits, a bar goes from the least to the greatest of them. --keep names a file of the fits made so far: a run that was stopped goes on where it was.
"""
import argparse
import itertools
import json
import math
import pathlib
import random
import statistics
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


class Fits:
    """Max errors by point, kept in a file between runs if one is named."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.kept = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}

    def errors(self, ways, marginals, count, epsilon, method, runs):
        """The max errors of `runs` fits; only those that are missing are made."""
        found = self.kept.setdefault(f"{ways}way, {count} marginals, epsilon {epsilon:g}, {method}", [])
        while len(found) < runs:
            found.append(max_error(self.options, self.folder, marginals, epsilon, method))
            if self.options.keep:
                self.options.keep.write_text(json.dumps(self.kept, indent=1))
        return found[:runs]


def zero_error(options, marginals):
    """Answering zero everywhere: the largest cell."""
    import collections
    import csv
    rows = list(csv.DictReader(open(options.data / "adult.csv")))
    return max(max(collections.Counter(tuple(r[a] for a in s) for r in rows).values()) / len(rows) for s in json.loads(marginals.read_text())["marginals"])


def draw(path, title, x_label, lines, zero):
    """lines: by name, points of (x, errors of the fits there)."""
    width, height, left, right, top, bottom = 760, 430, 64, 210, 66, 60
    runs = min(len(errors) for points in lines.values() for _, errors in points)
    told = f"mean and range of {runs} fits" if runs > 1 else "one fit a point, as uneven as luck"
    xs = sorted({x for points in lines.values() for x, _ in points})
    ys = [y for points in lines.values() for _, errors in points for y in errors] + [zero]
    low, high = 10 ** math.floor(math.log10(min(ys))), 1.0
    place_x = lambda x: left + (math.log(x / xs[0]) / math.log(xs[-1] / xs[0])) * (width - left - right)
    place_y = lambda y: top + (1 - math.log(max(y, low) / low) / math.log(high / low)) * (height - top - bottom)
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' role='img'>",
           "<style>text{font-family:system-ui,sans-serif;fill:#1d2733}.t{font-size:17px;font-weight:600}.s{font-size:12.5px;fill:#51606f}.l{font-size:13px}"
           ".g{stroke:#dfe5ea}@media(prefers-color-scheme:dark){svg{background:#14191f}text{fill:#e8edf2}.s{fill:#a9b6c3}.g{stroke:#2b3641}}</style>",
           f"<title>{title}</title><text x='20' y='30' class='t'>{title}</text><text x='20' y='{top - 14}' class='s'>max error over all cells (log scale): {told}</text>"]
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
    series = [(name, [(x, statistics.fmean(errors), errors) for x, errors in points]) for name, points in lines.items()]
    series.append(("zero everywhere", [(xs[0], zero, [zero]), (xs[-1], zero, [zero])]))
    ends = []
    for i, (name, points) in enumerate(series):
        dashed = " stroke-dasharray='6 4'" if name == "zero everywhere" else ""
        colour = COLOURS[i % 4] if not dashed else "#51606f"
        out.append(f"<polyline points='{' '.join(f'{place_x(x):.1f},{place_y(y):.1f}' for x, y, _ in points)}' fill='none' stroke='{colour}' stroke-width='2.4'{dashed}/>")
        for x, y, errors in points if not dashed else []:
            at = place_x(x) + 3 * (i - 1.5)  # side by side, so that no bar hides another
            out.append(f"<line x1='{at:.1f}' y1='{place_y(min(errors)):.1f}' x2='{at:.1f}' y2='{place_y(max(errors)):.1f}' stroke='{colour}' stroke-width='1.6'/>"
                       f"<circle cx='{place_x(x):.1f}' cy='{place_y(y):.1f}' r='3.2' fill='{colour}'/>")
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
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    domain = json.loads((options.data / "adult-domain.json").read_text())
    epsilons = [0.1, 1] if options.points == "few" else [0.1, 0.2, 0.5, 1]
    counts = [16, 64] if options.points == "few" else [8, 32, 128]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fits = Fits(options, folder)

        def line(ways, places, method, runs):
            """(x, errors) for places of (x, marginals wanted, epsilon)."""
            made = [(x, *workload(domain, 48842, ways, count, folder), epsilon) for x, count, epsilon in places]
            return [(x or found, fits.errors(ways, path, found, epsilon, method, runs)) for x, path, found, epsilon in made]

        for ways in options.ways:
            marginals, found = workload(domain, 48842, ways, 64, folder)
            zero = zero_error(options, marginals)
            figures = (("epsilon", f"ADULT, {found} {ways}-way marginals", "epsilon", [(e, 64, e) for e in epsilons]),
                       ("marginals", f"ADULT, {ways}-way marginals, epsilon 0.1", "number of marginals", [(None, c, 0.1) for c in counts]))
            for runs in range(1, options.runs + 1):  # a run of everything, then the next: what was stopped is even
                for _, _, _, places in figures:
                    for method in METHODS:
                        line(ways, places, method, runs)
            for kind, title, x_label, places in figures:
                lines = {method: line(ways, places, method, options.runs) for method in METHODS}
                for method, points in lines.items():
                    spread = lambda e: f" ({min(e):.4f} to {max(e):.4f})" if len(e) > 1 else ""
                    print(f"{title}, {method}: " + ", ".join(f"{x:g}: {statistics.fmean(e):.4f}{spread(e)}" for x, e in points), flush=True)
                print(f"{title}, zero everywhere: {zero:.4f}", flush=True)
                draw(options.out / f"rap-{kind}-{ways}way.svg", title, x_label, lines, zero)


if __name__ == "__main__":
    main()
