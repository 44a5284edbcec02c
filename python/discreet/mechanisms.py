"""Mechanisms: exact noise for numbers, choices, quantiles, means, histograms.

Every mechanism is made once (bad parameters are refused there), knows its error before anything is released, and says
what a release costs (``loss``, an event for :mod:`discreet.accounting`). Noise comes from the operating system's
randomness by samplers whose distribution is exactly the stated one; it cannot be seeded.

Whole numbers get whole-number noise. Fractions are rounded to a grid first, because the last digits of
floating-point noise give the exact value away (Mironov 2012); the default grid is about a millionth of the noise.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Optional, Sequence

from . import _arrays, _core, errors
from ._arrays import empty, prepare, whole_rows
from .accounting import Event

__all__ = [
    "Laplace", "Gaussian", "Staircase", "BoundedLaplace", "RandomizedResponse", "Exponential", "PermuteAndFlip",
    "NoisyMax", "TopK", "SparseVector", "Quantile", "Quantiles", "Maximum", "Minimum", "Mean", "Covariance",
    "Correlation", "Histogram", "Tree", "PartitionSelection", "PoissonSample", "FixedSample", "SampleAndAggregate",
    "Estimate", "nonnegative", "whole",
]


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


class _Rows:
    """Statistics of rows within a public range; rows outside are moved to its ends. One row is one person."""

    def __init__(self, lower: float, upper: float, step: Optional[float], digits: int) -> None:
        whole = _arrays.is_whole_number(lower) and _arrays.is_whole_number(upper)
        if step is None:
            if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
                raise errors.InvalidParameter(f"lower must be below upper and both finite, not {lower} and {upper}")
            step = 1 if whole else 2.0 ** math.floor(math.log2((upper - lower) / 2.0**digits))
        self.lower, self.upper, self.step = lower, upper, step
        _, self._low, self._high = whole_rows([], step, lower, upper)

    def _rows(self, values: Any, ascending: bool = False) -> Any:
        return whole_rows(values, self.step, self.lower, self.upper, ascending)[0]

    def _unit(self, steps: int) -> Any:
        if self.step == 1:
            return int(steps)
        return steps * self.step


class Quantile(_Rows):
    """One quantile of rows within [lower, upper], by the exponential mechanism on ranks.

    Whole-number ends mean whole-number rows; else rows are rounded to ``step`` (about a hundred-thousandth of
    the range).
    """

    def __init__(self, epsilon: float, q: float = 0.5, *, lower: float, upper: float, step: Optional[float] = None) -> None:
        super().__init__(lower, upper, step, 17)
        self._core = _core.Quantile(epsilon, q, self._low, self._high)

    def release(self, values: Any) -> float:
        """From rows in any order."""
        return self._unit(self._core.release(self._rows(values, ascending=True)))

    def error(self, confidence: float = 0.95) -> float:
        """With this confidence the answer's rank is off by at most this many rows."""
        return self._core.rank_error_bound(confidence)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class Quantiles(_Rows):
    """Several quantiles together, cheaper than one by one."""

    def __init__(self, epsilon: float, quantiles: Sequence[float], *, lower: float, upper: float,
                 step: Optional[float] = None) -> None:
        super().__init__(lower, upper, step, 17)
        self._core = _core.Quantiles(epsilon, list(quantiles), self._low, self._high)

    def release(self, values: Any) -> Any:
        """One value for each quantile, never falling."""
        return _arrays.as_numbers([self._unit(v) for v in self._core.release(self._rows(values, ascending=True))])

    def error(self, confidence: float = 0.95) -> float:
        """With this confidence every answer's rank is off by at most this many rows."""
        return self._core.rank_error_bound(confidence)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class _Extreme(_Rows):
    _maximum: bool

    def __init__(self, epsilon: float, *, lower: float, upper: float, step: Optional[float] = None,
                 caution: float = 1.0) -> None:
        super().__init__(lower, upper, step, 17)
        self._core = _core.Extreme(epsilon, self._maximum, self._low, self._high, caution)

    def release(self, values: Any) -> float:
        """From rows in any order."""
        return self._unit(self._core.release(self._rows(values, ascending=True)))

    def error(self, confidence: float = 0.95) -> float:
        """With this confidence at most this many rows lie beyond the answer."""
        return self._core.rows_beyond_bound(confidence)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class Maximum(_Extreme):
    """The largest of rows within a public range, rather short of it than beyond."""

    _maximum = True


