#!/usr/bin/env python3
"""Private models of ADULT: Discreet beside diffprivlib, InterpretML's DP-EBM and Opacus, in one run, as accuracy/AUC and CPU seconds.

Everybody gets the same rows: scikit-learn's train_test_split(test_size=.2, random_state=0) of the table, its columns as codes with public domains,
the same epsilon and delta = 1e-5. Linear models, networks and clusters of the peers get numeric columns scaled to [0, 1] by their domains and one-hot
codes for the others (92 columns), row norms bounded publicly; DP-EBM gets its own types and bounds; k-means and PCA get the six numeric columns of all rows;
the regression is of hours-per-week on the other numeric columns. Discreet is the program itself, reading and writing files: its seconds include that.

usage: learn.py --build build [--data ../shared/data] [--seeds 10] [--epsilon .1,.5,1,3,10] [--only NAME]
(bench/peers/run.sh makes the environment; a peer that cannot be imported or fails is named with its reason. Opacus needs torch, which is large:
pip install torch opacus into the same environment to have it in the table. dp-xgboost has no wheel and does not build with numpy 2.)
"""
import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

NUMERIC = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
TARGET = "income>50K"
DELTA = 1e-5
KMEANS_BEST = 0.04490261552850329  # inertia per row of KMeans(5, n_init=10) without privacy
warnings.filterwarnings("ignore")


def cpu(children=False):
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Task:
    def __init__(self, folder):
        self.domain = json.load(open(os.path.join(folder, "adult-domain.json")))
        with open(os.path.join(folder, "adult.csv")) as f:
            rows = list(csv.reader(f))
        self.names, self.rows = rows[0], np.array(rows[1:], dtype=np.int64)
        self.train, self.test = train_test_split(np.arange(len(self.rows)), test_size=0.2, random_state=0)
        self.at = {name: i for i, name in enumerate(self.names)}
        self.y = self.rows[:, self.at[TARGET]]
        parts = []
        for name in self.names:
            if name == TARGET:
                continue
            column = self.rows[:, self.at[name]]
            if name in NUMERIC:
                parts.append((column / (self.domain[name] - 1))[:, None])
            elif name != TARGET:
                parts.append(np.eye(self.domain[name])[column])
        self.x = np.concatenate(parts, axis=1).astype(np.float32)
        self.numbers = np.stack([self.rows[:, self.at[c]] / (self.domain[c] - 1) for c in NUMERIC], axis=1)

    def scored(self, scores, predicted=None):
        truth = self.y[self.test]
        predicted = scores > 0.5 if predicted is None else predicted
        return float(np.mean(predicted == truth)), float(roc_auc_score(truth, scores))


def discreet(binary, model):
    """The command line, as anybody would use it."""
    def run(task, epsilon, seed):
        with tempfile.TemporaryDirectory() as folder:
            def write(name, columns, rows):
                with open(os.path.join(folder, name), "w", newline="") as f:
                    out = csv.writer(f)
                    out.writerow(columns)
                    out.writerows(rows.tolist())
            unsupervised = model in ("kmeans", "pca")
            columns = NUMERIC if model in ("kmeans", "pca", "linear") else task.names
            picked = task.rows[:, [task.at[c] for c in columns]]
            write("train.csv", columns, picked if unsupervised else picked[task.train])
            write("test.csv", columns, picked if unsupervised else picked[task.test])
            json.dump({c: task.domain[c] for c in columns}, open(os.path.join(folder, "d.json"), "w"))
            target = [] if unsupervised else ["--target", "hours-per-week" if model == "linear" else TARGET]
            before = cpu(True)
            subprocess.run([binary, "learn", "fit", model, "train.csv", "--domain", "d.json", *target, "--epsilon", str(epsilon), "--delta", str(DELTA),
                            "--out", "m.json"], cwd=folder, check=True, capture_output=True)
            seconds = cpu(True) - before
            if unsupervised or model == "linear":
                said = json.loads(subprocess.run([binary, "learn", "score", "m.json", "test.csv", "--json"], cwd=folder, check=True,
                                                 capture_output=True).stdout)
                value = said.get("r2", said.get("explained", said.get("inertia_per_row", 0) / KMEANS_BEST))
                return value, float("nan"), seconds
            lines = subprocess.run([binary, "learn", "predict", "m.json", "test.csv"], cwd=folder, check=True, capture_output=True,
                                   text=True).stdout.split()
            fields = np.array([line.split(",") for line in lines], dtype=float)
            return *task.scored(fields[:, 1], fields[:, 0]), seconds
    return run


