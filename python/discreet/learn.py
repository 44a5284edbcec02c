"""Private models with scikit-learn's conventions: ``fit``, ``predict``, ``get_params``; they go into pipelines.

>>> model = discreet.learn.LogisticRegression(epsilon=1.0, bounds=[(0, 1), (0, 1)], classes=[0, 1])
>>> model.fit(X, y).predict(X)                                                  # doctest: +SKIP

What is public about the columns is declared, never looked up in the rows: ``bounds`` for arrays (one pair for all columns or
one for each), ``domain`` for data frames (as in :func:`discreet.synth.fit`), ``classes`` for the labels. A fit is
(``epsilon``, ``delta``)-DP for one row more or less; ``fit(X, y, budget=...)`` spends that in a
:class:`discreet.accounting.Filter` before it releases anything. Arrays need pyarrow.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _core, errors
from .accounting import Event, Filter, Odometer, approximate, pure
from .synth import _frame, _without_index

if not hasattr(_core, "learn_fit"):
    raise ImportError("this build of discreet has no models: it was made without src/learn")

__all__ = ["KMeans", "LinearRegression", "LogisticRegression", "NaiveBayes", "PCA", "TreesClassifier", "load"]

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin, TransformerMixin
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """The few lines of scikit-learn's that estimators need, where it is not installed."""

        @classmethod
        def _names(cls) -> List[str]:
            return [p for p in inspect.signature(cls.__init__).parameters if p != "self"]

        def get_params(self, deep: bool = True) -> Dict[str, Any]:
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params: Any) -> Any:
            for name, value in params.items():
                if name not in self._names():
                    raise ValueError(f"invalid parameter {name!r}")
                setattr(self, name, value)
            return self

    class ClassifierMixin:  # type: ignore[no-redef]
        pass

    class RegressorMixin:  # type: ignore[no-redef]
        pass

    class ClusterMixin:  # type: ignore[no-redef]
        pass

    class TransformerMixin:  # type: ignore[no-redef]
        pass


_TARGET = "target"


def _columns(X: Any) -> "Dict[str, Any]":
    import numpy

    values = numpy.asarray(X, dtype=float)
    if values.ndim != 2:
        raise errors.InvalidParameter("rows and columns are wanted here: a two-dimensional array or a data frame")
    return {f"x{i}": values[:, i] for i in range(values.shape[1])}


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "column_names") or isinstance(X, Mapping)


class _Estimator(BaseEstimator):
    """What the models share: frames or arrays in, the domain from what was declared."""

    _method: str
    _supervised = True

    epsilon: float
    delta: float
    domain: Any
    bounds: Any

    def _table(self, X: Any, y: Any = None, target: Optional[str] = None) -> Any:
        if _is_frame(X) and y is None:
            return _frame(_without_index(X))
        import pyarrow

        columns = {str(n): X[n] for n in getattr(X, "columns", X)} if _is_frame(X) else _columns(X)
        made = {name: pyarrow.array(column) for name, column in columns.items()}
        if y is not None and target is not None:
            made[target] = pyarrow.array(y)
        return pyarrow.table(made)

    def _domain_of(self, X: Any, target: Optional[str], of_target: Any) -> str:
        if self.domain is not None:
            declared = dict(self.domain)
        elif self.bounds is not None:
            names = [str(n) for n in getattr(X, "columns", X)] if _is_frame(X) else list(_columns(X))
            pairs = list(self.bounds)
            if len(pairs) == 2 and not hasattr(pairs[0], "__len__"):
                pairs = [tuple(pairs)] * len(names)
            if len(pairs) != len(names):
                raise errors.InvalidParameter(f"bounds have {len(pairs)} pairs for {len(names)} columns")
            declared = {n: {"range": [float(low), float(high)], "nullable": False} for n, (low, high) in zip(names, pairs)}
        else:
            raise errors.InvalidParameter("say what the columns may hold: bounds=[(lower, upper), ...] or domain={...}. "
                                          "Finding it in the rows would give people away")
        if target is not None and target not in declared and of_target is not None:
            declared[target] = of_target
        return json.dumps(declared)

    @property
    def loss(self) -> Event:
        """What one fit costs, known before it."""
        return approximate(float(self.epsilon), float(self.delta)) if self.delta > 0 else pure(float(self.epsilon))

    def _fit(self, X: Any, y: Any, of_target: Any, budget: "Union[Filter, Odometer, None]", **options: Any) -> Any:
        given = dict(at_least=None, clusters=5, components=2, hidden=16, fast=bool(getattr(self, "fast", False)))
        given.update(options)
        target = None
        if self._supervised:
            target = y if isinstance(y, str) else _TARGET
        table = self._table(X, None if isinstance(y, str) else y, target)
        declared = self._domain_of(X, target, of_target)
        if budget is not None:
            budget.spend(self.loss)
        self.model_ = getattr(_core, "learn_fit")(table, self._method, declared, target or "",
                                      given["at_least"], float(self.epsilon), float(self.delta), given["clusters"],
                                      given["components"], given["hidden"], given["fast"])
        self.n_features_in_ = len(list(getattr(X, "columns", X))) if _is_frame(X) else len(_columns(X))
        return self

    def _predicted(self, X: Any) -> Any:
        if not hasattr(self, "model_"):
            raise errors.InvalidParameter("the model is not fitted yet: call fit first")
        return self.model_.predict(self._table(X))

    @property
    def notes_(self) -> List[str]:
        """How it was trained."""
        return list(self.model_.notes())

    def to_json(self) -> str:
        """The command line's form: ``discreet learn predict`` reads it."""
        return self.model_.json()


