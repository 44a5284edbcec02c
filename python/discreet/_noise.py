"""Mechanisms that add noise to numbers, and randomized response. Offered by :mod:`discreet.mechanisms`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

from . import _arrays, _core, errors
from ._arrays import empty, prepare
from .accounting import Event


class Estimate(NamedTuple):
    """A released number and the standard deviation of its noise."""

    value: float
    standard_error: float

    def interval(self, confidence: float = 0.95) -> "tuple[float, float]":
        """An interval by the normal law, of the noise alone."""
        from statistics import NormalDist

        half = NormalDist().inv_cdf(0.5 + confidence / 2) * self.standard_error
        return self.value - half, self.value + half


class _Noise:
    """What Laplace and Gaussian share: whole numbers by one sampler, fractions on a grid by another."""

    _grid: Optional[float]
    _dimension: Optional[int]

    def __init__(self) -> None:
        self._made: "dict[tuple[bool, int], Any]" = {}

    def _make(self, whole: bool, dimension: int) -> Any:
        raise NotImplementedError

    def _counts_coordinates(self, whole: bool) -> bool:
        """Whether the noise depends on how many entries one person can move."""
        return True

    def _mechanism(self, whole: bool, size: int) -> Any:
        dimension = max(1, size) if self._dimension is None else self._dimension
        key = (whole, dimension)
        if key not in self._made:
            if len(self._made) > 64:
                self._made.clear()
            self._made[key] = self._make(whole, dimension)
        return self._made[key]

    def release(self, values: Any, *, out: Any = None, threads: int = 1) -> Any:
        """The values with fresh noise on each. A number gives a number, a list a list, an array an array.

        The sensitivity is that of the whole array. ``out``: a contiguous int64 or float64 array of the same size to
        write into, which may be ``values`` itself: then nothing is copied. Python's lock is released meanwhile.
        """
        given = prepare(values, whole=False if self._grid is not None else None)
        mechanism = self._mechanism(given.whole, given.size)
        room = empty(given.size, given.whole) if out is None else out.reshape(-1)
        at_once = self._dimension if self._dimension is not None and self._counts_coordinates(given.whole) else given.size
        mechanism.release(given.flat, room, threads, max(1, at_once))
        return given.give(room) if out is None else out

    def error(self, confidence: float = 0.95, *, whole: bool = False, worst_of: int = 1) -> float:
        """With this confidence a release is within this distance of the exact value: known before any release.

        ``whole``: of whole numbers (else of fractions). ``worst_of``: for the worst of that many values at once.
        """
        mechanism = self._mechanism(whole and self._grid is None, 1)
        if worst_of == 1:
            return mechanism.error_bound(confidence)
        return mechanism.error_bound_of_worst(confidence, worst_of)

    @property
    def loss(self) -> Event:
        """What the release of one number costs, for the accountant; of an array: :meth:`loss_of`."""
        return Event(self._mechanism(self._grid is None, 1).loss())

    def loss_of(self, values: Any) -> Event:
        """What releasing these values (or as many: an array of the same shape and type) costs. Looks at no value."""
        given = prepare(values, whole=False if self._grid is not None else None)
        return Event(self._mechanism(given.whole, given.size).loss())


class Laplace(_Noise):
    """Laplace noise: ``epsilon``-DP for values whose L1 sensitivity is ``sensitivity``.

    >>> Laplace(epsilon=0.1, sensitivity=1).release(1000)    # doctest: +SKIP
    993

    ``grid``: release multiples of this step. ``dimension``: how many entries of an array one person can move; all of
    them unless told. It matters for fractions only, where each entry that moves may be rounded once more.
    """

    def __init__(self, epsilon: float, sensitivity: float = 1.0, *, grid: Optional[float] = None,
                 dimension: Optional[int] = None) -> None:
        super().__init__()
        self.epsilon, self.sensitivity = float(epsilon), float(sensitivity)
        self._grid, self._dimension = grid, dimension
        self._mechanism(grid is None, 1)  # refuses bad parameters now

    def _counts_coordinates(self, whole: bool) -> bool:
        return not whole

    def _make(self, whole: bool, dimension: int) -> Any:
        if whole:
            return _core.DiscreteLaplace(self.epsilon, self.sensitivity)
        return _core.GridLaplace(self.epsilon, self.sensitivity, dimension, self._grid)

    @classmethod
    def for_error(cls, error: float, confidence: float = 0.95, sensitivity: float = 1.0) -> "Laplace":
        """The least epsilon whose error on whole numbers stays within ``error`` with this confidence."""
        return cls(_core.DiscreteLaplace.for_error(error, confidence, sensitivity).epsilon(), sensitivity)

    @property
    def scale(self) -> float:
        return self.sensitivity / self.epsilon

    def __repr__(self) -> str:
        return f"Laplace(epsilon={self.epsilon:g}, sensitivity={self.sensitivity:g})"


class Gaussian(_Noise):
    """Gaussian noise: (``epsilon``, ``delta``)-DP, or ``rho``-zCDP, for values of this L2 sensitivity.

    The noise is the least that is proved: by the exact profile, the analytic Gaussian or zCDP. For arrays the accountant
    wants ``loss_of(values)``: several coordinates are priced by their zCDP.
    """

    def __init__(self, epsilon: Optional[float] = None, delta: Optional[float] = None, *, rho: Optional[float] = None,
                 sensitivity: float = 1.0, grid: Optional[float] = None, dimension: Optional[int] = None) -> None:
        super().__init__()
        if (rho is None) == (epsilon is None or delta is None) or (rho is not None and (epsilon or delta)):
            raise errors.InvalidParameter("give either epsilon and delta, or rho")
        self.epsilon: Any = epsilon  # None where rho is given
        self.delta: Any = delta
        self.rho = rho
        self.sensitivity = float(sensitivity)
        self._grid, self._dimension = grid, dimension
        self._mechanism(grid is None, 1)

    def _step(self, dimension: int) -> float:
        if self._grid is not None:
            return self._grid
        scale = self.sensitivity / (math.sqrt(2 * self.rho) if self.rho is not None else max(self.epsilon, 1e-9))
        return _core.grid_step_for_scale(min(scale, self.sensitivity / math.sqrt(dimension)))

    def _make(self, whole: bool, dimension: int) -> Any:
        if self.rho is not None:
            if whole:
                return _core.DiscreteGaussian.concentrated(self.rho, self.sensitivity, dimension)
            return _core.GridGaussian.concentrated(self.rho, self.sensitivity, self._step(dimension), dimension)
        if whole:
            return _core.DiscreteGaussian.approximate(self.epsilon, self.delta, self.sensitivity, dimension)
        return _core.GridGaussian.approximate(self.epsilon, self.delta, self.sensitivity, self._step(dimension),
                                              dimension)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise on one whole number (on one fraction, where a grid is given)."""
        if self._grid is not None:
            return self._mechanism(False, 1).sigma()
        return math.sqrt(self._mechanism(True, 1).variance())

    @property
    def calibration(self) -> str:
        """Which proof the noise on one whole number rests on."""
        return _core.DiscreteGaussian.calibration(self._mechanism(True, 1))

    def __repr__(self) -> str:
        privacy = f"rho={self.rho:g}" if self.rho is not None else f"epsilon={self.epsilon:g}, delta={self.delta:g}"
        return f"Gaussian({privacy}, sensitivity={self.sensitivity:g})"


