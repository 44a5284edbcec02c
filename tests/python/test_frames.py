"""Synthetic twins of data frames: every library's frames in, the same columns and types out."""
import datetime

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

import discreet
from discreet import synth

DOMAIN = {"age": {"range": [0, 99], "nullable": False}, "ward": {"values": ["ICU", "ER", "MAT"], "nullable": False}, "code": 4,
          "vip": {"values": ["false", "true"], "nullable": False}}


def rows(n=3000):
    rng = np.random.default_rng(3)
    ward = rng.choice(["ICU", "ER", "MAT"], n, p=[0.6, 0.3, 0.1])
    return {"age": rng.integers(20, 60, n), "ward": ward, "code": (ward == "ICU") * 2 + rng.integers(0, 2, n), "vip": rng.random(n) < 0.2}


FRAMES = {
    "pandas": pandas.DataFrame,
    "pandas, arrow types": lambda d: pandas.DataFrame(d).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda d: pandas.DataFrame(d).astype({"ward": "category"}),
    "pandas, an index": lambda d: pandas.DataFrame(d).set_index(pandas.Index(range(7, 7 + len(d["age"])), name="who")),
    "polars": polars.DataFrame,
    "polars, an enum": lambda d: polars.DataFrame(d).with_columns(polars.col("ward").cast(polars.Enum(["ICU", "ER", "MAT"]))),
    "pyarrow": lambda d: pyarrow.table({k: pyarrow.array(v) for k, v in d.items()}),
    "pyarrow, pieces": lambda d: pyarrow.table({k: pyarrow.chunked_array([pyarrow.array(v[:100]), pyarrow.array(v[100:])]) for k, v in d.items()}),
    "pyarrow, a slice": lambda d: pyarrow.table({k: pyarrow.array(np.concatenate([v[:5], v, v[:3]])) for k, v in d.items()}).slice(5, len(d["age"])),
    "duckdb": lambda d: duckdb.from_df(pandas.DataFrame(d)),
    "a dictionary": lambda d: {k: v.tolist() for k, v in d.items()},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_is_read_alike(kind):
    real = rows()
    twin = synth.fit(FRAMES[kind](real), epsilon=20.0, domain=DOMAIN, workload="2way", method="independent", rows=3000, fast=True)
    made = twin.to_pandas()
    assert list(made.columns) == ["age", "ward", "code", "vip"]
    assert str(made["age"].dtype) == "int64" and made["vip"].dtype == bool and len(twin) == 3000
    for ward in ("ICU", "ER", "MAT"):
        assert abs((made["ward"] == ward).mean() - (real["ward"] == ward).mean()) < 0.02
    assert abs(made["age"].mean() - real["age"].mean()) < 1 and abs(made["vip"].mean() - real["vip"].mean()) < 0.02


def test_twins_keep_pairs_together_and_are_scored_by_their_owner():
    real = pandas.DataFrame(rows())
    stages = []
    twin = synth.fit(real, epsilon=10.0, domain=DOMAIN, workload="2way", fast=True, rows=3000,
                     progress=lambda stage, done: stages.append((stage, done)))
    coarse = synth.fit(real, epsilon=10.0, domain=DOMAIN, workload="2way", method="independent", rows=3000)
    good, bad = synth.score(real, twin, workload="2way"), synth.score(real, coarse, workload="2way")
    assert good.mean_tvd < bad.mean_tvd and 0 < good.max_error < 0.2
    assert stages and all(0 <= done <= 1 for _, done in stages)
    assert twin.epsilon == 10.0 and twin.rho > 0 and twin.notes
    assert "<html" in twin.report().lower() and "3,000 rows" in repr(twin) and "epsilon 10" in twin._repr_html_()


def test_what_nobody_declared_is_found_privately():
    rng = np.random.default_rng(4)
    n = 20_000
    real = pandas.DataFrame({"age": rng.integers(18, 90, n), "height": rng.normal(170, 10, n), "town": rng.choice(["A", "B"], n),
                             "born": [datetime.date(1950 + int(x) % 50, 1 + int(x) % 12, 1) for x in rng.integers(0, 600, n)]})
    twin = synth.fit(real, epsilon=8.0, fast=True, method="independent", workload="1way", rows=5000)
    made = twin.to_pandas()
    assert list(made.columns) == list(real.columns) and str(made["height"].dtype) == "float64"
    assert abs(made["height"].median() - 170) < 15 and abs(made["age"].median() - real["age"].median()) < 15
    # Nobody said that a town is always there, so a few rows may miss one: their noisy count is near 0, not 0.
    assert set(made["town"].dropna()) <= {"A", "B"} and made["town"].isna().mean() < 0.02 and abs((made["town"] == "A").mean() - 0.5) < 0.1
    assert any("age: found privately within" in note for note in twin.notes)


def test_a_key_that_one_person_has_does_not_appear():
    real = pandas.DataFrame({"name": ["everybody"] * 5000 + ["only-me"]})
    for _ in range(3):
        made = synth.fit(real, epsilon=1.0, delta=1e-9, workload="1way", method="independent").to_pandas()
        assert "only-me" not in set(made["name"].dropna())


def test_missing_values_stay_missing_values():
    real = polars.DataFrame({"age": [None, 30, 40] * 1000, "ward": ["ICU", None, "ER"] * 1000})
    made = synth.fit(real, epsilon=10.0, domain={"age": {"range": [0, 99]}, "ward": {"values": ["ICU", "ER"]}}, workload="1way",
                     method="independent", rows=3000).to_polars()
    assert 800 < made["age"].null_count() < 1200 and 800 < made["ward"].null_count() < 1200


def test_twins_share_a_budget_and_are_charged_before_anything_is_released():
    real, budget = pandas.DataFrame(rows(300)), discreet.accounting.Filter(3.0, 1e-6)
    terms = dict(delta=1e-8, domain=DOMAIN, workload="1way", method="independent", budget=budget)
    twin = synth.fit(real, epsilon=2.0, **terms)
    assert twin.loss == discreet.accounting.approximate(2.0, 1e-8)
    spent = budget.save()
    with pytest.raises(discreet.BudgetExhausted):
        synth.fit(real, epsilon=1.5, **terms)
    for wrong in (dict(terms, method="magic"), dict(terms, delta=0), dict(terms, domain={"missing": 3})):
        with pytest.raises(discreet.DiscreetError):
            synth.fit(real, epsilon=0.5, **wrong)
    assert budget.save() == spent  # neither a refusal nor a mistake costs
    with pytest.raises(discreet.DiscreetError):
        synth.fit(real, epsilon=0.5, progress=lambda stage, done: False, **dict(terms, method="latent", workload="2way"))
    assert budget.save() != spent  # what was begun is paid, although it was stopped
    meter = discreet.accounting.Odometer(1e-6)
    synth.fit(real, epsilon=0.25, **dict(terms, budget=meter))
    assert meter.epsilon >= 0.25


def test_twins_of_a_curators_tables_are_in_its_ledger(tmp_path):
    cur = discreet.protect({"people": pandas.DataFrame(rows(2000))}, epsilon=2.0, delta=1e-6, folder=tmp_path,
                           columns={"people": {"age": {"range": [0, 99]}, "ward": {"values": ["ICU", "ER", "MAT"]}, "code": {"range": [0, 3]}}})
    make = "create table twin as synthesize people with (epsilon = 1.5, delta = 1e-8, fast = true, workload = '2way')"
    cur.query(make)
    assert cur.budget().epsilon_spent == 1.5 and cur.query(make).repeated
    made = cur.query("select * from twin").to_pandas()
    assert {"age", "ward", "code"} <= set(made.columns) and len(made) > 1000
    with pytest.raises(discreet.BudgetExhausted):
        cur.query("create table another as synthesize people with (epsilon = 1)")
    assert discreet.open(tmp_path / "discreet.toml").budget().epsilon_spent == 1.5  # and it lasts


def test_progress_can_stop_the_work():
    with pytest.raises(discreet.DiscreetError):
        synth.fit(pandas.DataFrame(rows()), epsilon=1.0, domain=DOMAIN, progress=lambda stage, done: False)


def test_bad_tables_and_parameters_are_refused():
    real = pandas.DataFrame(rows(200))
    for wrong, kind in ((lambda: synth.fit(real, epsilon=0), discreet.InvalidParameter), (lambda: synth.fit(real, epsilon=1, delta=0), discreet.InvalidParameter),
                        (lambda: synth.fit(real, epsilon=1, domain={"missing": 3}), discreet.NotFound),
                        (lambda: synth.fit(real, epsilon=1, domain=DOMAIN, method="magic"), discreet.InvalidParameter),
                        (lambda: synth.fit(42, epsilon=1), discreet.InvalidInput),
                        (lambda: synth.fit(pyarrow.table({"x": pyarrow.array([[1], [2]])}), epsilon=1), discreet.InvalidInput)):
        with pytest.raises(kind):
            wrong()


def test_twins_are_independent_tables_of_one_model():
    twin = synth.fit(pandas.DataFrame(rows()), epsilon=5.0, domain=DOMAIN, workload="1way", method="independent", twins=2, rows=500)
    first, second = (t.to_polars() for t in twin.twins)
    assert first.shape == second.shape and not first.equals(second)
