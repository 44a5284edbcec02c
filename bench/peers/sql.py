#!/usr/bin/env python3
"""The same questions through Discreet, OpenDP (Polars), diffprivlib, SmartNoise SQL, PipelineDP and Tumult: time and error.

A row is a person, neighbours differ by one row, keys are public, n is private, and every library gets the same (epsilon, delta) for the whole
statement (a library that charges per column is given its share, so that its odometer would show that epsilon). Data: ADULT where the
shared folder has it, and rows made here with 1,000 keys. Errors are root mean squares over cells and runs. Every library runs in an environment of its own
(their requirements exclude each other); one that cannot be installed or run is named, not left out.

usage: sql.py --build build [--rows N] [--runs N] [--only NAME]        (bench/peers/run.sh makes the environment)
"""
import argparse
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EPSILON, DELTA, KEYS, TOP = 1.0, 1e-6, 1000, 1000
# name -> (virtual environment, requirements)
PEERS = {"OpenDP": ("peers-sql", "requirements-sql.txt"), "diffprivlib": ("peers-sql", "requirements-sql.txt"),
         "SmartNoise": ("peers-smartnoise", "requirements-smartnoise.txt"), "PipelineDP": ("peers-pipelinedp", "requirements-pipelinedp.txt"),
         "Tumult": ("peers-tumult", "requirements-tumult.txt")}


# ---- data and truth: plain Python, so that every environment can make them

def write_rows(folder, rows):
    rng = random.Random(20261115)
    with open(folder / "rows.csv", "w") as out:
        out.write("key,amount\n")
        for _ in range(rows):
            out.write(f"{rng.randrange(KEYS)},{rng.randrange(TOP + 1)}\n")


def read_rows(folder):
    with open(folder / "rows.csv") as file:
        next(file)
        pairs = [line.split(",") for line in file]
    return [int(k) for k, _ in pairs], [int(v) for _, v in pairs]


def adult_file():
    for up in HERE.parents:
        file = up.parent / "shared/data/adult.csv"
        if file.exists():
            return file
    return None


def truth_of(folder):
    keys, amounts = read_rows(folder)
    count, total = [0] * KEYS, [0] * KEYS
    for key, amount in zip(keys, amounts):
        count[key] += 1
        total[key] += amount
    truth = {"count by key": count, "sum by key": total}
    if (folder / "ages.csv").exists():
        ages = [int(line) for line in open(folder / "ages.csv").read().split()[1:]]
        truth["ADULT count"] = [len(ages)]
        truth["ADULT sum(age)"] = [sum(ages)]
        truth["ADULT avg(age)"] = [sum(ages) / len(ages)]
    return truth


def rmse(runs, truth):
    squares = [(a - t) ** 2 for run in runs for a, t in zip(run, truth)]
    return math.sqrt(sum(squares) / len(squares))


def timed(ask, runs):
    """Best time of a few runs, and their answers."""
    best, answers = math.inf, []
    for _ in range(runs):
        began = time.perf_counter()
        answers.append(ask())
        best = min(best, time.perf_counter() - began)
    return best, answers


# ---- the libraries: question -> function that answers it once, as a list of cells

