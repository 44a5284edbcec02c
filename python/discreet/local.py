"""Local privacy: people randomise what they say, before anything leaves them; the collector estimates counts.

>>> survey = discreet.local.Collection(epsilon=1.0, labels=["yes", "no", "maybe"])
>>> reports = survey.randomize(["yes", "no", "yes"])        # on the people's side
>>> survey.estimate(reports)                                # on the collector's side     # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _arrays, _core, accounting, errors

__all__ = ["Client", "Collection", "Estimates", "HeavyHitters", "Row", "oracles"]


def oracles() -> List[str]:
    """The protocols there are."""
    return list(_core.local_oracles())


class Row(NamedTuple):
    """How many of those who reported hold a value (or the mean), with the error of the randomisation."""

    value: str
    estimate: float
    standard_error: float
    low: float
    high: float


class Estimates(List[Row]):
    """Estimates of all values. Goes to pandas, and shows itself with error bars in a notebook."""

    reports: int = 0
    refused: int = 0

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for row in self:
                if row.value == key:
                    return row
            raise errors.NotFound(f'no value "{key}" was estimated')
        return super().__getitem__(key)

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(list(self), columns=list(Row._fields))

    def top(self, count: int) -> "Estimates":
        best = Estimates(sorted(self, key=lambda row: -row.estimate)[:count])
        best.reports, best.refused = self.reports, self.refused
        return best

    def plot(self, ax: Any = None) -> Any:
        from . import _plots

        return _plots.bars([r.value for r in self], [r.estimate for r in self], [1.96 * r.standard_error for r in self], ax)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.estimates(self)


class Collection:
    """One question to many people. ``oracle``: a protocol's name, or the best one for epsilon and the values.

    Values are 0 .. ``values`` - 1, or one of ``labels``; for means (``oracle="piecewise"``, ...) numbers within
    ``range``; for sketches any text. ``attributes={"drink": ["tea", "water"], "age": 9}``: records of several
    attributes within one epsilon, by ``oracle="sample"`` (each person reports one of them), ``"split"`` (all of
    them, with a share each) or the one that errs less.
    """

    def __init__(self, epsilon: float, values: int = 0, *, labels: Sequence[str] = (), oracle: Optional[str] = None,
                 range: "tuple[float, float]" = (-1.0, 1.0), name: str = "",
                 attributes: "Optional[Mapping[str, Union[int, Sequence[str]]]]" = None) -> None:
        if attributes is not None:
            asked = [(key, what, []) if isinstance(what, int) else (key, 0, list(what)) for key, what in attributes.items()]
            self._core = _core.Oracle.record(oracle or "auto", epsilon, asked, name)
            self.labels = []
            return
        count = len(labels) or values
        if oracle is None:
            if count == 0:
                raise errors.InvalidParameter("say how many values there are, name them (labels), or choose an oracle")
            oracle = _core.local_choose(epsilon, count)
        self._core = _core.Oracle.make(oracle, epsilon, count, list(labels), float(range[0]), float(range[1]), name)
        self.labels = list(labels)

    @classmethod
    def from_header(cls, line: str) -> "Collection":
        """From the first line of a file of reports."""
        made = cls.__new__(cls)
        made._core, made.labels = _core.Oracle.from_header(line), []
        return made

    @property
    def header(self) -> str:
        """One line of JSON that says all about the collection; public."""
        return self._core.header()

    @property
    def oracle(self) -> str:
        return self._core.kind()

    @property
    def epsilon(self) -> float:
        """What one report costs its person."""
        return self._core.epsilon()

    @property
    def report_bytes(self) -> int:
        return self._core.report_bytes()

    @property
    def attributes(self) -> List[str]:
        """The names of a record's attributes; empty for a single value."""
        return self._core.attributes()

    def _record(self, value: Any) -> str:
        """A mapping, a sequence or "a,b,c" as the line that clients of every language read."""
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping):
            if set(value) != set(self.attributes):
                raise errors.InvalidParameter(f"a record has the attributes {', '.join(self.attributes)}")
            value = [value[name] for name in self.attributes]
        return ",".join(str(part) for part in value)

    def randomize(self, values: Any) -> bytes:
        """One report for each value, end to end (``report_bytes`` each). Runs on the people's side."""
        if isinstance(values, str):
            values = [values]
        if self.attributes:
            return self._core.randomize_texts([self._record(v) for v in values])
        if not self.labels and self._core.values() > 0:
            try:
                given = _arrays.prepare(values, whole=True)
            except errors.InvalidParameter:
                given = None
            if given is not None:
                return self._core.randomize_numbers(given.flat)
        return self._core.randomize_texts([str(v) for v in values])

    def estimate(self, reports: bytes, *, candidates: Iterable[str] = (), post: str = "none", confidence: float = 0.95,
                 simultaneous: bool = False) -> Estimates:
        """Counts with errors, from reports. ``post``: ``norm-sub``, ``simplex``, ... make them sensible, for free."""
        rows, accepted, refused = self._core.estimate(bytes(reports), [str(c) for c in candidates], post, confidence, simultaneous)
        found = Estimates(Row(*row) for row in rows)
        found.reports, found.refused = accepted, refused
        return found

    def error(self, reports: int) -> float:
        """The standard error of a rare value's count among this many reports, before any is made."""
        return self._core.standard_error(reports)

    def central_epsilon(self, reports: int, delta: float) -> float:
        """The privacy of that many reports once they are shuffled."""
        return accounting.shuffled_epsilon(reports, self.epsilon, delta)

    def to_ndjson(self, reports: bytes) -> str:
        """The command line's form: ``discreet local estimate`` reads it."""
        size = self.report_bytes
        return "\n".join([self.header] + [_core.report_line(reports[i:i + size]) for i in range(0, len(reports), size)]) + "\n"

    @staticmethod
    def from_ndjson(text: str) -> "tuple[Collection, bytes]":
        """The collection and its reports, from what ``discreet local randomize`` wrote; bad lines are left out."""
        first, *lines = text.splitlines()
        parsed = (_core.parse_report_line(line) for line in lines if line)
        return Collection.from_header(first), b"".join(p for p in parsed if p is not None)


