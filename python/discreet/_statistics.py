"""Statistics of rows within a public range. Offered by :mod:`discreet.mechanisms`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Sequence

from . import _arrays, _core, errors
from ._arrays import prepare, whole_rows
from ._noise import Estimate
from .accounting import Event


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
