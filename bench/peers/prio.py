#!/usr/bin/env python3
"""Prio3 beside libprio-rs (crate `prio`, built here by cargo): CPU microseconds of one thread, a report.

    bench/peers/prio.py --build build [--rounds 3]

Both programs run in turn, several rounds; each figure is the best of them, so that a busy machine is no excuse.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
STAGES = ["shard", "verify_init_leader", "verify_init_helper", "shares_to_message", "verify_next_helper", "aggregate",
          "noise"]


def ours(binary):
    done = subprocess.run([binary, "--benchmark_format=json", "--benchmark_min_time=0.2",
                           "--benchmark_filter=^(Count|Sum32|SumVec1000|Histogram1000)/"],
                          check=True, capture_output=True, text=True)
    return {tuple(b["name"].split("/")): b["cpu_time"] for b in json.loads(done.stdout)["benchmarks"]}


def theirs(binary):
    done = subprocess.run([binary], check=True, capture_output=True, text=True)
    return {(line["case"], line["stage"]): line["us"] for line in map(json.loads, done.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if not shutil.which("cargo"):
        print("cargo is not installed: libprio-rs cannot be built, nothing is compared")
        return 0
    target = os.path.join(os.path.abspath(arguments.build), "cargo")
    subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", f"{HERE}/prio/Cargo.toml",
                    "--target-dir", target], check=True)
    best = [{}, {}]
    for _ in range(arguments.rounds):
        for into, measured in zip(best, (ours(f"{arguments.build}/bin/bench_prio"),
                                         theirs(f"{target}/release/prio-peer"))):
            for key, value in measured.items():
                into[key] = min(value, into.get(key, value))
    print(f"{'':16}{'step':22}{'discreet us':>12}{'libprio-rs us':>15}{'ratio':>8}")
    for case in ("Histogram1000", "SumVec1000", "Sum32", "Count"):
        for stage in STAGES:
            if (case, stage) in best[0] and (case, stage) in best[1]:
                a, b = best[0][case, stage], best[1][case, stage]
                print(f"{case:16}{stage:22}{a:12.3f}{b:15.3f}{b / a:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
