#!/usr/bin/env python3
"""Released libraries under `discreet audit --exec`: what their noise gives away, beside broken programs that must be caught.

Each subject releases a count of 0 or of 1 (neighbouring data) with epsilon 1, once a line. The audit looks at values and at
their last bits. "refuted" means a lower bound on epsilon above the claim, wrong with chance at most 1e-9.

usage: audit.py --build build        (bench/peers/run.sh makes the environment)
       audit.py --subject NAME --side 0|1 --count N      one subject's runs; what --exec calls
"""
import argparse
import json
import math
import random
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
EPSILON = 1.0


def textbook_laplace(side):
    def run():
        u = random.random() - 0.5
        return side - math.copysign(1, u) * math.log1p(-2 * abs(u)) / EPSILON
    return run


def half_noise(side):
    def run():
        u = random.random() - 0.5
        return round(side - math.copysign(1, u) * math.log1p(-2 * abs(u)) / (2 * EPSILON))
    return run


def numpy_laplace(side):
    import numpy
    generator = numpy.random.default_rng()
    return lambda: float(side + generator.laplace(0, 1 / EPSILON))


def diffprivlib_laplace(side):
    from diffprivlib.mechanisms import Laplace
    mechanism = Laplace(epsilon=EPSILON, sensitivity=1)
    return lambda: mechanism.randomise(float(side))


def diffprivlib_geometric(side):
    from diffprivlib.mechanisms import Geometric
    mechanism = Geometric(epsilon=EPSILON, sensitivity=1)
    return lambda: mechanism.randomise(side)


def opendp_laplace(side):
    import opendp.prelude as dp
    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    mechanism = dp.m.make_laplace(*space, scale=1 / EPSILON)
    return lambda: mechanism(side)


def python_dp_count(side):
    from pydp.algorithms.laplacian import Count
    def run():
        return Count(epsilon=EPSILON, dtype="int").quick_result([1] * (5 + side))
    return run


SUBJECTS = {  # name: (maker, runs, must be refuted, or None where we only report)
    "textbook Laplace, doubles": (textbook_laplace, 100_000, True),
    "half the noise": (half_noise, 100_000, True),
    "numpy.random.laplace": (numpy_laplace, 100_000, True),
    "diffprivlib Laplace": (diffprivlib_laplace, 50_000, None),
    "diffprivlib Geometric": (diffprivlib_geometric, 50_000, None),
    "OpenDP Laplace, integers": (opendp_laplace, 50_000, None),
    "python-dp Count": (python_dp_count, 30_000, None),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--subject")
    parser.add_argument("--side", type=int)
    parser.add_argument("--count", type=int)
    arguments = parser.parse_args()
    if arguments.subject:
        run = SUBJECTS[arguments.subject][0](arguments.side)
        sys.stdout.write("\n".join(repr(run()) for _ in range(arguments.count)) + "\n")
        return 0
    print(f"{'subject':28} {'claims':>7} {'at least':>9}  verdict   event")
    missed = 0
    for name, (_, runs, must) in SUBJECTS.items():
        command = f"{sys.executable} {__file__} --subject '{name}' --side {{side}} --count {{count}}"
        done = subprocess.run([f"{arguments.build}/bin/discreet", "audit", "--exec", command, "--claimed", str(EPSILON),
                               "--trials", str(runs), "--json"], capture_output=True, text=True)
        if not done.stdout.startswith("{"):
            print(f"{name:28} {'':>7} {'':>9}  not run   {done.stderr.strip()[-90:]}")
            continue
        found = json.loads(done.stdout)
        print(f"{name:28} {found['claimed']:7.3g} {found['lower_bound']:9.3f}  {found['verdict']:8}  {found['event']}", flush=True)
        missed += bool(must) and found["verdict"] != "refuted"
    print(f"{missed} programs that must be refuted were not")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
