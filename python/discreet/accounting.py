"""What releases cost together: certified intervals, never below the truth.

>>> from discreet import accounting as acc
>>> job = acc.compose([1000 * acc.gaussian(sigma=20), 10 * acc.laplace(scale=2)])
>>> round(job.epsilon(delta=1e-6), 1)
11.4

Mechanisms give their own events (``mechanism.loss``); the functions here make them by hand.
"""

from __future__ import annotations

import json
import math
import threading
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core, errors

__all__ = [
    "Event", "Composition", "Interval", "TheoremLine", "compose", "parse", "pure", "approximate", "zcdp", "laplace",
    "discrete_laplace", "gaussian", "discrete_gaussian", "mixture_of_gaussians", "randomized_response", "exponential",
    "sampled", "sampled_without_replacement", "parallel", "group", "Filter", "Odometer", "calibrate_gaussian",
    "calibrate_laplace", "least_noise", "most_releases", "split_epsilon", "shuffled_epsilon", "group_privacy",
    "rho_for", "epsilon_of_rho",
]


class Interval(NamedTuple):
    """Certified: the true value is not below ``lower`` and not above ``upper``."""

    lower: float
    upper: float


class TheoremLine(NamedTuple):
    """What one theorem says about a composition."""

    method: str
    theorem: str
    epsilon: Optional[float]
    lower: Optional[float]
    remark: str


class Event:
    """What a release did to privacy, as data. ``1000 * event`` repeats it, ``a + b`` is both, one after another."""

    __slots__ = ("_core",)

    def __init__(self, core: Any) -> None:
        self._core = core

    @classmethod
    def from_dict(cls, event: "dict[str, Any]") -> "Event":
        """From the form of docs/formats/loss_events.md."""
        return cls(_core.Event.from_json(json.dumps(event)))

    def to_dict(self) -> "dict[str, Any]":
        return json.loads(self._core.json())

    def __mul__(self, count: int) -> "Event":
        if not isinstance(count, int) or isinstance(count, bool):
            return NotImplemented
        if count < 0:
            raise errors.InvalidParameter("an event happens a whole number of times, not a negative one")
        return Event(self._core.repeated(count))

    __rmul__ = __mul__

    def __add__(self, other: "Event") -> "Event":
        return Event(_core.Event.composed([self._core, other._core])) if isinstance(other, Event) else NotImplemented

    def __radd__(self, other: Any) -> "Event":
        return self if other == 0 else NotImplemented  # sum([...]) starts at 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self._core.same(other._core)

    def __hash__(self) -> int:
        return hash(self._core.json())

    def __repr__(self) -> str:
        return f"Event({self._core.json()})"

    def __reduce__(self) -> Any:
        return Event.from_dict, (self.to_dict(),)

    # a single event can be asked what a composition can
    def epsilon(self, delta: float, *, neighbours: str = "add_remove") -> float:
        """The least epsilon that is proved at this delta."""
        return compose([self], neighbours=neighbours).epsilon(delta)

    def delta(self, epsilon: float, *, neighbours: str = "add_remove") -> float:
        """The least delta that is proved at this epsilon."""
        return compose([self], neighbours=neighbours).delta(epsilon)


def _event(mechanism: str, **fields: Any) -> Event:
    return Event.from_dict({"mechanism": mechanism, **fields})


def pure(epsilon: float) -> Event:
    """epsilon-DP, and nothing else is known."""
    return _event("pure_dp", epsilon0=epsilon)


def approximate(epsilon: float, delta: float) -> Event:
    """(epsilon, delta)-DP."""
    return _event("approx_dp", epsilon0=epsilon, delta0=delta)


def zcdp(rho: float) -> Event:
    """rho-zCDP."""
    return _event("zcdp", rho=rho)


def laplace(scale: float, sensitivity: float = 1.0) -> Event:
    """Laplace noise of this scale on a query of this L1 sensitivity."""
    return _event("laplace", scale=scale, sensitivity=sensitivity)


def discrete_laplace(scale: float, sensitivity: int = 1) -> Event:
    """Two-sided geometric noise of this scale on a whole-number query of this L1 sensitivity."""
    return _event("discrete_laplace", scale=scale, sensitivity=sensitivity)


def gaussian(sigma: float, sensitivity: float = 1.0) -> Event:
    """Gaussian noise on a query of this L2 sensitivity."""
    return _event("gaussian", sigma=sigma, sensitivity=sensitivity)


