"""Mechanisms that choose. Offered by :mod:`discreet.mechanisms`."""

from __future__ import annotations

from typing import Any, Callable, Optional

from . import _arrays, _core, errors
from ._arrays import prepare
from .accounting import Event


class _Choice:
    _core: Any

    def _scores(self, scores: Any, whole: Optional[bool] = None) -> Any:
        given = prepare(scores, whole)
        if given.size == 0:
            raise errors.InvalidParameter("there is nothing to choose from")
        return given.flat

    def choose(self, scores: Any) -> int:
        """The index of the chosen candidate; greater scores are better."""
        return self._core.choose(self._scores(scores))

    def error(self, candidates: int, confidence: float = 0.95) -> float:
        """With this confidence the chosen score is at most this far below the best."""
        return self._core.error_bound(confidence, candidates)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class Exponential(_Choice):
    """The exponential mechanism. ``sensitivity``: how far one person moves any one score; ``monotone``: one person
    moves all scores the same way, as in counting (halves the noise; claiming it wrongly doubles the loss)."""

    def __init__(self, epsilon: float, sensitivity: float = 1.0, *, monotone: bool = False) -> None:
        self._core = _core.ExponentialMechanism(epsilon, sensitivity, monotone)


class PermuteAndFlip(_Choice):
    """Permute-and-flip (McKenna and Sheldon 2020): never worse than the exponential mechanism."""

    def __init__(self, epsilon: float, sensitivity: float = 1.0, *, monotone: bool = False) -> None:
        self._core = _core.PermuteAndFlip(epsilon, sensitivity, monotone)


class NoisyMax(_Choice):
    """Report noisy max, on whole-number scores."""

    def __init__(self, epsilon: float, sensitivity: float = 1.0, *, monotone: bool = False, laplace: bool = False) -> None:
        self._core = _core.NoisyMax(epsilon, sensitivity, monotone, laplace)

    def choose(self, scores: Any) -> int:
        return self._core.choose(self._scores(scores, True))

    def choose_with_gap(self, scores: Any) -> "tuple[int, int]":
        """The choice, and for the same price how far its noisy score is above the runner-up's. Needs ``laplace=True``."""
        return self._core.choose_with_gap(self._scores(scores, True))


class TopK(_Choice):
    """The k best in order, in one shot; ``epsilon`` is for all of them together."""

    def __init__(self, epsilon: float, k: int, sensitivity: float = 1.0, *, monotone: bool = False) -> None:
        self._core = _core.TopK(epsilon, k, sensitivity, monotone)

    def choose(self, scores: Any) -> "list[int]":  # type: ignore[override]
        """Indices, the first choice first."""
        return list(self._core.choose(self._scores(scores)))


class SparseVector:
    """Above-threshold questions: only the first ``answers_max`` times that the answer is yes are paid for.

    >>> run = SparseVector(epsilon=1, answers_max=2).start(threshold=100)
    >>> [run.above(x) for x in (3, 5, 1000)]    # doctest: +SKIP
    [False, False, True]

    ``values``: the share of epsilon kept to measure each yes (``value_above``). Fractions need ``grid``.
    """

    class Run:
        """One run; ``answers_left`` counts the yeses that are still paid for."""

        def __init__(self, run: Any, steps: "Callable[[Any], int]", unit: "Callable[[int], Any]") -> None:
            self._run, self._steps, self._unit = run, steps, unit

        def above(self, exact: float) -> bool:
            """Whether the noisy answer reaches the noisy threshold."""
            return self._run.above(self._steps(exact))

        def value_above(self, exact: float) -> "Optional[float]":
            """The same, and for a yes the value with noise of its own."""
            measured = self._run.value_above(self._steps(exact))
            return None if measured is None else self._unit(measured)

        @property
        def answers_left(self) -> int:
            return self._run.answers_left()

    def __init__(self, epsilon: float, sensitivity: float = 1.0, *, answers_max: int = 1, monotone: bool = False,
                 values: float = 0.0, grid: Optional[float] = None) -> None:
        self._grid = None if grid is None else _core.QueryGrid(grid)
        of_steps = sensitivity if self._grid is None else self._grid.sensitivity(sensitivity)
        self._core = _core.SparseVector(epsilon, of_steps, answers_max, monotone, values)

    def _steps(self, exact: Any) -> int:
        return self._grid.steps(float(exact)) if self._grid else _arrays._whole(exact)

    def _unit(self, steps: int) -> Any:
        return self._grid.value(steps) if self._grid else steps

    def start(self, threshold: float) -> "SparseVector.Run":
        """A run, which costs ``loss`` as a whole."""
        return SparseVector.Run(self._core.start(self._steps(threshold)), self._steps, self._unit)

    def error(self, questions: int, confidence: float = 0.95) -> float:
        return self._unit(int(self._core.error_bound(confidence, questions)))

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())