class Minimum(_Extreme):
    """The smallest of rows within a public range, rather short of it than beyond."""

    _maximum = False


class Moments(NamedTuple):
    """Count, sum, mean (and variance, deviation) of rows, released together."""

    count: Estimate  # type: ignore[assignment]  # hides tuple.count
    sum: Estimate
    mean: Estimate
    variance: Optional[Estimate] = None
    deviation: Optional[Estimate] = None


class Mean(_Rows):
    """Count, sum and mean of rows in one release by the K-norm mechanism; ``variance`` too where asked.

    >>> Mean(epsilon=1, lower=0, upper=120).release([34, 57, 41] * 1000).mean    # doctest: +SKIP
    Estimate(value=43.98, standard_error=0.02)
    """

    def __init__(self, epsilon: float, *, lower: float, upper: float, variance: bool = False,
                 step: Optional[float] = None) -> None:
        super().__init__(lower, upper, step, 15 if variance else 20)
        self._variance = variance
        self._core = _core.Moments(epsilon, self._low, self._high, variance)

    def release(self, values: Any, *, sample: bool = True) -> Moments:
        """``sample``: variance over n - 1 rather than n."""
        s = self.step
        if s != 1 and self._core.takes_real_sums():  # in one pass, without an array of steps
            found = self._core.release_real(prepare(values, whole=False).flat, s)
        else:
            found = self._core.release(self._rows(values), sample)
        count, *rest = (Estimate(*e) for e in found)
        powers = (s, s, s * s, s)
        return Moments(count, *(Estimate(e.value * p, e.standard_error * p) for e, p in zip(rest, powers)))

    def error(self, rows: int, mean: Optional[float] = None, confidence: float = 0.95) -> float:
        """Expected half-width of the mean's interval for a planned number of rows around a mean (the middle)."""
        from statistics import NormalDist

        middle = (self.lower + self.upper) / 2 if mean is None else mean
        sd = self._core.planned_mean_error(float(rows), middle / self.step) * self.step
        return NormalDist().inv_cdf(0.5 + confidence / 2) * sd

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class Covariance:
    """Covariance of two columns within public ranges."""

    _correlation = False

    def __init__(self, epsilon: float, *, first: "tuple[float, float]", second: "tuple[float, float]",
                 steps: "tuple[Optional[float], Optional[float]]" = (None, None)) -> None:
        digits = 7 if self._correlation else 12
        self._first = _Rows(*first, steps[0], digits)
        self._second = _Rows(*second, steps[1], digits)
        self._core = _core.Bivariate(epsilon, self._first._low, self._first._high, self._second._low,
                                     self._second._high, self._correlation)

    def release(self, first: Any, second: Any) -> Estimate:
        _, found = self._core.release(self._first._rows(first), self._second._rows(second), self._correlation)
        unit = 1.0 if self._correlation else self._first.step * self._second.step
        return Estimate(found[0] * unit, found[1] * unit)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class Correlation(Covariance):
    """Pearson's correlation of two columns within public ranges."""

    _correlation = True


class Histogram:
    """Noisy counts of bins. ``edges`` as in ``numpy.histogram``, or ``categories``: 0, 1, ..., categories - 1.

    One row is one person, in one bin: each count costs the same epsilon, and all of them together no more.
    """

    def __init__(self, epsilon: float, edges: Any = None, *, categories: Optional[int] = None) -> None:
        if (edges is None) == (categories is None):
            raise errors.InvalidParameter("give either edges or categories")
        self.edges: Any = None
        if categories is not None:
            self.bins = categories
        else:
            self.edges = prepare(edges, whole=False).flat
            self.bins = len(self.edges) - 1
        if self.bins < 1:
            raise errors.InvalidParameter("a histogram has at least one bin")
        self._noise = Laplace(epsilon, 1)

    def release(self, values: Any, *, nonnegative: bool = False) -> Any:
        """``nonnegative``: the nearest non-negative whole counts of the same total, which costs nothing."""
        counts = empty(self.bins, True)
        if self.edges is None:
            _core.tally_whole(prepare(values, whole=True).flat, 0, counts)
        else:
            _core.tally(prepare(values, whole=False).flat, self.edges, counts)
        noisy = self._noise.release(counts)
        if nonnegative:
            noisy = _arrays.as_numbers(_core.whole(_core.nonnegative([float(c) for c in noisy], [], None)))
        return noisy if _arrays.numpy is not None else list(noisy)

    def error(self, confidence: float = 0.95, *, worst: bool = False) -> float:
        """Of one count; ``worst``: of all of them at once."""
        return self._noise.error(confidence, whole=True, worst_of=self.bins if worst else 1)

    @property
    def loss(self) -> Event:
        return self._noise.loss