def discrete_gaussian(sigma2: float, sensitivity: float = 1.0, dimension: int = 1) -> Event:
    """Discrete Gaussian noise of this variance parameter on whole numbers of this L2 sensitivity."""
    return _event("discrete_gaussian", sigma2=sigma2, sensitivity=sensitivity, dimension=dimension)


def mixture_of_gaussians(sigma: float, sensitivities: Sequence[float], probabilities: Sequence[float]) -> Event:
    """Gaussian noise on an answer that one person moves by a random amount."""
    return _event("mixture_of_gaussians", sigma=sigma, sensitivities=list(sensitivities), probs=list(probabilities))


def randomized_response(epsilon: float, values: int = 2) -> Event:
    """One answer of ``values``, the true one e^epsilon times as likely as each other."""
    return _event("randomized_response", epsilon0=epsilon, values=values)


def exponential(epsilon: float) -> Event:
    """A selection of bounded range epsilon: the exponential mechanism."""
    return _event("bounded_range", epsilon0=epsilon)


def sampled(event: Event, probability: float) -> Event:
    """The event on a Poisson sample: each person takes part with this probability."""
    return _event("poisson_subsampled", sampling_probability=probability, inner=event.to_dict())


def sampled_without_replacement(event: Event, sample: int, population: int) -> Event:
    """The event on a uniform sample of fixed size."""
    return _event("sampled_without_replacement", sample=sample, population=population, inner=event.to_dict())


def parallel(events: Iterable[Event]) -> Event:
    """One event for each disjoint part of the data."""
    return _event("parallel", parts=[e.to_dict() for e in events])


def group(event: Event, size: int) -> Event:
    """The event as ``size`` people together see it."""
    return _event("group", size=size, inner=event.to_dict())


def parse(text: str) -> Event:
    """``1000 x gaussian(sigma=20) + 10 x laplace(scale=2)``: the command line's way to write events."""
    return Event(_core.Event.parse(text))