def opendp_questions(folder):
    import opendp.prelude as dp
    import polars as pl
    dp.enable_features("contrib")
    rows = pl.scan_csv(folder / "rows.csv")
    keys = pl.LazyFrame({"key": list(range(KEYS))}, schema={"key": pl.Int64})

    def by_key(expression, column):
        context = dp.Context.compositor(data=rows, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=EPSILON),
                                        split_evenly_over=1, margins=[dp.polars.Margin(by=("key",), max_length=10_000_000)])
        frame = context.query().group_by("key").agg(expression(dp, pl)).with_keys(keys).release().collect()
        found = dict(zip(frame["key"], frame[column]))
        return [found.get(k, 0) for k in range(KEYS)]

    yield "count by key", lambda: by_key(lambda d, p: d.len().alias("n"), "n")
    yield "sum by key", lambda: by_key(lambda d, p: p.col("amount").fill_null(0).dp.sum((0, TOP)).alias("n"), "n")
    if (folder / "ages.csv").exists():
        ages = pl.scan_csv(folder / "ages.csv")

        def scalar(expression):
            context = dp.Context.compositor(data=ages, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=EPSILON),
                                            split_evenly_over=1, margins=[dp.polars.Margin(by=(), max_length=1_000_000)])
            return [context.query().select(expression).release().collect().item()]

        yield "ADULT count", lambda: scalar(dp.len())
        yield "ADULT sum(age)", lambda: scalar(pl.col("age").fill_null(17).dp.sum((17, 90)))

        def mean():  # n is private, so a mean is a sum and a count of one statement
            context = dp.Context.compositor(data=ages, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=EPSILON),
                                            split_evenly_over=1, margins=[dp.polars.Margin(by=(), max_length=1_000_000)])
            frame = context.query().select(pl.col("age").fill_null(17).dp.sum((17, 90)).alias("s"), dp.len().alias("n")).release().collect()
            return [frame["s"][0] / max(1, frame["n"][0])]

        yield "ADULT avg(age)", mean


def diffprivlib_questions(folder):
    import warnings

    import numpy as np
    from diffprivlib import tools
    from diffprivlib.mechanisms import Geometric
    warnings.filterwarnings("ignore")

    def load():
        return np.loadtxt(folder / "rows.csv", delimiter=",", skiprows=1, dtype=np.int64)

    def counts():
        table = load()
        found, _ = tools.histogram(table[:, 0], epsilon=EPSILON, bins=KEYS, range=(0, KEYS))
        return [int(n) for n in found]

    def sums():
        table = load()
        order = np.argsort(table[:, 0], kind="stable")
        parts = np.split(table[order, 1], np.searchsorted(table[order, 0], np.arange(1, KEYS)))
        return [float(tools.sum(part, epsilon=EPSILON, bounds=(0, TOP))) for part in parts]

    yield "count by key", counts
    yield "sum by key", sums
    if (folder / "ages.csv").exists():
        def ages():
            return np.loadtxt(folder / "ages.csv", skiprows=1)
        # Its tools take the number of rows as known: a count of all of them is cut off there, and a sum is protected against a row that is
        # replaced (by upper - lower). Its mechanism for the count and bounds that hold zero make neighbours and knowledge equal to the others'.

        def count(rows, epsilon):
            return Geometric(epsilon=epsilon, sensitivity=1).randomise(len(rows))
        yield "ADULT count", lambda: [count(ages(), EPSILON)]
        yield "ADULT sum(age)", lambda: [float(tools.sum(ages(), epsilon=EPSILON, bounds=(0, 90)))]

        def mean():
            a = ages()
            return [float(tools.sum(a, epsilon=EPSILON / 2, bounds=(0, 90))) / max(1, count(a, EPSILON / 2))]
        yield "ADULT avg(age)", mean


def smartnoise_questions(folder):
    import pandas as pd
    from snsql import Privacy, from_df
    meta = {"rows": {"": {"t": {"rows": {"row_privacy": True, "censor_dims": False, "rows": 1_000_000, "key": {"type": "int"},
                                         "amount": {"type": "int", "lower": 0, "upper": TOP}}}}},
            "ages": {"": {"t": {"ages": {"row_privacy": True, "rows": 50_000, "age": {"type": "int", "lower": 17, "upper": 90}}}}}}

    def ask(table, sql, columns):
        # It charges every column epsilon: a statement with two gets half for each.
        reader = from_df(pd.read_csv(folder / f"{table}.csv"), privacy=Privacy(epsilon=EPSILON / columns, delta=DELTA), metadata=meta[table], table_name=f"t.{table}")
        return reader.execute(sql)[1:]

    def by_key(sql):
        found = {int(row[0]): float(row[1]) for row in ask("rows", sql, 1)}
        return [found.get(k, 0) for k in range(KEYS)]

    yield "count by key", lambda: by_key("SELECT key, COUNT(*) AS n FROM t.rows GROUP BY key")
    yield "sum by key", lambda: by_key("SELECT key, SUM(amount) AS s FROM t.rows GROUP BY key")
    if (folder / "ages.csv").exists():
        yield "ADULT count", lambda: [float(ask("ages", "SELECT COUNT(*) AS n FROM t.ages", 1)[0][0])]
        yield "ADULT sum(age)", lambda: [float(ask("ages", "SELECT SUM(age) AS s FROM t.ages", 1)[0][0])]
        yield "ADULT avg(age)", lambda: [float(ask("ages", "SELECT AVG(age) AS a FROM t.ages", 2)[0][0])]


