#!/usr/bin/env python3
"""Private models of ADULT and of the NIST ACS tables: Discreet beside diffprivlib, DP-EBM and Opacus, as accuracy/AUC and CPU seconds.

Everybody gets the same rows (scikit-learn's train_test_split(test_size=.2, random_state=SPLIT)), columns as codes with public domains, the same
epsilon and delta = 1e-5, one thread. Linear models and networks of the peers get numeric columns scaled to [0, 1] by their domains and one-hot codes
for the others, and once more every code one-hot, which is nearer to what Discreet makes of a table; row norms are bounded publicly. diffprivlib's naive
Bayes and forest get every code scaled to [0, 1], with which they do better; DP-EBM its own types and bounds; k-means and
PCA the numeric columns of all rows; a regression is of one numeric column on the others. Discreet is the program itself, reading and writing files:
"cpu" is its training alone, as it is for the peers, "whole" the whole process with reading the CSV file.

Results are appended to a file as they come, one JSON object a line, and what is there is not run again: stop and start it as you like.

usage: learn.py --build build [--data FOLDER] [--results FILE] [--seeds 10] [--epsilons .1,.5,1,3,10] [--only 'PART;PART'] [--not 'PART;PART'] [--split 0]
       learn.py --build build --report        what is in the file, run nothing
(bench/peers/run.sh makes the environment; Opacus and dp-xgboost have environments of their own, made on first use: the one needs torch, the other an old
numpy, and ten minutes of compilation. A peer that cannot be installed, imported or run is named with its reason.)
"""
import argparse
import collections
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

HERE = os.path.dirname(os.path.abspath(__file__))
DELTA = 1e-5
LABEL = "label"
ADULT_NUMERIC = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
NIST_NUMERIC = ["AGEP", "NOC", "NPF", "EDU", "PINCP", "PINCP_DECILE", "POVPIP"]
warnings.filterwarnings("ignore")


def cpu(children=False):
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Task:
    """A table, the question whether `target` reaches `at_least` (all rows but those with target `drop`), and a regression of `amount`."""

    def __init__(self, folder, split, file, domain, numeric, target, at_least, amount, drop=None):
        self.domain = json.load(open(os.path.join(folder, domain)))
        with open(os.path.join(folder, file)) as f:
            rows = list(csv.reader(f))
        self.names, self.rows = rows[0], np.array(rows[1:], dtype=np.int64)
        if drop is not None:
            self.rows = self.rows[self.rows[:, self.names.index(target)] != drop]
        self.y = (self.rows[:, self.names.index(target)] >= at_least).astype(np.int64)
        self.train, self.test = train_test_split(np.arange(len(self.rows)), test_size=0.2, random_state=split)
        self.features = [c for c in self.names if c != target]
        self.numeric = [c for c in numeric if c != target]
        self.amount = amount
        self.codes = self.rows[:, [self.names.index(c) for c in self.features]]
        self.scaled = self.codes / np.array([self.domain[c] - 1 for c in self.features])
        self.numbers = np.stack([self.column(c) / (self.domain[c] - 1) for c in self.numeric], axis=1)
        self.files, self.made = None, {}

    def column(self, name):
        return self.rows[:, self.names.index(name)]

    def matrix(self, every_code):
        """(rows, bound of their L2 norm): numbers scaled and the rest one-hot, or everything one-hot."""
        if every_code not in self.made:
            parts = [(self.column(c) / (self.domain[c] - 1))[:, None] if c in self.numeric and not every_code else np.eye(self.domain[c])[self.column(c)]
                     for c in self.features]
            self.made[every_code] = np.concatenate(parts, axis=1).astype(np.float32)
        return self.made[every_code], math.sqrt(len(self.features))

    def best_inertia(self):
        if "inertia" not in self.made:
            from sklearn.cluster import KMeans
            self.made["inertia"] = KMeans(5, n_init=10, random_state=0).fit(self.numbers).inertia_ / len(self.numbers)
        return self.made["inertia"]

    def written(self):
        """The CSV files that the command line reads; made once."""
        if self.files is None:
            self.files = tempfile.TemporaryDirectory()
            labelled = np.concatenate([self.codes, self.y[:, None]], axis=1)
            numbers = self.rows[:, [self.names.index(c) for c in self.numeric]]
            for name, columns, rows in (("train.csv", [*self.features, LABEL], labelled[self.train]), ("test.csv", [*self.features, LABEL], labelled[self.test]),
                                        ("train-numbers.csv", self.numeric, numbers[self.train]), ("test-numbers.csv", self.numeric, numbers[self.test]),
                                        ("numbers.csv", self.numeric, numbers)):
                with open(os.path.join(self.files.name, name), "w", newline="") as f:
                    out = csv.writer(f)
                    out.writerow(columns)
                    out.writerows(rows.tolist())
            json.dump({**{c: self.domain[c] for c in self.features}, LABEL: 2}, open(os.path.join(self.files.name, "d.json"), "w"))
            json.dump({c: self.domain[c] for c in self.numeric}, open(os.path.join(self.files.name, "d-numbers.json"), "w"))
        return self.files.name

    def scored(self, scores, predicted=None):
        truth = self.y[self.test]
        predicted = scores > 0.5 if predicted is None else predicted
        return {"first": float(np.mean(predicted == truth)), "second": float(roc_auc_score(truth, scores))}


