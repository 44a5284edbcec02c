#!/usr/bin/env python3
"""Error of a cell of all 1-, 2- and 3-way marginals at equal rho: Discreet beside OpenDP and Tumult.

OpenDP and Tumult answer each table by itself, so each gets an even share of rho; neither has a planner for sets of
marginals, nor makes the answers add up. Their noise is the same in every table, so a sample of tables tells the error of
all: every table of one and two attributes and `--tables` random ones of three for OpenDP, a few for Tumult (each is a Spark
job). Discreet's figures are of all tables (bench_tables): as released, and whole, non-negative and consistent.

usage: tables.py --build build [--data FOLDER] [--epsilon 1] [--tables 40]       (bench/peers/run.sh makes the environment)
"""
import argparse
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {"adult": ("adult.csv", "adult-domain.json"), "nist": ("nist_acs_national2019_coded.csv", "nist_acs-domain.json")}


def load(folder, name):
    import numpy as np
    csv, domain = FILES[name]
    with open(os.path.join(folder, csv)) as file:
        header = file.readline().strip().split(",")
    rows = np.loadtxt(os.path.join(folder, csv), delimiter=",", skiprows=1, dtype=np.int64)
    with open(os.path.join(folder, domain)) as file:
        sizes = json.load(file)
    return rows, header, [sizes[column] for column in header]


def zcdp(epsilon, delta):
    """The greatest rho that implies (epsilon, delta): Canonne, Kamath and Steinke 2020, Proposition 12."""
    def delta_of(rho):
        return min(math.exp((a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a)) / (a - 1)
                   for a in (1 + 10 ** (x / 200) for x in range(-400, 1000)) if (a - 1) * (a * rho - epsilon) < 700)
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) <= delta else (low, middle)
    return low


def tables_of(sizes, extra, seed=1):
    chosen = [c for k in (1, 2) for c in itertools.combinations(range(len(sizes)), k)]
    three = list(itertools.combinations(range(len(sizes)), 3))
    random.Random(seed).shuffle(three)
    small = [c for c in three if math.prod(sizes[i] for i in c) <= 5000]
    return chosen[:60] + small[:extra], 1 + sum(math.comb(len(sizes), k) for k in (1, 2, 3))


def count(rows, sizes, columns):
    import numpy as np
    cell = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        cell = cell * sizes[column] + rows[:, column]
    return np.bincount(cell, minlength=math.prod(sizes[c] for c in columns))


def opendp(rows, sizes, rho, extra):
    import opendp.prelude as dp
    dp.enable_features("contrib")
    tables, all_tables = tables_of(sizes, extra)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    noise = dp.m.make_gaussian(*space, scale=math.sqrt(all_tables / (2 * rho)))
    # One record moves one cell of a table by one.
    assert noise.map(1.0) <= rho / all_tables * (1 + 1e-9)
    squares = cells = by_table = 0
    for columns in tables:
        exact = count(rows, sizes, columns)
        error = sum((int(n) - int(e)) ** 2 for n, e in zip(noise(exact.tolist()), exact))
        squares, cells, by_table = squares + error, cells + len(exact), by_table + error / len(exact)
    return math.sqrt(squares / cells), math.sqrt(by_table / len(tables)), f"{len(tables)} of {all_tables} tables"