def pipelinedp_questions(folder):
    import pipeline_dp

    def by_key(metric):
        rows = [(i, *map(int, line.split(","))) for i, line in enumerate(open(folder / "rows.csv").read().split()[1:])]
        backend = pipeline_dp.LocalBackend()
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        engine = pipeline_dp.DPEngine(accountant, backend)
        params = pipeline_dp.AggregateParams(metrics=[metric], noise_kind=pipeline_dp.NoiseKind.LAPLACE, max_partitions_contributed=1,
                                             max_contributions_per_partition=1, min_value=0, max_value=TOP)
        extract = pipeline_dp.DataExtractors(privacy_id_extractor=lambda r: r[0], partition_extractor=lambda r: r[1], value_extractor=lambda r: r[2])
        result = engine.aggregate(rows, params, extract, public_partitions=list(range(KEYS)))
        accountant.compute_budgets()
        found = dict(result)
        return [float(found[k][0]) for k in range(KEYS)]

    yield "count by key", lambda: by_key(pipeline_dp.Metrics.COUNT)
    yield "sum by key", lambda: by_key(pipeline_dp.Metrics.SUM)


def tumult_questions(folder):
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.warehouse.dir", tempfile.mkdtemp(prefix="discreet-tumult-")).config("spark.sql.shuffle.partitions", "4").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.csv(str(folder / "rows.csv"), header=True, inferSchema=True)
    keys = KeySet.from_dict({"key": list(range(KEYS))})

    def by_key(build, column):
        session = Session.from_dataframe(privacy_budget=PureDPBudget(EPSILON), source_id="rows", dataframe=frame, protected_change=AddOneRow())
        answer = session.evaluate(build(QueryBuilder("rows").groupby(keys)), PureDPBudget(EPSILON)).toPandas()
        found = dict(zip(answer["key"], answer[column]))
        return [float(found[k]) for k in range(KEYS)]

    yield "count by key", lambda: by_key(lambda q: q.count(name="n"), "n")
    yield "sum by key", lambda: by_key(lambda q: q.sum("amount", 0, TOP, name="n"), "n")


QUESTIONS = {"OpenDP": opendp_questions, "diffprivlib": diffprivlib_questions, "SmartNoise": smartnoise_questions,
             "PipelineDP": pipelinedp_questions, "Tumult": tumult_questions}


# ---- Discreet, in one process as the others are

def write_policy(folder, with_ages):
    text = f'[tables.rows]\nsource = "rows.csv"\nunit = "row"\n[tables.rows.columns]\nkey = {{ range = [0, {KEYS - 1}] }}\namount = {{ range = [0, {TOP}] }}\n'
    if with_ages:
        text += '[tables.ages]\nsource = "ages.csv"\nunit = "row"\n[tables.ages.columns]\nage = { range = [17, 90] }\n'
    (folder / "discreet.toml").write_text(text + '[budgets.default]\nepsilon = "unlimited"\ndelta = "unlimited"\n')