def discreet(model, *options):
    """The command line, as anybody would use it."""
    def run(task, epsilon, seed, binary):
        folder = task.written()
        train, test, target, domain = {"kmeans": ("numbers.csv", "numbers.csv", [], "d-numbers.json"), "pca": ("numbers.csv", "numbers.csv", [], "d-numbers.json"),
                                       "linear": ("train-numbers.csv", "test-numbers.csv", ["--target", task.amount], "d-numbers.json"),
                                       }.get(model, ("train.csv", "test.csv", ["--target", LABEL], "d.json"))
        before = cpu(True)
        said = json.loads(subprocess.run([binary, "learn", "fit", model, train, "--domain", domain, *target, "--epsilon", str(epsilon), "--delta", str(DELTA),
                                          "--out", "m.json", "--json", *options], cwd=folder, check=True, capture_output=True).stdout)
        seconds = {"cpu": said["training_cpu_seconds"], "whole": cpu(True) - before}
        if model in ("kmeans", "pca", "linear"):
            score = json.loads(subprocess.run([binary, "learn", "score", "m.json", test, "--json"], cwd=folder, check=True, capture_output=True).stdout)
            value = score["r2"] if model == "linear" else score["explained"] if model == "pca" else score["inertia_per_row"] / task.best_inertia()
            return {"first": value, **seconds}
        lines = subprocess.run([binary, "learn", "predict", "m.json", test], cwd=folder, check=True, capture_output=True, text=True).stdout.split()
        fields = np.array([line.split(",") for line in lines], dtype=float)
        return {**task.scored(fields[:, 1], fields[:, 0]), **seconds}
    return run


def diffprivlib(kind, every_code=False):
    def run(task, epsilon, seed, binary):
        import diffprivlib.models as dp
        # Copies: some of these models centre or clip their input in place, which the next one would then get.
        width, numbers, at = task.scaled.shape[1], task.numbers.copy(), task.numeric.index(task.amount)
        box, number_box = (np.zeros(width), np.ones(width)), (np.zeros(numbers.shape[1]), np.ones(numbers.shape[1]))
        table = task.scaled
        if kind == "logistic":
            table, norm = task.matrix(every_code)
            model = dp.LogisticRegression(epsilon=epsilon, data_norm=norm, random_state=seed, max_iter=500)
        elif kind == "bayes":
            model = dp.GaussianNB(epsilon=epsilon, bounds=box, random_state=seed)
        elif kind == "forest":
            model = dp.RandomForestClassifier(n_estimators=10, epsilon=epsilon, bounds=box, classes=[0, 1], random_state=seed)
        elif kind == "tree":
            model = dp.DecisionTreeClassifier(epsilon=epsilon, bounds=box, classes=[0, 1], random_state=seed)
        before = cpu()
        if kind == "linear":
            others = [i for i in range(numbers.shape[1]) if i != at]
            model = dp.LinearRegression(epsilon=epsilon, bounds_X=(np.zeros(len(others)), np.ones(len(others))), bounds_y=(0, 1), random_state=seed)
            model.fit(numbers[task.train][:, others], numbers[task.train][:, at])
            return {"cpu": cpu() - before, "first": model.score(numbers[task.test][:, others], numbers[task.test][:, at])}
        if kind == "kmeans":
            model = dp.KMeans(5, epsilon=epsilon, bounds=number_box, random_state=seed).fit(numbers.copy())
            seconds = cpu() - before
            gaps = ((task.numbers[:, None, :] - model.cluster_centers_[None]) ** 2).sum(2).min(1)
            return {"cpu": seconds, "first": float(gaps.mean() / task.best_inertia())}
        if kind == "pca":
            model = dp.PCA(2, epsilon=epsilon, bounds=number_box, data_norm=math.sqrt(numbers.shape[1]), random_state=seed).fit(numbers.copy())
            seconds = cpu() - before
            basis, centred = np.linalg.qr(model.components_.T)[0], task.numbers - task.numbers.mean(0)
            return {"cpu": seconds, "first": float(((centred @ basis) ** 2).sum() / (centred ** 2).sum())}
        model.fit(table[task.train], task.y[task.train])
        seconds = cpu() - before
        return {**task.scored(model.predict_proba(table[task.test])[:, 1]), "cpu": seconds}
    return run


