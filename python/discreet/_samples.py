"""Mechanisms on random parts of the rows. Offered by :mod:`discreet.mechanisms`."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

from . import _arrays, _core, errors
from ._statistics import _Rows
from .accounting import Event


class PoissonSample:
    """Every person takes part with the same chance: a secret sample makes what follows cheaper."""

    def __init__(self, probability: float) -> None:
        self._core = _core.PoissonSample(probability)

    def draw(self, people: int) -> Any:
        """The places of those that take part."""
        return _arrays.as_numbers(self._core.draw(people))

    def loss(self, inside: Event) -> Event:
        """The cost of a mechanism of cost ``inside`` on such a sample."""
        return Event(self._core.loss(inside._core))


class FixedSample:
    """A fixed number of people, every set of that size equally likely."""

    def __init__(self, sample: int, population: int) -> None:
        self._core = _core.FixedSample(sample, population)

    def draw(self) -> Any:
        return _arrays.as_numbers(self._core.draw())

    def loss(self, inside: Event) -> Event:
        return Event(self._core.loss(inside._core))


class SampleAndAggregate(_Rows):
    """Any estimator made private: it runs on blocks of rows, and the blocks' answers are combined privately.

    ``aggregate``: ``median`` or ``mean`` of the blocks' answers, each within [lower, upper].
    """

    def __init__(self, epsilon: float, *, blocks: int, lower: float, upper: float, aggregate: str = "median",
                 step: Optional[float] = None) -> None:
        if aggregate not in ("median", "mean"):
            raise errors.InvalidParameter("aggregate must be median or mean")
        super().__init__(lower, upper, step, 20)
        self._core = _core.SampleAndAggregate(epsilon, blocks, self._low, self._high, aggregate == "median")

    def release(self, rows: Any, estimator: "Callable[[Any], float]") -> float:
        """``estimator`` gets the rows of a block (as ``rows[places]`` gives them); it must answer for none too."""
        count = len(rows)

        def one(places: Any) -> int:
            if _arrays.numpy is not None and not isinstance(rows, (list, tuple)):
                block = rows.iloc[places] if hasattr(rows, "iloc") else rows[_arrays.numpy.asarray(places, dtype=int)]
            else:
                block = [rows[i] for i in places]
            answer = float(estimator(block))
            steps = 0 if math.isnan(answer) else max(min(answer, self.upper), self.lower) / self.step
            return max(self._low, min(self._high, math.floor(steps + 0.5)))

        return self._core.release(count, one) * self.step

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())
