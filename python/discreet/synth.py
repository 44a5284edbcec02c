"""Synthetic twins of tables: the same shape, nobody real.

>>> twin = discreet.synth.fit(df, epsilon=1.0, domain={"age": {"range": [0, 120]}, "ward": {"values": ["ICU", "ER"]}})
>>> twin.to_pandas()                                                            # doctest: +SKIP
"""

from __future__ import annotations

import json
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Union

from . import _core, errors
from .accounting import Event, Filter, Odometer, approximate

__all__ = ["Score", "Twin", "fit", "score"]


def _frame(data: Any) -> Any:
    """Whatever can hand out an Arrow stream; DuckDB relations and dictionaries of columns too."""
    if hasattr(data, "__arrow_c_stream__"):
        return data
    for way in ("to_arrow_table", "arrow", "fetch_arrow_table"):
        if hasattr(data, way):
            return getattr(data, way)()
    try:
        if isinstance(data, Mapping):
            import pyarrow

            return pyarrow.table({name: list(column) for name, column in data.items()})
        if type(data).__module__.startswith("pandas"):
            import pyarrow

            return pyarrow.Table.from_pandas(data, preserve_index=False)
    except ImportError as missing:
        raise errors.Unavailable("this table needs pyarrow to be read: pip install pyarrow") from missing
    raise errors.InvalidInput("a table is wanted here: pandas, polars, pyarrow, a DuckDB relation or a dictionary of columns")


def _without_index(data: Any) -> Any:
    """pandas puts an index it cannot drop into the stream; it is no column of the table."""
    if type(data).__module__.startswith("pandas") and hasattr(data, "reset_index"):
        return data.reset_index(drop=True)
    return data


class Twin:
    """A synthetic table and what is public about it. Goes wherever Arrow streams go; more twins by index."""

    def __init__(self, core: Any, epsilon: float, delta: float, twins: int, number: int = 0) -> None:
        self._core, self.epsilon, self.delta, self._twins, self._number = core, epsilon, delta, twins, number

    def __len__(self) -> int:
        """The rows of the table."""
        return self._core.rows()

    @property
    def notes(self) -> List[str]:
        """How it was made: what was found privately, the method, its settings."""
        return list(self._core.notes())

    @property
    def rho(self) -> float:
        """The zCDP of the measurements."""
        return self._core.rho()

    @property
    def loss(self) -> Event:
        """What the twin cost, all of its tables together: for :func:`discreet.accounting.compose`."""
        return approximate(self.epsilon, self.delta)

    @property
    def twins(self) -> "List[Twin]":
        """The independent tables drawn from the one fitted model."""
        return [Twin(self._core, self.epsilon, self.delta, self._twins, i) for i in range(self._twins)]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._core.stream(self._number)

    def to_arrow(self) -> Any:
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()

    def report(self, path: Optional[str] = None, *, title: str = "A private twin") -> str:
        """A self-contained page about the twin, as public as the twin itself; written to ``path`` if given."""
        page = self._core.report(title, self.epsilon, self.delta)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def __repr__(self) -> str:
        return f"Twin({len(self):,} rows, epsilon={self.epsilon:g}, delta={self.delta:g})"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.twin(self)


def fit(data: Any, epsilon: float, delta: float = 1e-9, *, domain: "Union[str, Mapping[str, Any], None]" = None,
        workload: "Union[str, Mapping[str, Any]]" = "3way", method: str = "auto", rows: Optional[int] = None,
        twins: int = 1, fast: bool = False, threads: int = 0, budget: "Union[Filter, Odometer, None]" = None,
        progress: "Union[bool, None, Callable[[str, float], Any]]" = None) -> Twin:
    """A twin that is (``epsilon``, ``delta``)-DP for one row more or less.

    ``domain``: what is public about columns: ``{"age": {"range": [0, 120]}, "ward": {"values": [...]}, "code": 16}``.
    ``"nullable": False`` says that a column has no missing values; otherwise the twin may have a few.
    Columns it does not name are found privately out of the same epsilon, which costs accuracy: declare what you can.
    ``workload``: ``"3way"`` (all triples) or ``{"marginals": [["age", "ward"], ...]}``. ``method``: ``auto``,
    ``latent``, ``aim``, ``mst``, ``rap``, ``independent``. ``rows``: of the twin; a private estimate otherwise.
    ``budget``: a :class:`~discreet.accounting.Filter` that several releases share; the twin's whole cost is spent there before
    the first release, and a twin that does not fit is not made. A durable ledger holds twins of a curator's tables:
    ``cur.query("create table twin as synthesize people with (epsilon = 1)")``.
    ``progress``: True shows a bar for work over a second, False nothing, or a function of (stage, share done).
    """
    from . import _progress

    if domain is not None and not isinstance(domain, str):
        domain = json.dumps(dict(domain))
    if not isinstance(workload, str):
        workload = json.dumps(dict(workload))
    charge = None if budget is None else lambda: budget.spend(approximate(float(epsilon), float(delta)))
    with _progress.reporter(progress) as told:
        core = _core.synth_fit(_frame(_without_index(data)), domain or "", float(epsilon), float(delta), method,
                               workload, rows or 0, twins, threads, fast, told, charge)
    return Twin(core, float(epsilon), float(delta), twins)


class Score(NamedTuple):
    """How far a twin is from the real table, as shares of rows."""

    max_error: float
    mean_error: float
    mean_tvd: float


def score(real: Any, twin: Any, *, workload: "Union[str, Mapping[str, Any]]" = "3way") -> Score:
    """NOT private: compares with the real rows, for the owner's eyes."""
    if not isinstance(workload, str):
        workload = json.dumps(dict(workload))
    return Score(*_core.synth_score(_frame(_without_index(real)), _frame(_without_index(twin)), workload))