def diffprivlib(kind):
    def run(task, epsilon, seed):
        import diffprivlib.models as dp
        x, y, test = task.x[task.train], task.y[task.train], task.x[task.test]
        width, before = task.x.shape[1], cpu()
        numeric_bounds = (np.zeros(6), np.ones(6))
        if kind == "logistic":
            model = dp.LogisticRegression(epsilon=epsilon, data_norm=math.sqrt(6 + 7), random_state=seed, max_iter=500)
        elif kind == "bayes":
            model = dp.GaussianNB(epsilon=epsilon, bounds=(np.zeros(width), np.ones(width)), random_state=seed)
        elif kind == "forest":
            model = dp.RandomForestClassifier(n_estimators=10, epsilon=epsilon, bounds=(np.zeros(width), np.ones(width)), classes=[0, 1],
                                              random_state=seed)
        elif kind == "linear":
            n, h = task.numbers, NUMERIC.index("hours-per-week")
            others = [i for i in range(6) if i != h]
            model = dp.LinearRegression(epsilon=epsilon, bounds_X=(np.zeros(5), np.ones(5)), bounds_y=(0, 1), random_state=seed)
            model.fit(n[task.train][:, others], n[task.train][:, h])
            seconds = cpu() - before
            return model.score(n[task.test][:, others], n[task.test][:, h]), float("nan"), seconds
        elif kind == "kmeans":
            model = dp.KMeans(5, epsilon=epsilon, bounds=numeric_bounds, random_state=seed).fit(task.numbers)
            seconds = cpu() - before
            gaps = ((task.numbers[:, None, :] - model.cluster_centers_[None]) ** 2).sum(2).min(1)
            return gaps.mean() / KMEANS_BEST, float("nan"), seconds
        else:
            model = dp.PCA(2, epsilon=epsilon, bounds=numeric_bounds, data_norm=math.sqrt(6), random_state=seed).fit(task.numbers)
            seconds = cpu() - before
            basis = np.linalg.qr(model.components_.T)[0]
            centred = task.numbers - task.numbers.mean(0)
            return ((centred @ basis) ** 2).sum() / (centred ** 2).sum(), float("nan"), seconds
        model.fit(x, y)
        seconds = cpu() - before
        return *task.scored(model.predict_proba(test)[:, 1]), seconds
    return run


def dp_ebm(**settings):
    def run(task, epsilon, seed):
        from interpret.privacy import DPExplainableBoostingClassifier
        columns = [c for c in task.names if c != TARGET]
        types = ["continuous" if c in NUMERIC else "nominal" for c in columns]
        bounds = {c: (0, task.domain[c] - 1) for c in columns if c in NUMERIC}
        rows = task.rows[:, [task.at[c] for c in columns]]
        shown = rows.astype(object)
        for i, kind in enumerate(types):
            if kind == "nominal":
                shown[:, i] = rows[:, i].astype(str)
        before = cpu()
        model = DPExplainableBoostingClassifier(feature_names=columns, feature_types=types, epsilon=epsilon, delta=DELTA,
                                                privacy_bounds={i: bounds[c] for i, c in enumerate(columns) if c in bounds},
                                                privacy_target_min=0, privacy_target_max=1, random_state=None, n_jobs=1, **settings)
        model.fit(shown[task.train], task.y[task.train])
        seconds = cpu() - before
        return *task.scored(model.predict_proba(shown[task.test])[:, 1]), seconds
    return run


