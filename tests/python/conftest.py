"""What the tests share: the command line, and a small hospital."""
import json
import os
import pathlib
import subprocess
import sys

import pytest
from hypothesis import settings

settings.register_profile("discreet", database=None, print_blob=True)  # failures are told in full, nothing is left on disk
settings.load_profile("discreet")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "server"))


def binary():
    return os.environ.get("DISCREET", str(pathlib.Path(__file__).parents[2] / "build/bin/discreet"))


@pytest.fixture(scope="session")
def cli():
    """Runs the command line; its lines of JSON."""

    def run(*arguments, stdin=None, code=0):
        done = subprocess.run([binary(), *map(str, arguments)], input=stdin, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        if code:
            return done.stderr
        out = done.stdout.strip()
        try:
            return [json.loads(line) for line in out.splitlines()]
        except ValueError:
            return json.loads(out) if out else []

    return run


@pytest.fixture()
def hospital(tmp_path):
    """A policy on 3,000 made-up patients, each in one ward; its path."""
    wards = ["ICU", "ER", "MAT"]
    rows = ["patient_id,ward,age,born,vip,weight"]
    for i in range(3000):
        rows.append(f"{i},{wards[i % 3]},{20 + (i * 7) % 60},19{40 + i % 60}-03-0{1 + i % 9},"
                    f"{'true' if i % 5 == 0 else 'false'},{50 + i % 50}.5")
    (tmp_path / "patients.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "wards.csv").write_text("ward,beds,opened\nICU,10,2001-01-01\nER,20,2001-02-01\nMAT,30,2001-03-01\n")
    policy = tmp_path / "discreet.toml"
    policy.write_text("""
[tables.patients]
source = "patients.csv"
unit = "patient_id"
max_rows_per_unit = 1
[tables.patients.columns]
age = { range = [0, 120] }
weight = { range = [0.0, 200.0] }
ward = { values = ["ICU", "ER", "MAT", "NONE"] }
[tables.wards]
source = "wards.csv"
public = true
[budgets.default]
epsilon = 20.0
delta = 1e-6
[analysts.alice]
budget = { epsilon = 1.0, delta = 1e-8, of = "default" }
""")
    return policy
