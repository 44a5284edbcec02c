#!/usr/bin/env python3
"""Twins of ADULT and of the NIST ACS table: Discreet beside dpmm, as error, CPU seconds and memory, with ratios.

Everybody gets the same table, epsilon, delta = 1/n^2 and add/remove neighbours, and is scored by the same function. Workloads are
ADULT's RAP-64, 64 three-ways of NIST drawn by the script, and all three-ways of at most as many cells as rows; Discreet's methods and
AIM are told the workload; MST knows none, so its one twin is scored on each.
Known faults of the peers are worked around, so that the comparison is fair to them:
dpmm's AIM with an 80 MB model does not finish in minutes: it gets 2 MB, 200 mirror steps a round and 2,000 at the end; its pipeline
hands on no workload, so that is put in.

Every run is a process of its own with a limit of CPU time; its figures are kept in build/peers-synth.jsonl, and a run that is there is
not done again, so an interrupted comparison goes on where it was. synth_opendp.py and synth_smartnoise.py (whose packages do not
install beside these) add to the same file, and each prints the table of everything in it.

usage: synth.py --build build [--data ../shared/data] [--table adult|nist] [--epsilon 1] [--only TEXT] [--limit 900] [--print]
(without --table and --epsilon: both tables at 0.1, 1 and 10; a peer that cannot be imported or fails is named with its reason)
"""
import argparse
import csv
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from itertools import combinations

import numpy as np

FILES = {"adult": ("adult.csv", "adult-domain.json"), "nist": ("nist_acs_national2019_coded.csv", "nist_acs-domain.json")}


def read(path):
    with open(path) as f:
        rows = list(csv.reader(f))
    return rows[0], np.array(rows[1:], dtype=np.int64)


def score(job, twin, marginals):
    """Largest cell error and mean total variation, as fractions of each table's own rows."""
    worst, tvd = 0.0, 0.0
    at = {name: i for i, name in enumerate(job["names"])}
    for marginal in marginals:
        shape = [job["domain"][c] for c in marginal]
        cells = int(np.prod(shape))
        counts = []
        for rows in (job["real"], twin):
            index = np.ravel_multi_index([rows[:, at[c]] for c in marginal], shape)
            counts.append(np.bincount(index, minlength=cells) / len(rows))
        gap = np.abs(counts[0] - counts[1])
        worst, tvd = max(worst, gap.max()), tvd + gap.sum() / 2 / len(marginals)
    return round(float(worst), 5), round(float(tvd), 5)


def cpu(children=False):
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def discreet(job, method, extra, workload):
    with tempfile.TemporaryDirectory() as folder:
        wanted = os.path.join(folder, "w.json")
        with open(wanted, "w") as f:
            json.dump({"marginals": job["workloads"][workload]}, f)
        out = os.path.join(folder, "twin.csv")
        before = cpu(True)
        subprocess.run([job["binary"], "synth", "fit", job["csv"], "--domain", job["domain_file"], "--workload", wanted, "--epsilon",
                        str(job["epsilon"]), "--delta", repr(job["delta"]), "--method", method, "--out", out, *extra],
                       check=True, capture_output=True)
        return read(out)[1], cpu(True) - before


def dpmm_twin(job, kind, workload=None):
    import dpmm.models.aim
    import pandas as pd
    from dpmm.pipelines import AIMPipeline, MSTPipeline
    frame = pd.DataFrame(job["real"], columns=job["names"])
    domain = dict(job["domain"])
    options = {"epsilon": job["epsilon"], "delta": job["delta"], "disable_processing": True}
    before = cpu()
    if kind == "aim":
        rounds = dpmm.models.aim.AIM._fit

        def fit(self, data, public=False):
            done = rounds(self, data, public, [(tuple(m), 1.0) for m in job["workloads"][workload]])
            self.n_iters = 2000
            return done
        dpmm.models.aim.AIM._fit = fit
        pipe = AIMPipeline(**options, max_model_size=2, gen_kwargs={"n_iters": 200})
    else:
        pipe = MSTPipeline(**options, gen_kwargs={"n_iters": 5000})
    pipe.fit(frame, domain)
    twin = pipe.generate(n_records=len(frame))
    return twin[job["names"]].to_numpy(dtype=np.int64), cpu() - before


def dpmm_runs(job):
    """(label, workloads it is scored on, function)"""
    return [("dpmm MST", list(job["workloads"]), lambda: dpmm_twin(job, "mst")),
            *(("dpmm AIM, 2 MB", [w], lambda w=w: dpmm_twin(job, "aim", w)) for w in job["workloads"])]


def our_runs(job):
    runs = []
    for workload in job["workloads"]:
        for label, method, extra in (("discreet auto", "auto", []), ("discreet auto --fast", "auto", ["--fast"]),
                                     ("discreet aim", "aim", []), ("discreet mst", "mst", [])):
            runs.append((label, [workload], lambda m=method, e=extra, w=workload: discreet(job, m, e, w)))
    return runs