def dp_ebm(**settings):
    def run(task, epsilon, seed, binary):
        from interpret.privacy import DPExplainableBoostingClassifier
        types = ["continuous" if c in task.numeric else "nominal" for c in task.features]
        shown = task.codes.astype(object)
        for i, kind in enumerate(types):
            if kind == "nominal":
                shown[:, i] = task.codes[:, i].astype(str)
        before = cpu()
        # A fixed seed makes it warn of a privacy violation: its repeats are unseeded, as Discreet's are.
        model = DPExplainableBoostingClassifier(feature_names=task.features, feature_types=types, epsilon=epsilon, delta=DELTA, random_state=None, n_jobs=1,
                                                privacy_bounds={i: (0, task.domain[c] - 1) for i, c in enumerate(task.features) if c in task.numeric},
                                                **settings)
        model.fit(shown[task.train], task.y[task.train])
        seconds = cpu() - before
        return {**task.scored(model.predict_proba(shown[task.test])[:, 1]), "cpu": seconds}
    return run


def opacus(hidden, every_code=False, epochs=10, rate=0.01):
    def run(task, epsilon, seed, binary):
        import torch
        from opacus import PrivacyEngine
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        table, _ = task.matrix(every_code)
        x, y = torch.tensor(table[task.train]), torch.tensor(task.y[task.train], dtype=torch.float32)
        width = x.shape[1]
        model = torch.nn.Linear(width, 1) if hidden == 0 else torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.ReLU(),
                                                                                  torch.nn.Linear(hidden, 1))
        before = cpu()
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=1024)
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        model, optimizer, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
            module=model, optimizer=optimizer, data_loader=loader, epochs=epochs, target_epsilon=epsilon, target_delta=DELTA, max_grad_norm=1.0)
        for _ in range(epochs):
            for bx, by in loader:
                if len(bx) == 0:
                    continue
                optimizer.zero_grad()
                torch.nn.functional.binary_cross_entropy_with_logits(model(bx).squeeze(1), by).backward()
                optimizer.step()
        seconds = cpu() - before
        with torch.no_grad():
            scores = torch.sigmoid(model(torch.tensor(table[task.test])).squeeze(1)).numpy()
        return {**task.scored(scores), "cpu": seconds}
    return run


def dp_xgboost(trees, depth, sampled):
    """Pure epsilon: trees add up, and each sees a random part of the rows, which lessens what it costs (the library leaves both to its user)."""
    def run(task, epsilon, seed, binary):
        import dp_xgboost as xgb
        of_tree = math.log1p(math.expm1(epsilon / trees) / sampled)
        top = np.array([task.domain[c] - 1 for c in task.features], dtype=float)
        settings = {"objective": "binary:logistic", "tree_method": "approxDP", "dp_epsilon_per_tree": of_tree, "max_depth": depth, "subsample": sampled,
                    "min_child_weight": 150, "nthread": 1, "verbosity": 0, "seed": seed}
        before = cpu()
        table = xgb.DMatrix(task.codes[task.train].astype(np.float32), label=task.y[task.train], feature_min=np.zeros(len(top)), feature_max=top)
        model = xgb.train(settings, table, num_boost_round=trees)
        seconds = cpu() - before
        test = xgb.DMatrix(task.codes[task.test].astype(np.float32), feature_min=np.zeros(len(top)), feature_max=top)
        return {**task.scored(model.predict(test)), "cpu": seconds}
    return run