TUMULT = r"""
import json, math, os, sys, tempfile
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
import pandas as pd
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, QueryBuilder, RhoZCDPBudget, Session
job = json.load(sys.stdin)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.warehouse.dir", tempfile.mkdtemp(prefix="discreet-tumult-")).config("spark.sql.shuffle.partitions", "2").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
frame = spark.createDataFrame(pd.DataFrame(job["rows"], columns=job["names"]))
session = Session.from_dataframe(RhoZCDPBudget(job["rho"]), "t", frame, AddOneRow())
squares = cells = by_table = 0
for columns in job["tables"]:
    keys = KeySet.from_dict({name: list(range(size)) for name, size in columns})
    query = QueryBuilder("t").groupby(keys).count(name="n")
    noisy = session.evaluate(query, RhoZCDPBudget(job["rho"] / job["all"])).toPandas()
    exact = pd.DataFrame(job["rows"], columns=job["names"]).groupby([name for name, _ in columns]).size()
    exact = exact.to_dict()
    error = 0
    for row in noisy.itertuples(index=False):
        key = tuple(row[:-1]) if len(columns) > 1 else row[0]
        error += (row[-1] - exact.get(key, 0)) ** 2
    squares, cells, by_table = squares + error, cells + len(noisy), by_table + error / len(noisy)
print(json.dumps([math.sqrt(squares / cells), math.sqrt(by_table / len(job["tables"]))]))
"""


def tumult(build, rows, header, sizes, rho):
    """Its own environment: Spark pins other versions. None where it does not install or run."""
    folder = os.path.join(build, "peers-tumult")
    try:
        subprocess.run([os.path.join(HERE, "../../tools/setup/venv.sh"), folder,
                        os.path.join(HERE, "requirements-tumult.txt")], check=True, stdout=sys.stderr)
        names = [f"c{i}" for i in range(len(header))]
        small = [c for c in itertools.combinations(range(len(sizes)), 2) if math.prod(sizes[i] for i in c) <= 400][:4]
        job = {"rows": rows[:, :].tolist(), "names": names, "rho": rho,
               "all": 1 + sum(math.comb(len(sizes), k) for k in (1, 2, 3)),
               "tables": [[[names[i], sizes[i]] for i in c] for c in small]}
        out = subprocess.run([os.path.join(folder, "bin/python"), "-c", TUMULT], input=json.dumps(job),
                             capture_output=True, text=True, timeout=900)
        if out.returncode != 0:
            print(f"Tumult did not run: {out.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
        over_cells, over_tables = json.loads(out.stdout.strip().splitlines()[-1])
        return over_cells, over_tables, f"{len(small)} of {job['all']} tables"
    except (subprocess.SubprocessError, OSError) as error:
        print(f"Tumult did not install: {error}", file=sys.stderr)
        return None


def discreet(build, folder, table, epsilon):
    out = subprocess.run([f"{build}/bin/bench_tables", "--data", folder, "--table", table, "--epsilon", str(epsilon),
                          "--independent", "no"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"released ([\d.]+) / ([\d.]+).*whole ([\d.]+) / ([\d.]+)", out)
    return [float(x) for x in found.groups()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--epsilon", type=float, nargs="*", default=[0.1, 1, 10])
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--only", choices=list(FILES))
    parser.add_argument("--no-tumult", action="store_true")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(arguments.data, "adult.csv")):
        print("the data are not here; give --data FOLDER")
        return
    print("standard error of a cell, root mean square over cells / over tables")
    for table in [arguments.only] if arguments.only else FILES:
        rows, header, sizes = load(arguments.data, table)
        for epsilon in arguments.epsilon:
            rho = zcdp(epsilon, len(rows) ** -2.0)
            print(f"{table}, epsilon {epsilon:g}, rho {rho:.5g}")
            for name, found in (("OpenDP, each table alone", opendp(rows, sizes, rho, arguments.tables)),
                                ("Tumult, each table alone", None if arguments.no_tumult else
                                 tumult(arguments.build, rows, header, sizes, rho))):
                if found:
                    print(f"  {name:<34} {found[0]:9.2f} / {found[1]:9.2f}   ({found[2]})")
            released = discreet(arguments.build, arguments.data, table, epsilon)
            print(f"  {'Discreet, as released':<34} {released[0]:9.2f} / {released[1]:9.2f}   (all tables)")
            print(f"  {'Discreet, whole and consistent':<34} {released[2]:9.2f} / {released[3]:9.2f}   (all tables)",
                  flush=True)


if __name__ == "__main__":
    main()
