#!/usr/bin/env python3
"""Twins of ADULT (RAP-64) and of the NIST table: Discreet beside dpmm, in one run, as error and CPU seconds.

Everybody gets the same table, workload, epsilon, delta = 1/n^2 and add/remove neighbours, and is scored by the same function.
Known faults of the peers are worked around, so that the comparison is fair to them:
dpmm's AIM with an 80 MB model does not finish in minutes: it gets 2 MB, 200 mirror steps a round and 2,000 at the end.

usage: synth.py --build build [--data ../shared/data] [--epsilon 1] [--quick] [--table adult|nist]
(bench/peers/run.sh makes the environment; a peer that cannot be imported or fails is named with its reason; OpenDP needs other versions
of the same packages and has synth_opendp.py; smartnoise-synth needs a dependency that is not on PyPI, so it is not here)
"""
import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np


def read(path):
    with open(path) as f:
        rows = list(csv.reader(f))
    return rows[0], np.array(rows[1:], dtype=np.int64)


def score(names, real, twin, domain, marginals):
    """Largest cell error and mean total variation, as fractions of each table's own rows."""
    worst, tvd = 0.0, 0.0
    at = {name: i for i, name in enumerate(names)}
    for marginal in marginals:
        shape = [domain[c] for c in marginal]
        cells = int(np.prod(shape))
        counts = []
        for rows in (real, twin):
            index = np.ravel_multi_index([rows[:, at[c]] for c in marginal], shape)
            counts.append(np.bincount(index, minlength=cells) / len(rows))
        gap = np.abs(counts[0] - counts[1])
        worst, tvd = max(worst, gap.max()), tvd + gap.sum() / 2 / len(marginals)
    return worst, tvd


def cpu(children=False):
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def discreet(binary, method, extra, job):
    with tempfile.TemporaryDirectory() as folder:
        workload = os.path.join(folder, "w.json")
        json.dump({"marginals": job["marginals"]}, open(workload, "w"))
        out = os.path.join(folder, "twin.csv")
        before = cpu(True)
        subprocess.run([binary, "synth", "fit", job["csv"], "--domain", job["domain_file"], "--workload", workload, "--epsilon",
                        str(job["epsilon"]), "--delta", repr(job["delta"]), "--method", method, "--out", out, *extra],
                       check=True, capture_output=True)
        return read(out)[1], cpu(True) - before


def dpmm_twin(job, kind):
    import pandas as pd
    from dpmm.pipelines import AIMPipeline, MSTPipeline
    frame = pd.DataFrame(job["real"], columns=job["names"])
    domain = {name: size for name, size in job["domain"].items()}
    options = {"epsilon": job["epsilon"], "delta": job["delta"], "disable_processing": True}
    before = cpu()
    if kind == "aim":
        pipe = AIMPipeline(**options, max_model_size=2, gen_kwargs={"degree": 3, "n_iters": 200})
    else:
        pipe = MSTPipeline(**options, gen_kwargs={"n_iters": 5000})
    pipe.fit(frame, domain)
    twin = pipe.generate(n_records=len(frame))
    return twin[job["names"]].to_numpy(dtype=np.int64), cpu() - before


def dpmm_runs(job, quick):
    runs = [("dpmm MST", lambda: dpmm_twin(job, "mst"))]
    if not quick:
        runs.append(("dpmm AIM, 2 MB", lambda: dpmm_twin(job, "aim")))
    return runs


def main(peers=dpmm_runs):
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "data"))
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--table", default="adult", choices=["adult", "nist"])
    parser.add_argument("--quick", action="store_true", help="leave out AIM of dpmm, which takes minutes")
    args = parser.parse_args()
    prefix = {"adult": "adult", "nist": "nist_acs"}[args.table]
    path = os.path.join(args.data, "adult.csv" if args.table == "adult" else "nist_acs_national2019_coded.csv")
    if not os.path.exists(path):
        print("the shared data folder is not beside this checkout: nothing to compare")
        return
    names, real = read(path)
    domain_file = os.path.join(args.data, f"{prefix}-domain.json")
    domain = json.load(open(domain_file))
    if args.table == "adult":
        marginals = json.load(open(os.path.join(args.data, "adult-rap64.json")))["marginals"]
    else:
        from itertools import combinations
        every = [c for c in combinations(names, 3) if np.prod([domain[n] for n in c]) <= len(real)]
        marginals = [list(every[i]) for i in np.random.RandomState(0).choice(len(every), 64, replace=False)]
    print(f"{args.table}: {len(real)} rows, {len(marginals)} marginals, delta 1/n^2, add/remove; max error / mean TVD, CPU s")
    binary = os.path.join(args.build, "bin", "discreet")
    for epsilon in args.epsilon or [1.0]:
        job = {"csv": path, "domain_file": domain_file, "domain": domain, "names": names, "real": real, "marginals": marginals,
               "epsilon": epsilon, "delta": len(real) ** -2.0}
        runs = [("discreet auto", lambda: discreet(binary, "auto", [], job)),
                ("discreet auto --fast", lambda: discreet(binary, "auto", ["--fast"], job)),
                ("discreet aim", lambda: discreet(binary, "aim", [], job)),
                ("discreet mst", lambda: discreet(binary, "mst", [], job))]
        runs += peers(job, args.quick)
        for label, run in runs:
            began = time.time()
            try:
                twin, seconds = run()
                worst, tvd = score(names, real, twin, domain, marginals)
                print(f"epsilon {epsilon:<5g} {label:24s} {worst:.4f} / {tvd:.4f}  {seconds:7.1f} s CPU, {time.time() - began:6.1f} s")
            except Exception as error:  # a peer's failure is a result too
                print(f"epsilon {epsilon:<5g} {label:24s} failed: {type(error).__name__}: {str(error)[:160]}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