class _OneByOne:
    _core: Any

    def release(self, values: Any) -> Any:
        """Whole numbers with fresh noise on each."""
        given = prepare(values, whole=True)
        room = empty(given.size, True)
        self._core.release(given.flat, room)
        return given.give(room)

    def error(self, confidence: float = 0.95) -> float:
        """With this confidence a release is within this distance of the exact value."""
        return self._core.error_bound(confidence)

    @property
    def loss(self) -> Event:
        """What one release costs, for the accountant."""
        return Event(self._core.loss())


class Staircase(_OneByOne):
    """The staircase mechanism (Geng and Viswanath 2014): least error for one whole number at large epsilon."""

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        self._core = _core.Staircase(epsilon, sensitivity)

    @property
    def expected_error(self) -> float:
        return self._core.expected_error()


class BoundedLaplace(_OneByOne):
    """Laplace noise whose releases stay within [lower, upper]: ``clamped``, ``folded`` or ``truncated``."""

    def __init__(self, epsilon: float, sensitivity: float = 1.0, *, lower: int, upper: int, form: str = "clamped") -> None:
        self._core = _core.BoundedLaplace(epsilon, sensitivity, lower, upper, form)


class CountEstimate(NamedTuple):
    """How many people gave an answer, estimated from randomised reports."""

    count: float  # type: ignore[assignment]  # hides tuple.count
    standard_error: float
    low: float
    high: float


class RandomizedResponse:
    """Each person answers truthfully with some chance, else with one of the other answers.

    Give ``epsilon``, or ``truth`` (the chance of the true answer), or ``keep`` (keep with this chance, else uniform).
    """

    def __init__(self, epsilon: Optional[float] = None, *, values: int = 2, truth: Optional[float] = None,
                 keep: Optional[float] = None) -> None:
        if sum(x is not None for x in (epsilon, truth, keep)) != 1:
            raise errors.InvalidParameter("give one of epsilon, truth and keep")
        if epsilon is not None:
            self._core = _core.RandomizedResponse.with_epsilon(epsilon, values)
        elif truth is not None:
            self._core = _core.RandomizedResponse.with_truth(truth, values)
        elif keep is not None:
            self._core = _core.RandomizedResponse.with_keep(keep, values)

    @property
    def epsilon(self) -> float:
        return self._core.epsilon()

    @property
    def truth(self) -> float:
        """The chance of the true answer."""
        return self._core.truth_chance()

    def release(self, answers: Any) -> Any:
        """A report for each answer (0, 1, ..., values - 1, or booleans)."""
        booleans = isinstance(answers, bool) or getattr(getattr(answers, "dtype", None), "kind", "") == "b" or (
            isinstance(answers, (list, tuple)) and len(answers) > 0 and all(isinstance(a, bool) for a in answers))
        given = prepare(answers, whole=True)
        room = empty(given.size, True)
        self._core.release(given.flat, room)
        out = given.give(room)
        if not booleans:
            return out
        if isinstance(out, list):
            return [bool(x) for x in out]
        return bool(out) if isinstance(out, int) else out.astype(bool)

    def estimate(self, reports: Any, answer: int = 1, *, confidence: float = 0.95) -> CountEstimate:
        """How many of the people behind these reports hold ``answer``."""
        given = prepare(reports, whole=True)
        observed = sum(1 for r in given.flat if r == answer) if _arrays.numpy is None else int(
            (_arrays.numpy.asarray(given.flat) == answer).sum())
        return CountEstimate(*self._core.estimate_count(observed, given.size, confidence))

    def error(self, reports: int, confidence: float = 0.95) -> float:
        """The error of a count estimated from this many reports."""
        return self._core.error_bound(confidence, reports)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())