def discreet(build, folder, truth, runs):
    """Asks all questions, those by key twice, in one run of build/bin/peers_ask."""
    sql = {"count by key": "SELECT key, count(*) FROM rows GROUP BY key", "sum by key": "SELECT key, sum(amount) FROM rows GROUP BY key",
           "ADULT count": "SELECT count(*) FROM ages", "ADULT sum(age)": "SELECT sum(age) FROM ages", "ADULT avg(age)": "SELECT avg(age) FROM ages"}
    results = {}
    for by_key in (True, False):
        names = [name for name in truth if name.endswith("by key") == by_key]
        out = subprocess.run([f"{build}/bin/peers_ask", folder / "discreet.toml", "5" if by_key else str(runs), str(EPSILON)], text=True, check=True,
                             stdout=subprocess.PIPE, input="".join(sql[name] + "\n" for name in names)).stdout
        for name, line in zip(names, out.splitlines()):
            answer = json.loads(line)
            if by_key:
                cells = [[float(v) for _, v in sorted((int(k), v) for k, v in rows)] for rows in answer["answers"]]
            else:
                cells = [[float(rows[0][0])] for rows in answer["answers"]]
            results[name] = [answer["seconds"], rmse(cells, truth[name])]
    return results


def measure(questions, truth, runs):
    results = {}
    for name, ask in questions:
        try:
            few = 2 if name.endswith("by key") else runs
            best, answers = timed(ask, few)
            results[name] = [best, rmse(answers, truth[name])]
        except Exception as error:
            results[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:90] if str(error).strip() else ''}"
    return results


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=30)
    options.add_argument("--only", default="")
    options.add_argument("--inside", help=argparse.SUPPRESS)  # the peer whose environment this process runs in
    args = options.parse_args()
    folder = pathlib.Path(args.build).resolve() / "peers-sql-data"
    if args.inside:
        print(json.dumps(measure(QUESTIONS[args.inside](folder), truth_of(folder), args.runs)))
        return

    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder, args.rows)
    adult = adult_file()
    if adult:
        with open(adult) as file, open(folder / "ages.csv", "w") as out:
            table = csv.DictReader(file)
            out.write("age\n" + "\n".join(str(int(row["age"]) + 16) for row in table) + "\n")
    else:
        print("ADULT is not here (shared/data/adult.csv): its questions are left out")
    for old in folder.glob("ledger.sqlite*"):
        old.unlink()
    write_policy(folder, adult is not None)
    truth = truth_of(folder)
    ours = discreet(args.build, folder, truth, args.runs)

    print(f"{args.rows:,} rows, {KEYS:,} keys; epsilon {EPSILON}; time: best run; error: RMSE\n"
          f"{'question':16} {'library':12} {'time':>9} {'error':>10} {'Discreet is':>14} {'its error is':>13}")
    for name in truth:
        print(f"{name:16} {'Discreet':12} {ours[name][0]:8.3f}s {ours[name][1]:10.4g}")
    for peer, (environment, requirements) in PEERS.items():
        if args.only and args.only != peer:
            continue
        made = subprocess.run([HERE / "../../tools/setup/venv.sh", f"{args.build}/{environment}", HERE / requirements], capture_output=True, text=True)
        if made.returncode != 0:
            print(f"{peer}: could not be installed")
            continue
        inside = None
        try:
            inside = subprocess.run([f"{args.build}/{environment}/bin/python", __file__, "--build", args.build, "--runs", str(args.runs), "--inside", peer],
                                 capture_output=True, text=True, timeout=600, env=os.environ | {"PYTHONWARNINGS": "ignore"})
            theirs = json.loads(inside.stdout.strip().splitlines()[-1])
        except Exception as error:
            print(f"{peer}: could not be measured: {type(error).__name__} {inside.stderr.strip().splitlines()[-1:] if inside else ''}")
            continue
        for name, result in theirs.items():
            if isinstance(result, str):
                print(f"{name:16} {peer:12} failed: {result}")
            else:
                print(f"{name:16} {peer:12} {result[0]:8.3f}s {result[1]:10.4g} {result[0] / ours[name][0]:11.1f}x faster {ours[name][1] / max(result[1], 1e-12):10.2f}x")


if __name__ == "__main__":
    main()
