#!/usr/bin/env python3
"""Exports every kind of model to ONNX and runs it with onnxruntime: the answers must be those of
`discreet learn predict`.

Usage: onnx_export.py DISCREET [--venv FOLDER]; ends with 77 where onnxruntime is not installed.
"""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
if len(sys.argv) == 4 and sys.argv[2] == "--venv":
    python = pathlib.Path(sys.argv[3]) / "bin" / "python"
    if not python.exists():
        print("no environment with onnxruntime:", python)
        sys.exit(77)
    if pathlib.Path(sys.prefix) != pathlib.Path(sys.argv[3]).resolve():
        os.execv(python, [str(python), __file__, PROGRAM])
try:
    import numpy
    import onnxruntime
except ImportError as missing:
    print("not run:", missing)
    sys.exit(77)

DOMAIN = {
    "age": {"range": [0, 99]},
    "colour": {"values": ["red", "green", "blue"]},
    "born": {"range": ["1900-01-01", "2026-12-31"]},
    "size": {"range": [0, 10], "step": 0.25, "nullable": False},
    "code": 60,
    "answer": {"values": ["no", "yes"]},
    "kind": {"values": ["a", "b", "c"]},
}
TEXTS = {"colour"}
CLASSIFIERS = ["logistic", "naive-bayes", "trees", "network", "logistic-objective", "rules"]


def make_rows(count):
    state = 12345

    def below(bound):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % bound

    rows = []
    for i in range(count):
        age = below(100)
        row = {
            "age": "" if i % 17 == 0 else str(age),
            "colour": ["red", "green", "blue", "", "mauve"][below(5)],
            "born": "" if i % 19 == 0 else f"{1920 + below(80)}-{1 + below(12):02}-15",
            "size": str(below(41) / 4),
            "code": str(below(60)),
            "answer": "yes" if age + below(40) > 70 else "no",
            "kind": "abc"[min(2, (age + below(30)) // 45)],
        }
        rows.append(row)
    return rows


def column_input(name, texts):
    if name in TEXTS:
        return numpy.array([[t] for t in texts], dtype=object)
    if name == "born":
        epoch = numpy.datetime64("1970-01-01")
        numbers = [math.nan if not t else float((numpy.datetime64(t) - epoch).astype(int)) for t in texts]
    else:
        numbers = [math.nan if not t else float(t) for t in texts]
    return numpy.array(numbers).reshape(-1, 1)


def run(*arguments):
    done = subprocess.run([PROGRAM, "learn", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"discreet learn {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def check(folder, rows, method, target, columns):
    names = columns + ([target] if target else [])
    (folder / "domain.json").write_text(json.dumps({name: DOMAIN[name] for name in names}))
    model = str(folder / "model.json")
    options = ["--target", target] if target else []
    run("fit", method, str(folder / "table.csv"), "--domain", str(folder / "domain.json"), "--epsilon", "20",
        *options, "--out", model)
    run("export", model, "--out", str(folder / "model.onnx"))
    said = [json.loads(line) for line in run("predict", model, str(folder / "table.csv"), "--json").splitlines()]
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    fed = {name: column_input(name, [row[name] for row in rows]) for name in columns}
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, fed)))
    worst = 0.0
    for i, prediction in enumerate(said):
        if "label" in outputs:
            assert outputs["label"][i, 0] == prediction["prediction"], (method, i, outputs["label"][i, 0], prediction)
            chances = outputs["probability"][i]
            chance = chances[0] if len(chances) == 1 else max(chances)
            worst = max(worst, abs(chance - prediction["scores"][0]))
        elif "value" in outputs:
            value = outputs["value"][i, 0]
            worst = max(worst, abs(value - float(prediction["prediction"])) / max(1e-3, abs(value)) * 1e-5)
        elif "cluster" in outputs:
            assert str(outputs["cluster"][i, 0]) == prediction["prediction"], (method, i)
            worst = max(worst, abs(outputs["distance"][i, 0] - prediction["scores"][0]))
        else:
            worst = max(worst, abs(outputs["components"][i, 1] - prediction["scores"][0]))
    print(f"{method} of {target or 'nothing'}: {len(said)} rows, largest difference {worst:.2g}")
    assert worst < 1e-9, (method, worst)


def main():
    rows = make_rows(600)
    features = ["age", "colour", "born", "size", "code"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "table.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, DOMAIN)
            writer.writeheader()
            writer.writerows(rows)
        for method in CLASSIFIERS:
            check(folder, rows, method, "answer", features)
        check(folder, rows, "logistic", "kind", features)
        check(folder, rows, "linear", "age", ["colour", "born", "size", "code"])
        check(folder, rows, "kmeans", "", ["age", "colour", "born", "size"])
        check(folder, rows, "pca", "", ["age", "colour", "born", "size"])


main()
