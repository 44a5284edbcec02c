"""Mechanisms: exact noise for numbers, choices, quantiles, means, histograms.

Every mechanism is made once (bad parameters are refused there), knows its error before anything is released, and says
what a release costs (``loss``, an event for :mod:`discreet.accounting`). Noise comes from the operating system's
randomness by samplers whose distribution is exactly the stated one; it cannot be seeded.

Whole numbers get whole-number noise. Fractions are rounded to a grid first, because the last digits of
floating-point noise give the exact value away (Mironov 2012); the default grid is about a millionth of the noise.
"""

from __future__ import annotations

from typing import Any, Optional

from . import _arrays, _core
from ._choices import Exponential, NoisyMax, PermuteAndFlip, SparseVector, TopK
from ._groups import Histogram, PartitionSelection, Tree
from ._noise import BoundedLaplace, Estimate, Gaussian, Laplace, RandomizedResponse, Staircase
from ._samples import FixedSample, PoissonSample, SampleAndAggregate
from ._statistics import Correlation, Covariance, Maximum, Mean, Minimum, Quantile, Quantiles

__all__ = [
    "Laplace", "Gaussian", "Staircase", "BoundedLaplace", "RandomizedResponse", "Exponential", "PermuteAndFlip",
    "NoisyMax", "TopK", "SparseVector", "Quantile", "Quantiles", "Maximum", "Minimum", "Mean", "Covariance",
    "Correlation", "Histogram", "Tree", "PartitionSelection", "PoissonSample", "FixedSample", "SampleAndAggregate",
    "Estimate", "nonnegative", "whole",
]


def nonnegative(noisy: Any, *, variances: Any = (), total: Optional[float] = None) -> Any:
    """The nearest non-negative counts of the same (or the given) total. Post-processing: it costs nothing."""
    return _arrays.as_numbers(_core.nonnegative([float(x) for x in noisy], [float(v) for v in variances], total))


def whole(cells: Any) -> Any:
    """Whole numbers of the same total, each within one of its cell, for cells that are not negative."""
    return _arrays.as_numbers(_core.whole([float(x) for x in cells]))
