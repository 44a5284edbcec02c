"""Counts of groups: histograms, trees, keys that are private. Offered by :mod:`discreet.mechanisms`."""

from __future__ import annotations

import math
from typing import Any, Optional

from . import _arrays, _core, errors
from ._arrays import empty, prepare
from ._noise import Estimate, Laplace
from .accounting import Event


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