def in_child(job, workloads, run, pipe):
    try:
        twin, seconds = run()
        used = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        pipe.send([{"workload": w, "errors": score(job, twin, job["workloads"][w]), "cpu": round(seconds, 2), "mb": used // 1024}
                   for w in workloads])
    except BaseException as error:  # a peer's failure is a result too
        pipe.send([{"workload": w, "failed": f"{type(error).__name__}: {' '.join(str(error).split())[-200:]}"} for w in workloads])


def limited(job, workloads, run, limit):
    before = cpu(True)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        in_child(job, workloads, run, theirs)

    process = context.Process(target=child)
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        process.join()
        return [{"workload": w, "failed": f"stopped after {cpu(True) - before:.0f} s of CPU"} for w in workloads]
    finally:
        process.join()


def load(args, table):
    path, domain_file = (os.path.join(args.data, name) for name in FILES[table])
    if not os.path.exists(path):
        return None
    names, real = read(path)
    with open(domain_file) as f:
        domain = json.load(f)
    every = [list(c) for c in combinations(names, 3) if np.prod([domain[n] for n in c]) <= len(real)]
    if table == "adult":
        with open(os.path.join(args.data, "adult-rap64.json")) as f:
            some = json.load(f)["marginals"]
    else:
        some = [every[i] for i in np.random.RandomState(0).choice(len(every), 64, replace=False)]
    return {"csv": path, "domain_file": domain_file, "domain": domain, "names": names, "real": real,
            "binary": os.path.join(args.build, "bin", "discreet"), "delta": len(real) ** -2.0,
            "workloads": {"64 three-ways": some, f"all {len(every)}": every}}


def known(path):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(line) for line in f]


def table_of(results):
    """Means over runs; the ratio columns say how many times auto's error and CPU time a method has."""
    groups = {}
    for r in results:
        groups.setdefault((r["table"], r["workload"], r["epsilon"]), {}).setdefault(r["label"], []).append(r)
    for key in sorted(groups):
        print(f"\n{key[0]}, {key[1]}, epsilon {key[2]:g}: max error / mean TVD (runs)      CPU s     MB   times auto: max, TVD, CPU")
        means = {}
        for label, rows in groups[key].items():
            good = [r for r in rows if "errors" in r]
            if good:
                means[label] = (np.mean([r["errors"] + [r["cpu"], r["mb"]] for r in good], axis=0), len(good))
            else:
                print(f"  {label:26s} failed: {rows[-1]['failed']}")
        base = means.get("discreet auto")
        for label, (mean, runs) in means.items():
            ratios = "  ".join(f"{a / b:7.2f}" for a, b in zip(mean[:3], base[0][:3])) if base else ""
            print(f"  {label:26s} {mean[0]:.4f} / {mean[1]:.4f} ({runs})  {mean[2]:8.1f}  {mean[3]:6.0f}   {ratios}")
    behind = sum(1 for r in groups.values() if "discreet auto" in r and any(
        np.any(np.mean([x["errors"] for x in rows if "errors" in x], axis=0) <
               np.mean([x["errors"] for x in r["discreet auto"] if "errors" in x], axis=0))
        for label, rows in r.items() if not label.startswith("discreet") and any("errors" in x for x in rows)))
    print(f"\ntables where a peer is ahead of auto in either error: {behind} of {len(groups)}")


def main(peers=dpmm_runs):
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "data"))
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--table", action="append", choices=sorted(FILES))
    parser.add_argument("--only", default="", help="runs whose label has this in it")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds of one run")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="the table of what is known, no runs")
    args = parser.parse_args()
    file = os.path.join(args.build, "peers-synth.jsonl")
    tables = args.table or sorted(FILES)
    for epsilon in [] if args.print else args.epsilon or [1.0, 0.1, 10.0]:
        for table in tables:
            job = load(args, table)
            if job is None:
                print("the shared data folder is not beside this checkout: nothing to compare")
                return
            job["epsilon"] = epsilon
            for label, workloads, run in our_runs(job) + peers(job):
                if args.only not in label:
                    continue
                for again in range(args.runs):
                    if all(sum(1 for r in known(file) if (r["table"], r["epsilon"], r["label"], r["workload"]) ==
                               (table, epsilon, label, w)) > again for w in workloads):
                        continue
                    for result in limited(job, workloads, run, args.limit):
                        line = {"table": table, "epsilon": epsilon, "label": label, **result}
                        with open(file, "a") as f:
                            f.write(json.dumps(line) + "\n")
                        print(json.dumps(line), file=sys.stderr)
    table_of(known(file))


if __name__ == "__main__":
    main()
