"""Private aggregation: a client that splits measurements into sealed shares for two servers (docs/prio.md).

>>> client = discreet.prio.Client(open("survey/task.json").read())              # doctest: +SKIP
>>> client.add(3); client.send()
"""

from __future__ import annotations

import time as _time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

from . import _arrays, _core

__all__ = ["Client", "Collected", "TaskFiles", "collect", "new_task"]


class TaskFiles(NamedTuple):
    """One public file for everyone, and a secret one for each role, all JSON."""

    task: str
    leader: str
    helper: str
    collector: str


def new_task(circuit: str, *, length: int = 1, max: int = 1, noise: str = "laplace", epsilon: float = 1.0,  # noqa: A002
             delta: float = 0.0, leader: str, helper: str, min_batch_size: int = 100, time_precision: int = 3600,
             budget: "Optional[tuple[float, float]]" = None) -> TaskFiles:
    """A task with fresh keys. ``circuit``: count, sum, sum-vec, histogram, multihot-count-vec, l1-bound-sum."""
    return TaskFiles(*_core.prio_new_task(circuit, length, max, noise, epsilon, delta, leader, helper, min_batch_size,
                                          time_precision, budget or (epsilon, delta)))


class Client:
    """Splits measurements, proves them valid, seals the shares and sends them to the leader."""

    def __init__(self, task: str) -> None:
        """``task``: the text of the task's public file."""
        self._core = _core.PrioClient(task)

    def add(self, measurement: "Union[int, Sequence[int]]", *, time: Optional[int] = None) -> None:
        """Makes a sealed report of one measurement: a number, a bucket, or the numbers of a vector."""
        given = _arrays.prepare(measurement, whole=True)
        self._core.add([int(x) for x in given.flat], int(_time.time()) if time is None else time)

    @property
    def waiting(self) -> int:
        """Reports made and not yet sent."""
        return self._core.waiting()

    def encoded(self) -> bytes:
        """The waiting reports as they go over the wire (docs/formats/prio.md)."""
        return self._core.encoded()

    def send(self, *, ca: str = "") -> Dict[str, int]:
        """Sends what waits; how many were refused, by reason. Unavailable: nothing arrived, send again."""
        return self._core.send(ca)


class Collected(NamedTuple):
    """A batch's noisy result."""

    reports: int
    totals: List[float]


def collect(task: str, collector: str, *, start: int, duration: int, ca: str = "") -> Collected:
    """Asks the leader for a batch's result and opens it with the collector's secrets."""
    return Collected(*_core.prio_collect(task, collector, start, duration, ca))