class Client:
    """One person's side: reports are paid for out of a ``total`` that ``path`` remembers."""

    def __init__(self, collection: Collection, total: float, path: str = "") -> None:
        self._collection = collection
        self._core = _core.LocalClient(collection.header, path, total)

    def _text(self, value: Any) -> str:
        return self._collection._record(value) if self._collection.attributes else str(value)

    def report(self, value: Any) -> bytes:
        """One fresh report; BudgetExhausted when the person has given as much as was agreed."""
        return self._core.report(self._text(value))

    def report_lasting(self, value: Any, secret: bytes) -> bytes:
        """A report that may be sent every day: it repeats one permanent randomisation, kept by the ``secret`` of 32
        bytes (RAPPOR adds a fresh one), and is paid for once for each different value."""
        return self._core.report_lasting(self._text(value), bytes(secret))

    @property
    def spent(self) -> float:
        return self._core.spent()


class HeavyHitters:
    """Frequent strings that nobody listed beforehand, by growing prefixes."""

    def __init__(self, epsilon: float, bytes_max: int = 8) -> None:
        self._core = _core.HeavyHitters(epsilon, bytes_max)

    def randomize(self, texts: Iterable[str]) -> bytes:
        return self._core.randomize(list(texts))

    def find(self, reports: bytes, most: int = 20, *, confidence: float = 0.95) -> Estimates:
        """The strings that stand out from the noise, largest first."""
        return Estimates(Row(text, estimate, error, max(0.0, estimate - 1.96 * error), estimate + 1.96 * error)
                         for text, estimate, error in self._core.find(reports, most, confidence))
