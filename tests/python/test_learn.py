"""Private models with scikit-learn's conventions."""
import json

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import discreet
from discreet import _core

if not hasattr(_core, "learn_fit"):
    pytest.skip("this build has no models", allow_module_level=True)
from discreet import learn

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]


def points(n=8000):
    rng = np.random.default_rng(1)
    X = rng.random((n, 2))
    y = ((X[:, 0] + X[:, 1] + rng.normal(0, 0.1, n)) > 1).astype(int)
    return X, y


@pytest.mark.parametrize("kind", [learn.LogisticRegression, learn.NaiveBayes, learn.TreesClassifier])
def test_classifiers_learn_and_predict(kind):
    X, y = points()
    model = kind(epsilon=3.0, bounds=BOUNDS, classes=[0, 1]).fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == y.shape and set(predicted) <= {0, 1}
    assert (predicted == y).mean() > 0.85 and model.score(X, y) > 0.85
    chances = model.predict_proba(X[:50])
    assert chances.shape == (50, 2) and np.allclose(chances.sum(axis=1), 1) and (chances[:, 1] > 0.5).tolist() == (predicted[:50] == 1).tolist()
    assert model.notes_ is not None and json.loads(model.to_json())


def test_scikit_learns_conventions_hold():
    X, y = points(3000)
    model = learn.LogisticRegression(epsilon=2.0, bounds=BOUNDS, classes=[0, 1])
    assert model.get_params()["epsilon"] == 2.0 and model.set_params(epsilon=4.0).epsilon == 4.0
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and not hasattr(fresh, "model_")
    pipe = make_pipeline(FunctionTransformer(lambda rows: rows ** 2), learn.LogisticRegression(epsilon=4.0, bounds=BOUNDS, classes=[0, 1]))
    assert pipe.fit(X, y).predict(X).shape == y.shape and pipe.score(X, y) > 0.8
    assert fresh.fit(X, y) is fresh


def test_frames_with_a_domain_and_the_targets_name():
    X, y = points(4000)
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": np.where(y == 1, "high", "low")})
    domain = {"a": {"range": [0.0, 1.0], "nullable": False}, "b": {"range": [0.0, 1.0], "nullable": False}, "label": {"values": ["low", "high"], "nullable": False}}
    model = learn.LogisticRegression(epsilon=3.0, domain=domain).fit(frame, "label")
    assert (model.predict(frame) == frame["label"]).mean() > 0.85


def test_regression_clusters_and_components():
    rng = np.random.default_rng(2)
    X = rng.random((8000, 2))
    y = 3 * X[:, 0] - X[:, 1] + rng.normal(0, 0.1, 8000)
    line = learn.LinearRegression(epsilon=3.0, bounds=BOUNDS, target=(-2.0, 4.0)).fit(X, y)
    assert line.score(X, y) > 0.8
    centres = np.array([[0.2, 0.2], [0.8, 0.8]])
    around = np.vstack([c + rng.normal(0, 0.03, (4000, 2)) for c in centres]).clip(0, 1)
    groups = learn.KMeans(2, epsilon=3.0, bounds=BOUNDS).fit(around).predict(around)
    assert max((groups[:4000] == 0).mean(), (groups[:4000] == 1).mean()) > 0.95
    assert learn.PCA(1, epsilon=3.0, bounds=BOUNDS).fit(around).transform(around[:10]).shape == (10, 1)


def test_models_share_a_budget():
    X, y = points(500)
    budget = discreet.accounting.Filter(3.0, 1e-6)
    model = learn.LogisticRegression(epsilon=2.0, bounds=BOUNDS, classes=[0, 1])
    assert model.fit(X, y, budget=budget).loss == discreet.accounting.approximate(2.0, 1e-9)
    spent, fresh = budget.save(), learn.KMeans(2, epsilon=1.5, bounds=BOUNDS)
    with pytest.raises(discreet.BudgetExhausted):
        fresh.fit(X, budget=budget)
    assert not hasattr(fresh, "model_") and budget.save() == spent
    with pytest.raises(discreet.InvalidParameter):
        learn.KMeans(2, epsilon=0.5, bounds=[(0, 1)]).fit(X, budget=budget)
    assert budget.save() == spent


def test_nothing_public_is_looked_up_in_the_rows():
    X, y = points(100)
    for wrong in (lambda: learn.LogisticRegression(epsilon=1.0, classes=[0, 1]).fit(X, y), lambda: learn.LogisticRegression(epsilon=1.0, bounds=BOUNDS).fit(X, y),
                  lambda: learn.LinearRegression(bounds=BOUNDS).fit(X, y), lambda: learn.LogisticRegression(bounds=BOUNDS, classes=[0, 1]).predict(X),
                  lambda: learn.LogisticRegression(epsilon=0, bounds=BOUNDS, classes=[0, 1]).fit(X, y), lambda: learn.KMeans(2, bounds=[(0, 1)]).fit(X)):
        with pytest.raises(discreet.InvalidParameter):
            wrong()