def opacus(hidden):
    def run(task, epsilon, seed):
        import torch
        from opacus import PrivacyEngine
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        x, y = torch.tensor(task.x[task.train]), torch.tensor(task.y[task.train], dtype=torch.float32)
        width = x.shape[1]
        model = torch.nn.Linear(width, 1) if hidden == 0 else torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.ReLU(),
                                                                                  torch.nn.Linear(hidden, 1))
        before = cpu()
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=1024)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        model, optimizer, loader = PrivacyEngine().make_private_with_epsilon(
            module=model, optimizer=optimizer, data_loader=loader, epochs=10, target_epsilon=epsilon, target_delta=DELTA, max_grad_norm=1.0)
        for _ in range(10):
            for bx, by in loader:
                if len(bx) == 0:
                    continue
                optimizer.zero_grad()
                torch.nn.functional.binary_cross_entropy_with_logits(model(bx).squeeze(1), by).backward()
                optimizer.step()
        seconds = cpu() - before
        with torch.no_grad():
            scores = torch.sigmoid(model(torch.tensor(task.x[task.test])).squeeze(1)).numpy()
        return *task.scored(scores), seconds
    return run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--data", default=os.path.join(os.path.dirname(__file__), "../../../shared/data"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilon", default=".1,.5,1,3,10")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.data, "adult.csv")):
        print("no data: nothing to compare")
        return
    task = Task(options.data)
    binary = os.path.join(options.build, "bin/discreet")
    tables = {
        "classifier": {"discreet logistic": discreet(binary, "logistic"), "diffprivlib logistic": diffprivlib("logistic"),
                       "DP-EBM, default": dp_ebm(), "DP-EBM, rate .15, 64 bins, 600 rounds": dp_ebm(learning_rate=0.15, max_bins=64, max_rounds=600),
                       "Opacus logistic": opacus(0)},
        "naive Bayes": {"discreet naive-bayes": discreet(binary, "naive-bayes"), "diffprivlib GaussianNB": diffprivlib("bayes")},
        "trees": {"discreet trees": discreet(binary, "trees"), "diffprivlib forest": diffprivlib("forest")},
        "network": {"discreet network": discreet(binary, "network"), "Opacus, 32 hidden": opacus(32)},
        "regression (R2)": {"discreet linear": discreet(binary, "linear"), "diffprivlib linear": diffprivlib("linear")},
        "k-means (inertia / best)": {"discreet kmeans": discreet(binary, "kmeans"), "diffprivlib KMeans": diffprivlib("kmeans")},
        "PCA (explained)": {"discreet pca": discreet(binary, "pca"), "diffprivlib PCA": diffprivlib("pca")},
    }
    for title, rivals in tables.items():
        if options.only and not any(options.only in name for name in (title, *rivals)):
            continue
        print(f"\n{title}")
        for name, run in rivals.items():
            if options.only and options.only not in title and options.only not in name:
                continue
            for epsilon in map(float, options.epsilon.split(",")):
                try:
                    results = np.array([run(task, epsilon, seed) for seed in range(options.seeds)])
                except Exception as reason:  # a peer that cannot do it is named, with its reason
                    print(f"  {name:<40} epsilon {epsilon:<4g} -  {type(reason).__name__}: {str(reason).splitlines()[0][:90] if str(reason) else ''}")
                    if isinstance(reason, ImportError):
                        break
                    continue
                mean = results.mean(0)
                second = "" if math.isnan(mean[1]) else f" / {mean[1]:.4f}"
                print(f"  {name:<40} epsilon {epsilon:<4g} {mean[0]:.4f}{second}  cpu {mean[2]:.3f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
