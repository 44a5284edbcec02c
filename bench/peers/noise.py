#!/usr/bin/env python3
"""Samples a second of the same noise distributions: Discreet beside OpenDP, diffprivlib, python-dp and numpy.

One core, one run, bulk interfaces where a library has one. numpy's generators are floating point, seeded and
not for release; they show what unprotected arithmetic costs. The spread of each library's samples stands beside its
speed, so that noise of another size cannot pass for faster noise.

usage: noise.py --build build        (bench/peers/run.sh makes the environment)
"""
import argparse
import json
import math
import subprocess
import time


def rate(draw, count, least_seconds=0.5):
    """Samples per second of CPU time of draw(), which returns `count`; repeats until the clock is trustworthy."""
    draw()
    done, began = 0, time.process_time()
    while time.process_time() - began < least_seconds:
        samples = draw()
        done += count
    return done / (time.process_time() - began), samples


def spread(samples):
    mean = sum(samples) / len(samples)
    return math.sqrt(sum((s - mean) ** 2 for s in samples) / len(samples))


def discreet(build):
    """Bulk draws measured by the benchmark program: name -> samples a second."""
    out = subprocess.run([f"{build}/bin/bench_noise", "--benchmark_filter=Many", "--benchmark_format=json"],
                         capture_output=True, text=True, check=True).stdout
    return {b["name"]: b["items_per_second"] for b in json.loads(out)["benchmarks"]}


def numpy_rows(scale):
    import numpy as np
    rng = np.random.default_rng(1)
    n = 1_000_000
    yield "laplace", "numpy (not private)", *rate(lambda: rng.laplace(0, scale, n), n)
    yield "gaussian", "numpy (not private)", *rate(lambda: rng.normal(0, scale, n), n)


def opendp_rows(scale):
    import opendp.prelude as dp
    dp.enable_features("contrib")
    n = 20_000
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    laplace = dp.m.make_laplace(*space, scale=float(scale))
    yield "laplace", "OpenDP", *rate(lambda: laplace([0] * n), n)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    gaussian = dp.m.make_gaussian(*space, scale=float(scale))
    yield "gaussian", "OpenDP", *rate(lambda: gaussian([0] * n), n)


def diffprivlib_rows(scale):
    from diffprivlib.mechanisms import GaussianDiscrete, Geometric
    n = 5_000
    geometric = Geometric(epsilon=1 / scale, sensitivity=1)
    yield "laplace", "diffprivlib", *rate(lambda: [geometric.randomise(0) for _ in range(n)], n)
    # It takes (epsilon, delta) and not sigma: this pair gives a sigma near the wanted one.
    gaussian = GaussianDiscrete(epsilon=4.22 / scale, delta=1e-6, sensitivity=1)
    yield "gaussian", "diffprivlib", *rate(lambda: [gaussian.randomise(0) for _ in range(n)], n)


def python_dp_rows(scale):
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism
    n = 20_000
    laplace = LaplaceMechanism(epsilon=1 / scale, sensitivity=1)
    yield "laplace", "python-dp (Google)", *rate(lambda: [laplace.add_noise(0) for _ in range(n)], n)
    gaussian = GaussianMechanism(4.22 / scale, 1e-6, 1)
    yield "gaussian", "python-dp (Google)", *rate(lambda: [gaussian.add_noise(0) for _ in range(n)], n)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build")
    options.add_argument("--scale", type=int, default=10)
    args = options.parse_args()
    ours = discreet(args.build)
    mine = {"laplace": ours[f"DiscreteLaplaceMany/{args.scale}"], "gaussian": ours[f"DiscreteGaussianMany/{args.scale}"]}

    print(f"scale {args.scale}, one core\n{'noise':9} {'library':22} {'samples/s':>14} {'spread':>8} {'Discreet is':>12}")
    for noise, speed in mine.items():
        print(f"{noise:9} {'Discreet (exact, AES)':22} {speed:14,.0f} {'':8} {'':>12}")
    for rows in (opendp_rows, diffprivlib_rows, python_dp_rows, numpy_rows):
        try:
            for noise, library, speed, samples in rows(args.scale):
                print(f"{noise:9} {library:22} {speed:14,.0f} {spread(list(samples)):8.2f} {mine[noise] / speed:10,.1f} x")
        except Exception as error:  # a peer that does not install or run is named, not left out silently
            print(f"{rows.__name__.replace('_rows', ''):9} could not be measured: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