def _text(label: Any) -> str:
    if hasattr(label, "item"):
        label = label.item()
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


class _Classifier(ClassifierMixin, _Estimator):
    classes: Sequence[Any]

    def fit(self, X: Any, y: Any, *, budget: "Union[Filter, Odometer, None]" = None) -> Any:
        """``y``: labels, or the name of the target's column in a data frame."""
        import numpy

        if self.classes is None and (self.domain is None or not isinstance(y, str)):
            raise errors.InvalidParameter("name the classes: classes=[...]. Finding them in the rows would give people away")
        of_target = None if self.classes is None else {"values": [_text(c) for c in self.classes], "nullable": False}
        if self.classes is not None:
            self.classes_ = numpy.asarray(list(self.classes))
        return self._fit(X, y, of_target, budget)

    def predict(self, X: Any) -> Any:
        import numpy

        values, _ = self._predicted(X)
        if self.classes is None:
            return numpy.asarray(values)
        by_text = {_text(c): i for i, c in enumerate(self.classes)}
        return self.classes_[numpy.array([by_text[v] for v in values], dtype=int)]

    def predict_proba(self, X: Any) -> Any:
        """Of two classes: the chance of each."""
        import numpy

        values, scores = self._predicted(X)
        if self.classes is None or len(self.classes) != 2:
            raise errors.Refused("chances are given for two classes")
        second = numpy.array([s[0] for s in scores], dtype=float)
        return numpy.column_stack([1 - second, second])


class LogisticRegression(_Classifier):
    """Logistic regression, additive in the columns; ``fast``: quicker training for a little less accuracy."""

    _method = "logistic"

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-9, *, bounds: Any = None, domain: Any = None, classes: Any = None, fast: bool = False) -> None:
        self.epsilon, self.delta, self.bounds, self.domain, self.classes = epsilon, delta, bounds, domain, classes
        self.fast = fast


class NaiveBayes(_Classifier):
    """Naive Bayes from noisy tables."""

    _method = "naive-bayes"

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-9, *, bounds: Any = None, domain: Any = None, classes: Any = None) -> None:
        self.epsilon, self.delta, self.bounds, self.domain, self.classes = epsilon, delta, bounds, domain, classes


class TreesClassifier(_Classifier):
    """Boosted trees; ``fast``: quicker training for a little less accuracy."""

    _method = "trees"

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-9, *, bounds: Any = None, domain: Any = None, classes: Any = None, fast: bool = False) -> None:
        self.epsilon, self.delta, self.bounds, self.domain, self.classes = epsilon, delta, bounds, domain, classes
        self.fast = fast


class LinearRegression(RegressorMixin, _Estimator):
    """Linear regression from noisy second moments; ``target``: the public range of what is predicted."""

    _method = "linear"

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-9, *, bounds: Any = None, domain: Any = None, target: Any = None) -> None:
        self.epsilon, self.delta, self.bounds, self.domain, self.target = epsilon, delta, bounds, domain, target

    def fit(self, X: Any, y: Any, *, budget: "Union[Filter, Odometer, None]" = None) -> Any:
        """``y``: numbers, or the name of the target's column in a data frame."""
        if self.target is None and (self.domain is None or not isinstance(y, str)):
            raise errors.InvalidParameter("say within what the target lies: target=(lower, upper)")
        of_target = None if self.target is None else {"range": [float(self.target[0]), float(self.target[1])], "nullable": False}
        return self._fit(X, y, of_target, budget)

    def predict(self, X: Any) -> Any:
        import numpy

        return numpy.array([float(v) for v in self._predicted(X)[0]])


class KMeans(ClusterMixin, _Estimator):
    """k-means within the bounds."""

    _method = "kmeans"
    _supervised = False

    def __init__(self, n_clusters: int = 5, epsilon: float = 1.0, delta: float = 1e-9, *, bounds: Any = None, domain: Any = None) -> None:
        self.n_clusters, self.epsilon, self.delta, self.bounds, self.domain = n_clusters, epsilon, delta, bounds, domain

    def fit(self, X: Any, y: Any = None, *, budget: "Union[Filter, Odometer, None]" = None) -> Any:
        return self._fit(X, None, None, budget, clusters=self.n_clusters)

    def predict(self, X: Any) -> Any:
        """The cluster of each row."""
        import numpy

        return numpy.array([int(v) for v in self._predicted(X)[0]])


class PCA(TransformerMixin, _Estimator):
    """Principal components of columns scaled to [-1, 1] by their bounds."""

    _method = "pca"
    _supervised = False

    def __init__(self, n_components: int = 2, epsilon: float = 1.0, delta: float = 1e-9, *, bounds: Any = None, domain: Any = None) -> None:
        self.n_components, self.epsilon, self.delta, self.bounds, self.domain = n_components, epsilon, delta, bounds, domain

    def fit(self, X: Any, y: Any = None, *, budget: "Union[Filter, Odometer, None]" = None) -> Any:
        return self._fit(X, None, None, budget, components=self.n_components)

    def transform(self, X: Any) -> Any:
        """The coordinates of each row."""
        import numpy

        first, others = self._predicted(X)
        return numpy.column_stack([numpy.array([float(v) for v in first]), numpy.array(others).reshape(len(first), -1)])


def load(text: str) -> Any:
    """A model from its JSON; ``predict(frame)`` gives values and scores."""
    return getattr(_core, "LearnedModel").from_json(text)