class TreeCounts:
    """Consistent noisy counts: those of parts add up to those of the whole."""

    def __init__(self, release: Any) -> None:
        self._release = release

    def range(self, first: int, last: int) -> Estimate:
        """The count of leaves first..last, both included."""
        value, variance = self._release.range(first, last)
        return Estimate(value, math.sqrt(variance))

    @property
    def total(self) -> float:
        return self._release.total()

    @property
    def leaves(self) -> Any:
        return _arrays.as_numbers(self._release.leaves())

    @property
    def cumulative(self) -> Any:
        """Counts up to each leaf; they never fall."""
        return _arrays.as_numbers(self._release.cumulative())

    def quantile(self, q: float) -> int:
        """The least leaf at which the cumulative count reaches q times the total."""
        return self._release.quantile(q)


class Tree:
    """Counts of 0 .. leaves - 1 for ranges and cumulative questions: ``epsilon``-DP, or ``rho``-zCDP."""

    def __init__(self, epsilon: Optional[float] = None, *, leaves: int, rho: Optional[float] = None, branching: int = 0) -> None:
        if (epsilon is None) == (rho is None):
            raise errors.InvalidParameter("give either epsilon or rho")
        if epsilon is not None:
            self._core = _core.Tree.laplace(epsilon, leaves, branching)
        elif rho is not None:
            self._core = _core.Tree.gaussian(rho, leaves, branching)
        self.leaves = leaves

    def release(self, values: Any) -> TreeCounts:
        """From rows, each one of 0 .. leaves - 1; others are left out."""
        counts = empty(self.leaves, True)
        _core.tally_whole(prepare(values, whole=True).flat, 0, counts)
        return TreeCounts(self._core.release(counts))

    def release_counts(self, counts: Any) -> TreeCounts:
        """From the exact counts of the leaves."""
        return TreeCounts(self._core.release(prepare(counts, whole=True).flat))

    def error(self, first: int, last: int, confidence: float = 0.95) -> float:
        return self._core.range_error_bound(first, last, confidence)

    @property
    def loss(self) -> Event:
        return Event(self._core.loss())


class PartitionSelection:
    """Which keys of a table may be named, given how many people have each; with noisy counts where asked.

    (``epsilon``, ``delta``)-DP when every person is in at most ``partitions`` keys.
    """

    def __init__(self, epsilon: float, delta: float, *, partitions: int = 1, people_min: int = 1) -> None:
        self._coin = _core.PartitionSelection(epsilon, delta, partitions, people_min)
        self._noisy = _core.NoisyPartitionSelection(epsilon, delta, partitions, people_min)

    def keep(self, people: Any) -> Any:
        """True for each key that may be named. Costs ``loss``."""
        given = prepare(people, whole=True)
        kept = _arrays.bytes_of(given.size)
        self._coin.keep(given.flat, kept)
        return [bool(k) for k in kept] if _arrays.numpy is None else kept.astype(bool)

    def release(self, people: Any) -> "tuple[Any, Any]":
        """(kept, counts): keys and noisy counts out of the same noise, paid for once (``loss_with_counts``)."""
        given = prepare(people, whole=True)
        kept, counts = _arrays.bytes_of(given.size), empty(given.size, True)
        self._noisy.release(given.flat, counts, kept)
        return ([bool(k) for k in kept], list(counts)) if _arrays.numpy is None else (kept.astype(bool), counts)

    def keep_probability(self, people: int) -> float:
        return self._coin.keep_probability(people)

    @property
    def loss(self) -> Event:
        return Event(self._coin.loss())

    @property
    def loss_with_counts(self) -> Event:
        return Event(self._noisy.loss())


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


def nonnegative(noisy: Any, *, variances: Any = (), total: Optional[float] = None) -> Any:
    """The nearest non-negative counts of the same (or the given) total. Post-processing: it costs nothing."""
    return _arrays.as_numbers(_core.nonnegative([float(x) for x in noisy], [float(v) for v in variances], total))


def whole(cells: Any) -> Any:
    """Whole numbers of the same total, each within one of its cell, for cells that are not negative."""
    return _arrays.as_numbers(_core.whole([float(x) for x in cells]))
