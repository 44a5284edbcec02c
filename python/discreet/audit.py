"""Audits: attempts to refute a claim of privacy by running it on two neighbouring data sets.

>>> def count(rows):                                        # claims epsilon = 1
...     return len(rows) + numpy.random.laplace(scale=1.0)
>>> discreet.audit.callable(count, [1] * 10, [1] * 11, epsilon=1.0).verdict     # doctest: +SKIP
'refuted'

An audit that passes proves nothing; one that refutes is wrong with chance at most 1 - confidence.
"""

from __future__ import annotations

import builtins
from typing import Any, Callable, Iterable, List, NamedTuple, Sequence

from . import _core, errors

__all__ = ["Finding", "Subject", "callable", "mechanism", "mechanisms", "outputs"]


class Finding(NamedTuple):
    """``epsilon`` is at least ``lower_bound``; ``event`` is what gave it away."""

    claimed: float
    delta: float
    lower_bound: float
    event: str
    refuted: bool

    @property
    def verdict(self) -> str:
        return "refuted" if self.refuted else "pass"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.finding(self)


class Subject(NamedTuple):
    """Something the catalogue can audit; ``planted`` ones are broken on purpose."""

    name: str
    about: str
    planted: bool


def _line(output: Any) -> str:
    """One run's output as text that tells different outputs apart: numbers exactly, anything else by its form."""
    if isinstance(output, bool):
        return "1" if output else "0"
    if isinstance(output, (int, float)):  # NumPy's double is a float, with a form of its own
        return repr(int(output)) if isinstance(output, int) else repr(float(output))
    if hasattr(output, "tolist"):  # NumPy's numbers and arrays
        return _line(output.tolist())
    return repr(output).replace("\n", " ")


def outputs(first: Iterable[Any], second: Iterable[Any], *, epsilon: float, delta: float = 0.0,
            confidence: float = 1 - 1e-9) -> Finding:
    """Audits outputs of independent runs, as many on each side: the first half chooses the event, the second measures it."""
    one, other = [_line(x) for x in first], [_line(x) for x in second]
    if len(one) != len(other) or len(one) < 100:
        raise errors.InvalidParameter("give as many runs of each side, at least 100")
    return Finding(*_core.audit_lines(one, other, epsilon, delta, confidence))


def callable(run: "Callable[..., Any]", first: Any, second: Any, *, epsilon: float, delta: float = 0.0,  # noqa: A001
             trials: int = 20_000, confidence: float = 1 - 1e-9, vectorised: bool = False,
             progress: Any = None) -> Finding:
    """Audits ``run(data)`` as a black box on two neighbouring data sets, ``trials`` runs each.

    ``vectorised``: call ``run(data, trials)`` once a side instead, which returns that many independent outputs.
    """
    from . import _progress

    if not builtins.callable(run):
        raise errors.InvalidParameter("something to call is wanted here: a function of the data")
    if vectorised:
        return outputs(run(first, trials), run(second, trials), epsilon=epsilon, delta=delta, confidence=confidence)
    sides: List[Sequence[Any]] = []
    with _progress.reporter(progress) as told:
        for side, data in enumerate((first, second)):
            made = []
            for trial in range(trials):
                made.append(run(data))
                if told is not None and trial % 256 == 0:
                    told("runs", (side + trial / trials) / 2)
            sides.append(made)
    return outputs(*sides, epsilon=epsilon, delta=delta, confidence=confidence)


def mechanisms() -> List[Subject]:
    """What :func:`mechanism` can audit: every mechanism of Discreet, and planted broken ones."""
    return [Subject(*s) for s in _core.audit_subjects()]


def mechanism(name: str, *, scale: float = 1.0) -> Finding:
    """Audits one of :func:`mechanisms`; ``scale`` times as many runs as usual."""
    return Finding(*_core.audit_named(name, scale))