class Composition:
    """Events together, priced by their privacy loss distribution. Made by :func:`compose`."""

    def __init__(self, event: Event, neighbours: str = "add_remove") -> None:
        if neighbours not in ("add_remove", "replace_one"):
            raise errors.InvalidParameter("neighbours must be add_remove or replace_one")
        self.event, self.neighbours = event, neighbours
        self._made: Any = None

    @property
    def _distribution(self) -> Any:
        if self._made is None:
            self._made = _core.LossDistribution(self.event._core, self.neighbours)
        return self._made

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved at this delta: the upper end of :meth:`epsilon_interval`."""
        return self.epsilon_interval(delta).upper

    def delta(self, epsilon: float) -> float:
        """The least delta that is proved at this epsilon."""
        return self._distribution.delta(epsilon)[1]

    def epsilon_interval(self, delta: float) -> Interval:
        """Certified limits around the true epsilon.

        Events that no loss distribution is made for are held by the best of the other theorems; then ``lower`` is 0.
        """
        try:
            return Interval(*self._distribution.epsilon(delta))
        except errors.Refused:
            proved = [t.epsilon for t in self.theorems(delta) if t.epsilon is not None]
            if not proved:
                raise
            return Interval(0.0, min(proved))

    def delta_interval(self, epsilon: float) -> Interval:
        return Interval(*self._distribution.delta(epsilon))

    def profile(self, epsilons: Sequence[float]) -> List[Interval]:
        """delta at each epsilon."""
        return [Interval(*d) for d in self._distribution.profile([float(e) for e in epsilons])]

    def trade_off(self, alphas: Sequence[float]) -> List[float]:
        """f-DP: a test of level alpha that tells neighbours apart misses with at least this chance."""
        reach = self._distribution.epsilon(1e-9)[1]
        top = reach if math.isfinite(reach) and reach > 0 else 20.0
        return self._distribution.trade_off([top * i / 512 for i in range(513)], [float(a) for a in alphas])

    def rdp(self, order: float) -> float:
        """The Renyi divergence of this order, rounded up."""
        return _core.renyi_divergence(self.event._core, order, self.neighbours)

    def rdp_epsilon(self, delta: float) -> float:
        """What Renyi accounting alone would say."""
        return _core.renyi_epsilon(self.event._core, delta, self.neighbours)

    @property
    def rho(self) -> float:
        """zCDP. Refused where events bring a delta."""
        rho, delta = _core.concentrated_cost(self.event._core, self.neighbours)
        if delta > 0:
            raise errors.Refused("some of these events have a delta of their own, so no rho holds")
        return rho

    def theorems(self, delta: float) -> List[TheoremLine]:
        """The same composition under every theorem, side by side."""
        return [TheoremLine(*t) for t in _core.compare_theorems(self.event._core, delta, self.neighbours)]

    def plot(self, *, delta: float = 1e-6, ax: Any = None) -> Any:
        """delta against epsilon, with matplotlib; returns the axes."""
        from . import _plots

        return _plots.profile(self, delta, ax)

    def __repr__(self) -> str:
        return f"Composition({self.event._core.json()}, neighbours={self.neighbours!r})"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.theorems(self)


def compose(events: "Union[str, Event, Iterable[Event]]", *, neighbours: str = "add_remove") -> Composition:
    """All of these on the same people, one after another. Also from text, as :func:`parse` reads it."""
    if isinstance(events, str):
        return Composition(parse(events), neighbours)
    if isinstance(events, Event):
        return Composition(events, neighbours)
    parts = list(events)
    for part in parts:
        if not isinstance(part, Event):
            raise errors.InvalidParameter(f"an event is wanted here, not {type(part).__name__}; a mechanism's is its .loss")
    if len(parts) == 1:
        return Composition(parts[0], neighbours)
    return Composition(Event(_core.Event.composed([p._core for p in parts])), neighbours)


class Filter:
    """A budget for questions chosen on the fly: admits a release only while the promise of the whole still holds.

    ``kind``: ``best`` (sums for a few releases and zCDP for many, a quarter and three quarters of delta, as the
    curator's ledger has it), ``basic`` (sums), ``concentrated`` (zCDP), ``renyi``, ``gaussian``. ``for_events``: part of
    delta set aside for events that bring one. Thread-safe.
    """

    def __init__(self, epsilon: float, delta: float = 0.0, *, kind: str = "best", for_events: float = 0.0,
                 typical: Optional[Event] = None, neighbours: str = "add_remove") -> None:
        self.kind, self.neighbours = kind, neighbours
        self._lock = threading.Lock()
        self._parts: List[Tuple[str, Any]]
        if kind == "best":
            # Every transcript that is admitted stays within one of the two at least, and their shares of delta add up
            # to the whole (docs/proofs/ledger_filter.md).
            self._parts = [("basic", _core.basic_filter(epsilon, delta / 4))]
            if delta > 0:
                self._parts.append(("concentrated", _core.concentrated_filter(epsilon, 3 * delta / 4, for_events)))
        elif kind == "basic":
            self._parts = [(kind, _core.basic_filter(epsilon, delta))]
        elif kind == "concentrated":
            self._parts = [(kind, _core.concentrated_filter(epsilon, delta, for_events))]
        elif kind == "renyi":
            self._parts = [(kind, _core.renyi_filter(epsilon, delta, for_events, None if typical is None else typical._core,
                                                     neighbours))]
        elif kind == "gaussian":
            self._parts = [(kind, _core.gaussian_filter(epsilon, delta))]
        else:
            raise errors.InvalidParameter("kind must be best, basic, concentrated, renyi or gaussian")

    def _holding(self, event: Event) -> "List[Any]":
        """The parts that would still hold after the event. An event that has no cost in a part's currency ends it."""

        def holds(part: Any) -> bool:
            try:
                return part[1].fits(event._core, self.neighbours)
            except errors.Refused:
                if len(self._parts) == 1:
                    raise
                return False

        return [part for part in self._parts if holds(part)]

    def spend(self, event: Event) -> None:
        """Spends the event's cost, or raises :class:`~discreet.errors.BudgetExhausted` and changes nothing."""
        with self._lock:
            holding = self._holding(event)
            if not holding:
                self._parts[-1][1].spend(event._core, self.neighbours)  # says why not
                raise errors.BudgetExhausted("the release does not fit what is left")
            for _, part in holding:
                part.spend(event._core, self.neighbours)
            self._parts = holding

    def fits(self, event: Event) -> bool:
        with self._lock:
            return bool(self._holding(event))

    @property
    def state(self) -> "dict[str, Any]":
        """Budget and spent, in the currency of each part that still holds."""
        return {kind: json.loads(part.save()) for kind, part in self._parts}

    def save(self) -> str:
        with self._lock:
            return json.dumps({"kind": self.kind, "neighbours": self.neighbours,
                               "parts": [[kind, part.save()] for kind, part in self._parts]})

    @classmethod
    def restore(cls, text: str) -> "Filter":
        """From what :meth:`save` gave."""
        classes: Dict[str, Any] = {"basic": _core.BasicFilter, "concentrated": _core.ConcentratedFilter, "renyi": _core.RenyiFilter,
                   "gaussian": _core.GaussianFilter}
        try:
            saved = json.loads(text)
            made = cls.__new__(cls)
            made.kind, made.neighbours, made._lock = saved["kind"], saved["neighbours"], threading.Lock()
            made._parts = [(kind, classes[kind].restore(part)) for kind, part in saved["parts"]]
            if not made._parts:
                raise ValueError("no part")
        except (ValueError, KeyError, TypeError) as wrong:
            raise errors.InvalidInput("this is not the saved state of a filter") from wrong
        return made


class Odometer:
    """A meter for releases without a limit: what has been spent so far, at a chosen delta."""

    def __init__(self, delta: float, *, neighbours: str = "add_remove") -> None:
        self._core, self.neighbours = _core.Odometer.make(delta), neighbours

    def spend(self, event: Event) -> None:
        self._core.spend(event._core, self.neighbours)

    @property
    def epsilon(self) -> float:
        return self._core.epsilon()

    @property
    def delta(self) -> float:
        """The failure probability of that statement, events' own deltas included."""
        return self._core.delta()


def least_noise(family: "Callable[[float], Event]", *, epsilon: float, delta: float = 0.0, releases: int = 1,
                neighbours: str = "add_remove", tight: bool = True, tolerance: float = 1e-4) -> float:
    """The least noise with which ``releases`` of ``family(noise)`` meet the target, from above.

    ``tight``: priced by loss distributions; otherwise by Renyi accounting, which is faster.
    """
    return _core.least_noise(lambda noise: family(noise)._core, releases, epsilon, delta, neighbours, tight, tolerance)


def calibrate_gaussian(epsilon: float, delta: float, *, releases: int = 1, sensitivity: float = 1.0,
                       sampling_probability: float = 1.0, neighbours: str = "add_remove") -> float:
    """The sigma at which that many Gaussian releases (each on a Poisson sample, if told) meet the target."""

    def family(sigma: float) -> Event:
        event = gaussian(sigma, sensitivity)
        return event if sampling_probability == 1 else sampled(event, sampling_probability)

    return least_noise(family, epsilon=epsilon, delta=delta, releases=releases, neighbours=neighbours)


def calibrate_laplace(epsilon: float, delta: float = 0.0, *, releases: int = 1, sensitivity: float = 1.0,
                      neighbours: str = "add_remove") -> float:
    """The scale at which that many Laplace releases meet the target."""
    return least_noise(lambda scale: laplace(scale, sensitivity), epsilon=epsilon, delta=delta, releases=releases,
                       neighbours=neighbours)


def most_releases(event: Event, *, epsilon: float, delta: float = 0.0, neighbours: str = "add_remove",
                  tight: bool = True) -> int:
    """How many releases of this event the target pays for."""
    return _core.most_releases(event._core, epsilon, delta, neighbours, tight)


def split_epsilon(questions: "Sequence[tuple[float, float]]", epsilon: float) -> List[float]:
    """Shares of epsilon for (sensitivity, weight) questions that minimise the weighted variance under Laplace noise."""
    return list(_core.split_for_laplace([(float(s), float(w)) for s, w in questions], epsilon))


def shuffled_epsilon(reports: int, epsilon: float, delta: float) -> float:
    """The central epsilon of ``reports`` shuffled reports, each epsilon-DP by itself (Feldman, McMillan, Talwar 2021)."""
    return _core.shuffled_epsilon(reports, epsilon, delta)


def group_privacy(epsilon: float, delta: float, size: int) -> "tuple[float, float]":
    """What a guarantee for one person says about ``size`` of them together."""
    return _core.group_privacy(epsilon, delta, size)


def rho_for(epsilon: float, delta: float) -> float:
    """The largest rho whose zCDP implies (epsilon, delta)."""
    return _core.zcdp_rho(epsilon, delta)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The least epsilon that rho-zCDP implies at this delta."""
    return _core.zcdp_epsilon(rho, delta)