def tasks_of(folder, split):
    nist = dict(domain="nist_acs-domain.json", numeric=NIST_NUMERIC, amount="POVPIP")
    return {"ADULT income": Task(folder, split, "adult.csv", "adult-domain.json", ADULT_NUMERIC, "income>50K", 1, "hours-per-week"),
            "ADULT sex": Task(folder, split, "adult.csv", "adult-domain.json", ADULT_NUMERIC, "sex", 1, "hours-per-week"),
            "NIST own/rent": Task(folder, split, "nist_acs_national2019_coded.csv", target="OWN_RENT", at_least=2, drop=0, **nist),
            "NIST income": Task(folder, split, "nist_acs_national2019_coded.csv", target="PINCP_DECILE", at_least=6, **nist),
            "NIST MA own/rent": Task(folder, split, "nist_acs_ma2019_coded.csv", target="OWN_RENT", at_least=2, drop=0, **nist)}


Method = collections.namedtuple("Method", "name kind run cost home")  # cost: cheap ones run first; home: the environment it needs
BINARY, EBM = "classifier", {"rate .05": dict(learning_rate=0.05), "rate .15, 32 bins": dict(learning_rate=0.15, max_bins=32),
                             "rate .15, 64 bins, 600 rounds": dict(learning_rate=0.15, max_bins=64, max_rounds=600)}
METHODS = [
    *[Method(f"discreet {m}", k, discreet(m), 0, "learn") for m, k in
      (("logistic", BINARY), ("logistic-objective", BINARY), ("naive-bayes", "naive Bayes"), ("trees", "trees"), ("network", "network"),
       ("linear", "regression (R2)"), ("kmeans", "k-means (inertia / best)"), ("pca", "PCA (explained)"))],
    Method("discreet logistic --fast", BINARY, discreet("logistic", "--fast"), 0, "learn"),
    Method("discreet trees --fast", "trees", discreet("trees", "--fast"), 0, "learn"),
    Method("diffprivlib logistic", BINARY, diffprivlib("logistic"), 2, "learn"),
    Method("diffprivlib logistic, every code one-hot", BINARY, diffprivlib("logistic", True), 4, "learn"),
    Method("diffprivlib GaussianNB", "naive Bayes", diffprivlib("bayes"), 1, "learn"),
    Method("diffprivlib forest", "trees", diffprivlib("forest"), 2, "learn"),
    Method("diffprivlib tree", "trees", diffprivlib("tree"), 2, "learn"),
    Method("diffprivlib linear", "regression (R2)", diffprivlib("linear"), 1, "learn"),
    Method("diffprivlib KMeans", "k-means (inertia / best)", diffprivlib("kmeans"), 1, "learn"),
    Method("diffprivlib PCA", "PCA (explained)", diffprivlib("pca"), 1, "learn"),
    Method("DP-EBM, default", BINARY, dp_ebm(), 3, "learn"),
    *[Method(f"DP-EBM, {name}", BINARY, dp_ebm(**settings), 5, "learn") for name, settings in EBM.items()],
    *[Method(f"dp-xgboost, {trees} trees of depth {depth}, rows sampled at {rate:g}", "trees", dp_xgboost(trees, depth, rate), 2, "learn_xgboost")
      for trees, depth, rate in ((10, 4, .2), (5, 3, 1), (20, 4, .5))],
    Method("Opacus logistic, rate .05", BINARY, opacus(0, rate=0.05), 6, "learn_opacus"),
    Method("Opacus logistic, rate .05, every code one-hot", BINARY, opacus(0, True, rate=0.05), 7, "learn_opacus"),
    Method("Opacus logistic", BINARY, opacus(0), 8, "learn_opacus"),
    Method("Opacus, 32 hidden", "network", opacus(32), 6, "learn_opacus"),
    Method("Opacus, 32 hidden, every code one-hot", "network", opacus(32, True), 7, "learn_opacus"),
]


def wanted(options, task, method):
    full = f"{task}: {method.kind}: {method.name}"
    return (not options.only or any(part in full for part in options.only.split(";"))) and not (
        options.without and any(part in full for part in options.without.split(";")))


def read_results(path):
    results = {}
    if os.path.exists(path):
        for line in open(path):
            entry = json.loads(line)
            results[(entry["split"], entry["task"], entry["method"], entry["epsilon"], entry["seed"])] = entry
    return results


