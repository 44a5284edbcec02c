"""Numbers in and out: scalars, lists, NumPy arrays and what turns into one, without copies where none is needed."""

from __future__ import annotations

import array
import math
import numbers
import sys
from typing import Any, Callable, NamedTuple, Optional

from . import errors

try:
    import numpy
except ImportError:  # numbers and lists work without it
    numpy = None  # type: ignore[assignment]


class Prepared(NamedTuple):
    """Values as the compiled half wants them: one dimension, contiguous, int64 or double."""

    whole: bool
    flat: Any
    size: int
    give: Callable[[Any], Any]
    """Turns released values of the same size into what the caller gave: a number, a list, an array of the same shape."""


def empty(size: int, whole: bool) -> Any:
    """Room for ``size`` released values."""
    if numpy is not None:
        return numpy.empty(size, dtype=numpy.int64 if whole else numpy.float64)
    return array.array("q" if whole else "d", bytes(8 * size))


def bytes_of(size: int) -> Any:
    """Room for ``size`` yes-or-no answers."""
    if numpy is not None:
        return numpy.zeros(size, dtype=numpy.uint8)
    return array.array("B", bytes(size))


def _is_number(values: Any) -> bool:
    return isinstance(values, numbers.Real) or (numpy is not None and isinstance(values, numpy.bool_))


def is_whole_number(value: Any) -> bool:
    return isinstance(value, numbers.Integral) or (numpy is not None and isinstance(value, numpy.bool_))


def _number(value: Any, whole: Optional[bool]) -> Prepared:
    if whole is None:
        whole = is_whole_number(value)
    if whole:
        exact = _whole(value)
        return Prepared(True, array.array("q", [exact]), 1, lambda out: int(out[0]))
    return Prepared(False, array.array("d", [float(value)]), 1, lambda out: float(out[0]))


def _whole(value: Any) -> int:
    """Beyond 64 bits a value stops at the end: failing would tell that it is large."""
    if not is_whole_number(value):
        if not float(value).is_integer():
            raise errors.InvalidParameter(f"a whole number is wanted here, not {value!r}")
    return max(-(2**63), min(2**63 - 1, int(value)))


def _list(values: Any, whole: Optional[bool]) -> Prepared:
    values = list(values)
    if not all(_is_number(v) for v in values):
        raise errors.InvalidParameter("values must be numbers; nested lists are not arrays (use numpy.array)")
    if whole is None:
        whole = all(is_whole_number(v) for v in values)
    flat = array.array("q", [_whole(v) for v in values]) if whole else array.array("d", map(float, values))
    return Prepared(whole, flat, len(values), lambda out: out.tolist())


def prepare(values: Any, whole: Optional[bool] = None) -> Prepared:
    """``whole``: True for int64, False for double, None for what the values are."""
    if _is_number(values):
        return _number(values, whole)
    if isinstance(values, (list, tuple, range)):
        return _list(values, whole)
    if numpy is None:
        if isinstance(values, (array.array, memoryview)):
            return _list(values, whole)
        raise errors.InvalidParameter("values must be a number or a list; install numpy for arrays")
    given = numpy.asarray(values)
    if given.dtype == bool:
        given = given.astype(numpy.int64)
    kind = given.dtype.kind
    if kind not in "iuf":
        raise errors.InvalidParameter(f"values must be numbers, not {given.dtype}")
    if whole is None:
        whole = kind != "f"
    if whole and kind == "f":
        raise errors.InvalidParameter("whole numbers are wanted here; these values are fractions")
    if kind == "u" and given.dtype.itemsize == 8:
        given = numpy.minimum(given, numpy.uint64(2**63 - 1))
    wanted = numpy.int64 if whole else numpy.float64
    flat = numpy.ascontiguousarray(given, dtype=wanted).reshape(-1)
    shape = given.shape

    def give(out: Any) -> Any:
        return out[0] if shape == () else out.reshape(shape)

    return Prepared(whole, flat, flat.size, give)


def whole_rows(values: Any, step: float, lower: float, upper: float, ascending: bool = False) -> "tuple[Any, int, int]":
    """Rows as whole numbers of steps within [lower, upper], and the ends in steps.

    ``ascending``: sorted where that is cheap, for mechanisms that sort.
    """
    if not (math.isfinite(step) and step > 0):
        raise errors.InvalidParameter(f"step must be positive and finite, not {step}")
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        raise errors.InvalidParameter(f"lower must be below upper and both finite, not {lower} and {upper}")
    low, high = round(lower / step), round(upper / step)
    if step == 1 and not (isinstance(values, (list, tuple)) or numpy is None):
        given = numpy.asarray(values)
        if given.dtype.kind in "iub":
            return numpy.ascontiguousarray(given.reshape(-1), dtype=numpy.int64), low, high
    from . import _core

    rows = prepare(values, whole=False)
    out = empty(rows.size, True)
    (_core.sorted_steps if ascending else _core.steps_of)(rows.flat, step, low, high, out)
    return out, low, high


def as_numbers(values: Any) -> Any:
    """A list, or a NumPy array where there is NumPy."""
    return values if numpy is None else numpy.asarray(values)


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def warn(message: str) -> None:
    """To stderr, as the command line does: notices are not warnings of Python's own machinery."""
    print(f"discreet: {message}", file=sys.stderr)
