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
import os
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


def bits(report):
    """A report as one word: tuples and arrays of bits end to end."""
    parts = report if isinstance(report, tuple) else (report,)
    return "".join("".join(str(int(b)) for b in p) if hasattr(p, "__len__") and not isinstance(p, str) else f"/{p}" for p in parts)


def pure_ldp_rappor(side):
    from pure_ldp.frequency_oracles.rappor import RAPPORClient
    # Two values, one hash function each: the first bit for the one, the second for the other.
    client = RAPPORClient(f=0.5, m=2, hash_funcs=[[lambda text: int(text) % 2]], num_of_cohorts=1)
    return lambda: bits(client.privatise(1 + side))


def pure_ldp_oue(side):
    from pure_ldp.frequency_oracles.unary_encoding import UEClient
    client = UEClient(EPSILON, 4, use_oue=True)
    return lambda: bits(client.privatise(1 + side))


def pure_ldp_hadamard(side):
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    server = HadamardResponseServer(EPSILON, 4)
    client = HadamardResponseClient(EPSILON, 4, hash_funcs=server.get_hash_funcs())
    return lambda: bits(client.privatise(1 + side))


def multi_freq_grr(side):
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    return lambda: int(GRR_Client(side, 4, EPSILON))


def multi_freq_oue(side):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
    return lambda: bits(UE_Client(side, 4, EPSILON, optimal=True))


RAPPOR_EPSILON = 2 * math.log(0.75 / 0.25)  # f = 1/2, one bit of each value differs

SUBJECTS = {  # name: (maker, runs, must be refuted or None where we only report, its claim where that is not EPSILON)
    "textbook Laplace, doubles": (textbook_laplace, 100_000, True),
    "half the noise": (half_noise, 100_000, True),
    "numpy.random.laplace": (numpy_laplace, 100_000, True),
    "diffprivlib Laplace": (diffprivlib_laplace, 50_000, None),
    "diffprivlib Geometric": (diffprivlib_geometric, 50_000, None),
    "OpenDP Laplace, integers": (opendp_laplace, 50_000, None),
    "python-dp Count": (python_dp_count, 30_000, None),
    "pure-LDP RAPPOR client": (pure_ldp_rappor, 30_000, True, RAPPOR_EPSILON),
    "pure-LDP OUE client": (pure_ldp_oue, 30_000, None),
    "pure-LDP Hadamard client": (pure_ldp_hadamard, 30_000, None),
    "multi-freq-ldpy GRR client": (multi_freq_grr, 30_000, None),
    "multi-freq-ldpy OUE client": (multi_freq_oue, 30_000, None),
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
        sys.stdout.write("\n".join(str(run()) for _ in range(arguments.count)) + "\n")
        return 0
    # The clients for local privacy need older packages than the others: they have an environment of their own.
    here = os.path.dirname(os.path.abspath(__file__))
    local = os.path.join(arguments.build, "peers-local")
    subprocess.run([os.path.join(here, "../../tools/setup/venv.sh"), local, os.path.join(here, "requirements-local.txt")], check=True)
    print(f"{'subject':28} {'claims':>7} {'at least':>9}  verdict   event")
    missed = 0
    for name, (_, runs, must, *claim) in SUBJECTS.items():
        python = os.path.join(local, "bin/python") if "LDP" in name or "ldpy" in name else sys.executable
        command = f"{python} {__file__} --subject '{name}' --side {{side}} --count {{count}}"
        done = subprocess.run([f"{arguments.build}/bin/discreet", "audit", "--exec", command, "--claimed", str(claim[0] if claim else EPSILON),
                               "--trials", str(runs), "--json"], capture_output=True, text=True)
        if not done.stdout.startswith("{"):
            print(f"{name:28} {'':>7} {'':>9}  not run   {done.stderr.strip().splitlines()[-1][-90:]}")
            missed += bool(must)
            continue
        found = json.loads(done.stdout)
        print(f"{name:28} {found['claimed']:7.3g} {found['lower_bound']:9.3f}  {found['verdict']:8}  {found['event']}", flush=True)
        missed += bool(must) and found["verdict"] != "refuted"
    print(f"{missed} programs that must be refuted were not")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