def run_home(options, home, epsilons):
    """Runs the methods whose packages are in this environment; each result goes into the file at once."""
    results, tasks = read_results(options.results), tasks_of(options.data, options.split)
    binary = os.path.abspath(os.path.join(options.build, "bin/discreet"))
    broken = set()
    for cost in sorted({m.cost for m in METHODS if m.home == home}):
        for seed in range(options.seeds):
            for name, task in tasks.items():
                for method in METHODS:
                    if method.home != home or method.cost != cost or not wanted(options, name, method):
                        continue
                    if method.kind not in (BINARY, "naive Bayes", "trees", "network") and name not in ("ADULT income", "NIST own/rent"):
                        continue  # the same numbers again
                    for epsilon in epsilons:
                        key = (options.split, name, method.name, epsilon, seed)
                        if key in results or (method.name, epsilon) in broken:
                            continue
                        entry = dict(zip(("split", "task", "method", "epsilon", "seed"), key))
                        try:
                            entry.update(method.run(task, epsilon, seed, binary))
                        except Exception as reason:  # a peer that cannot do it is named, with its reason
                            words = str(reason).splitlines()
                            entry["error"] = f"{type(reason).__name__}: {words[0][:120] if words else ''}"
                            broken.add((method.name, epsilon))
                        with open(options.results, "a") as f:
                            f.write(json.dumps(entry) + "\n")


def report(options, epsilons):
    """Means over the seeds that are there, with their number where it is not the one asked for."""
    results = read_results(options.results)
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    kinds = {m.name: m.kind for m in METHODS}
    for (split, task, method, epsilon, _), entry in results.items():
        if split == options.split and method in kinds:
            groups[(task, kinds[method])][(method, epsilon)].append(entry)
    print("accuracy/AUC, or the figure named; n: seeds; cpu: seconds of training (whole process) at epsilon 1")
    order = [m.name for m in METHODS]
    for (task, kind), cells in sorted(groups.items()):
        print(f"\n{task}: {kind}\n  {'':<52}" + "".join(f"epsilon {e:<12g}" for e in epsilons))
        for method in sorted({m for m, _ in cells}, key=order.index):
            line, counts, reasons = f"  {method:<52}", set(), set()
            for epsilon in epsilons:
                good = [e for e in cells.get((method, epsilon), []) if "error" not in e]
                reasons |= {e["error"] for e in cells.get((method, epsilon), []) if "error" in e and not good}
                text = "-"
                if good:
                    counts.add(len(good))
                    text = f"{np.mean([e['first'] for e in good]):.4f}"
                    if "second" in good[0]:
                        text += f"/{np.mean([e['second'] for e in good]):.4f}"
                line += f"{text:<20}"
            timed = [e for e in cells.get((method, 1.0), []) if "cpu" in e]
            if timed:
                line += f" cpu {np.mean([e['cpu'] for e in timed]):.3f}"
                if "whole" in timed[0]:
                    line += f" ({np.mean([e['whole'] for e in timed]):.3f})"
            print(line + (f" n {min(counts)}" + (f"-{max(counts)}" if len(counts) > 1 else "") if counts else "") + "".join(f"  {r}" for r in sorted(reasons)))


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--results", help="default: BUILD/peers-learn.jsonl")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilons", default=".1,.5,1,3,10")
    parser.add_argument("--only", default="", help="parts of 'task: kind: method', with semicolons")
    parser.add_argument("--not", dest="without", default="", help="parts of 'task: kind: method', with semicolons")
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--home", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.results = options.results or os.path.join(options.build, "peers-learn.jsonl")
    epsilons = [float(e) for e in options.epsilons.split(",")]
    if not os.path.exists(os.path.join(options.data, "adult.csv")):
        print("no data: nothing to compare")
        return 0
    if options.home:
        run_home(options, options.home, epsilons)
        return 0
    if not options.report:
        run_home(options, "learn", epsilons)
        names = ["ADULT income", "ADULT sex", "NIST own/rent", "NIST income", "NIST MA own/rent"]
        for home in sorted({m.home for m in METHODS} - {"learn"}):
            if not any(wanted(options, name, m) for m in METHODS if m.home == home for name in names):
                continue
            folder = os.path.join(options.build, f"peers-{home}")
            made = subprocess.run([os.path.join(HERE, "../../tools/setup/venv.sh"), folder, os.path.join(HERE, f"requirements-{home}.txt")])
            if made.returncode != 0:
                print(f"{home}: its packages could not be installed")
                continue
            subprocess.run([os.path.join(folder, "bin/python"), os.path.abspath(__file__), *sys.argv[1:], "--home", home], check=True)
    report(options, epsilons)
    return 0


if __name__ == "__main__":
    sys.exit(main())
