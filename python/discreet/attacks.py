"""Attacks on made-up people: what releases without privacy give away, and what private ones do not.

>>> discreet.attacks.run("reconstruct", epsilon=1.0)                            # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Sequence

from . import _core

__all__ = ["Outcome", "Report", "names", "reconstruct", "run"]


class Outcome(NamedTuple):
    """``success``: share of attempts that came out right, within [low, high]; ``baseline``: of a guess;
    ``bound``: what the guarantee allows at most."""

    target: str
    success: float
    baseline: float
    low: float
    high: float
    attempts: int
    bound: float


class Report(NamedTuple):
    """What an attack achieved against each target."""

    name: str
    what: str
    outcomes: List[Outcome]
    picture: str

    def _repr_svg_(self) -> str:
        return self.picture

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.what}"]
        lines += [f"  {o.target:<40} {100 * o.success:6.1f} %   a guess: {100 * o.baseline:.1f} %" for o in self.outcomes]
        return "\n".join(lines)


def names() -> List[str]:
    """The attacks there are."""
    return list(_core.attack_names())


def run(name: str, *, epsilon: float = 1.0, people: int = 0, queries: int = 0, attempts: int = 0, k: int = 5,
        town: int = 1) -> Report:
    """Runs an attack against an exact release, one that is too accurate, and Discreet's. 0 means what suits the attack.

    ``town`` numbers the made-up people; noise is fresh every time.
    """
    title, what, outcomes, picture = _core.attack(name, epsilon, people, queries, attempts, k, town)
    return Report(title, what, [Outcome(*o) for o in outcomes], picture)


def reconstruct(answer: "Callable[[List[int]], Any]", *, people: int = 200, queries: int = 800,
                decoder: str = "least-squares") -> float:
    """The share of secret bits recovered (Dinur and Nissim 2003) when ``answer`` gives out all subset counts.

    ``answer`` gets the exact counts as a list and returns as many answers.
    """

    def answered(counts: Sequence[int]) -> Sequence[int]:
        return [int(round(float(a))) for a in answer(list(counts))]

    return _core.reconstruct_with(people, queries, decoder, answered) / people
