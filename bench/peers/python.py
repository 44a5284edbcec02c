#!/usr/bin/env python3
"""The Python package beside OpenDP, diffprivlib and python-dp, on the same tasks at the same epsilon.

  10^6 noisy counts, and of 10^6 rows within [0, 100]: the mean, a histogram of 100 bins, the median.

Seconds are CPU time of the best of several runs; errors are the median over runs of the distance to the exact answer
(of a histogram: of the mean distance of a bin; of the median: in rows). Tasks that would take a peer minutes are run on a part and scaled,
which the table says. Then ten million noisy values from a NumPy array beside the C++ library (bench/release.cc).

usage: python.py --build build        (bench/peers/run.sh makes the environment)
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

EPSILON, LOWER, UPPER, ROWS, BINS = 1.0, 0.0, 100.0, 1_000_000, 100
EDGES = np.linspace(LOWER, UPPER, BINS + 1)


def measure(run, error, runs=5):
    """CPU seconds of the best run, and the median error."""
    run()
    seconds, errors = [], []
    for _ in range(runs):
        began = time.process_time()
        answer = run()
        seconds.append(time.process_time() - began)
        errors.append(error(answer))
    return min(seconds), statistics.median(errors)


class Truth:
    def __init__(self, rows):
        self.mean, self.counts, self.sorted = rows.mean(), np.histogram(rows, EDGES)[0], np.sort(rows)

    def of_mean(self, answer):
        return abs(float(answer) - self.mean)

    def of_histogram(self, answer):
        return float(np.abs(np.asarray(answer)[:BINS] - self.counts).mean())

    def of_median(self, answer):
        return abs(float(np.searchsorted(self.sorted, float(answer))) - ROWS / 2)

    @staticmethod
    def of_noise(answer):
        return float(np.abs(np.asarray(answer, dtype=float)).mean())


def discreet_tasks(rows, truth):
    from discreet import mechanisms as m

    zeros = np.zeros(ROWS, dtype=np.int64)
    counts = m.Laplace(epsilon=EPSILON)
    yield "10^6 noisy counts", *measure(lambda: counts.release(zeros), truth.of_noise), ""
    mean = m.Mean(epsilon=EPSILON, lower=LOWER, upper=UPPER)
    yield "mean", *measure(lambda: mean.release(rows).mean.value, truth.of_mean), ""
    histogram = m.Histogram(EPSILON, EDGES)
    yield "histogram", *measure(lambda: histogram.release(rows), truth.of_histogram), ""
    median = m.Quantile(EPSILON, 0.5, lower=LOWER, upper=UPPER)
    yield "median", *measure(lambda: median.release(rows), truth.of_median), ""


def opendp_tasks(rows, truth):
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    part = 100_000
    counts = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1 / EPSILON)
    zeros = [0] * part
    seconds, error = measure(lambda: counts(zeros), truth.of_noise, 2)
    yield "10^6 noisy counts", seconds * ROWS / part, error, "10^5 values, scaled"
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    sized = dp.vector_domain(dp.atom_domain(bounds=(LOWER, UPPER), nan=False), size=ROWS), dp.symmetric_distance()
    mean = sized >> dp.t.then_mean() >> dp.m.then_laplace(scale=2 * (UPPER - LOWER) / ROWS / 2 / EPSILON)
    yield "mean", *measure(lambda: mean(rows), truth.of_mean, 3), "the number of rows is public"
    edges = [float(e) for e in EDGES]
    histogram = (space >> dp.t.then_find_bin(edges=edges) >>
                 dp.t.then_count_by_categories(categories=list(range(1, BINS + 1)), null_category=False) >>
                 dp.m.then_laplace(scale=1 / EPSILON))
    yield "histogram", *measure(lambda: histogram(rows), truth.of_histogram, 3), ""
    # candidates 0.01 apart; the selection is calibrated to the same epsilon
    candidates = [float(c) for c in np.arange(LOWER, UPPER + 0.005, 0.01)]
    scores = space >> dp.t.then_quantile_score_candidates(candidates, alpha=0.5)
    choose = dp.binary_search_chain(lambda scale: scores >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True), d_in=1, d_out=EPSILON, T=float)
    yield "median", *measure(lambda: candidates[choose(rows)], truth.of_median, 2), "10^4 candidates"


def diffprivlib_tasks(rows, truth):
    import warnings

    warnings.simplefilter("ignore")
    from diffprivlib import tools
    from diffprivlib.mechanisms import Geometric

    part = 100_000
    counts = Geometric(epsilon=EPSILON, sensitivity=1)
    seconds, error = measure(lambda: [counts.randomise(0) for _ in range(part)], truth.of_noise, 2)
    yield "10^6 noisy counts", seconds * ROWS / part, error, "10^5 values, scaled"
    yield "mean", *measure(lambda: tools.mean(rows, epsilon=EPSILON, bounds=(LOWER, UPPER)), truth.of_mean, 3), "the number of rows is public"
    yield "histogram", *measure(lambda: tools.histogram(rows, epsilon=EPSILON, bins=BINS, range=(LOWER, UPPER))[0], truth.of_histogram, 3), ""
    yield "median", *measure(lambda: tools.quantile(rows, 0.5, epsilon=EPSILON, bounds=(LOWER, UPPER)), truth.of_median, 2), ""


def python_dp_tasks(rows, truth):
    from pydp.algorithms.laplacian import BoundedMean, Median
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    laplace = LaplaceMechanism(epsilon=EPSILON, sensitivity=1)
    part = 100_000
    seconds, error = measure(lambda: [laplace.add_noise(0) for _ in range(part)], truth.of_noise, 2)
    yield "10^6 noisy counts", seconds * ROWS / part, error, "10^5 values, scaled"
    listed = rows.tolist()
    yield "mean", *measure(lambda: BoundedMean(epsilon=EPSILON, lower_bound=LOWER, upper_bound=UPPER, dtype="float").quick_result(listed), truth.of_mean, 2), ""
    yield "median", *measure(lambda: Median(epsilon=EPSILON, lower_bound=LOWER, upper_bound=UPPER, dtype="float").quick_result(listed), truth.of_median, 2), ""


def ten_million(build):
    """Python's share of the C++ speed: CPU time of both, best of several."""
    from discreet import mechanisms as m

    program = pathlib.Path(build) / "bin/bench_release"
    if not program.exists():
        print(f"(no {program}: build it for the comparison with C++)")
        return
    out = subprocess.run([program, "--benchmark_format=json", "--benchmark_repetitions=3"], capture_output=True, text=True, check=True).stdout
    cpp = {}
    for b in json.loads(out)["benchmarks"]:
        if b["run_type"] == "iteration":
            cpp[b["run_name"]] = min(cpp.get(b["run_name"], 1e9), b["cpu_time"] / 1000)
    n = 10_000_000
    whole, real = np.zeros(n, dtype=np.int64), np.zeros(n)
    laplace, gaussian = m.Laplace(epsilon=0.1), m.Gaussian(rho=0.005)
    print(f"\n{'10^7 values':<22}{'C++, s':>10}{'Python, s':>12}{'share of C++ speed':>22}")
    for name, run in (("LaplaceRelease", lambda: laplace.release(whole)), ("LaplaceReleaseReal", lambda: laplace.release(real)),
                      ("GaussianRelease", lambda: gaussian.release(whole))):
        mine, _ = measure(run, lambda answer: 0.0, 3)
        print(f"{name:<22}{cpp[name]:>10.3f}{mine:>12.3f}{100 * cpp[name] / mine:>20.0f} %")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--build", default="build")
    build = arguments.parse_args().build
    sys.path.insert(0, str(pathlib.Path(build).resolve() / "python"))
    rows = np.random.default_rng(1).normal(50, 15, ROWS).clip(LOWER, np.nextafter(UPPER, 0))  # on no edge, where libraries differ
    truth = Truth(rows)
    found = {}
    print(f"{'task':<20}{'library':<14}{'CPU s':>10}{'times ours':>12}{'error':>14}   remark")
    for library, tasks in (("Discreet", discreet_tasks), ("OpenDP", opendp_tasks), ("diffprivlib", diffprivlib_tasks), ("python-dp", python_dp_tasks)):
        try:
            for task, seconds, error, remark in tasks(rows, truth):
                ours = found.setdefault(task, seconds)
                print(f"{task:<20}{library:<14}{seconds:>10.4f}{seconds / ours:>12.1f}{error:>14.4g}   {remark}", flush=True)
        except ImportError as missing:
            print(f"{'':<20}{library:<14}not installed: {missing}")
    ten_million(build)


if __name__ == "__main__":
    main()
