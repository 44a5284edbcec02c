"""The curator: SQL questions in, private answers out.

``open`` reads a policy in this process; ``connect`` talks to a running server. Both give a :class:`Curator`.

>>> cur = discreet.open("discreet.toml")                                        # doctest: +SKIP
>>> cur.explain("select ward, avg(age) from patients group by ward", epsilon=0.5)
>>> cur.query("select ward, avg(age) from patients group by ward", epsilon=0.5).to_pandas()
"""

from __future__ import annotations

import datetime
import decimal
import json
import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core, errors

__all__ = ["Answer", "Budget", "Column", "Cost", "Curator", "Explanation", "connect", "open", "protect"]


class Cost(NamedTuple):
    """What a statement costs. ``rho`` is a zCDP bound of the same releases, where they have one."""

    epsilon: float
    delta: float
    rho: Optional[float] = None


class Column(NamedTuple):
    """A column of an answer; ``type`` as PostgreSQL calls it, ``error95`` the median over rows."""

    name: str
    type: str
    noisy: bool
    error95: Optional[float]


def _date(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text[:10])


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


_READ: Dict[str, Callable[[str], Any]] = {
    "bigint": int, "integer": int, "smallint": int, "double precision": float, "numeric": float, "real": float,
    "boolean": lambda text: text in ("true", "t"), "date": _date, "timestamp": _moment,
}


def _read(texts: Sequence[Optional[str]], kind: str) -> List[Any]:
    read = _READ.get(kind)
    if read is None:
        return list(texts)
    try:
        return [None if t is None else read(t) for t in texts]
    except ValueError:  # a type that holds more than its name says stays text
        return list(texts)


# pandas' types of a column without and with NULLs
_PANDAS = {"bigint": ("int64", "Int64"), "integer": ("int64", "Int64"), "smallint": ("int64", "Int64"),
           "double precision": ("float64", "float64"), "numeric": ("float64", "float64"), "real": ("float64", "float64"),
           "boolean": ("bool", "boolean"), "timestamp": ("datetime64[us]", "datetime64[us]")}


def _series(column: Any) -> Any:
    """A column of a pyarrow table in pandas; whole numbers with gaps keep every digit."""
    import pandas
    import pyarrow

    if column.null_count and (pyarrow.types.is_integer(column.type) or pyarrow.types.is_boolean(column.type)):
        return column.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype(), pyarrow.int32(): pandas.Int32Dtype(),
                                              pyarrow.int16(): pandas.Int16Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}.get)
    return column.to_pandas()


class Cells:
    """Rows that a server sent: texts and errors by column."""

    def __init__(self, columns: Sequence[Column], texts: Sequence[Sequence[Optional[str]]],
                 cell_errors: Sequence[Sequence[Optional[float]]]) -> None:
        self._columns, self._texts, self._errors = columns, texts, cell_errors

    def rows(self) -> int:
        return len(self._texts[0]) if self._texts else 0

    def texts(self, place: int) -> Sequence[Optional[str]]:
        return self._texts[place]

    def errors(self, place: int) -> Sequence[Optional[float]]:
        return self._errors[place]

    def with_error_columns(self) -> "Cells":
        columns: List[Column] = []
        texts: List[Sequence[Optional[str]]] = []
        cell_errors: List[Sequence[Optional[float]]] = []
        for column, cells, found in zip(self._columns, self._texts, self._errors):
            columns.append(column)
            texts.append(cells)
            cell_errors.append(found)
            if column.noisy:
                columns.append(Column(f"{column.name}_error95", "double precision", False, None))
                texts.append([None if e is None else repr(e) for e in found])
                cell_errors.append([None] * len(found))
        return Cells(columns, texts, cell_errors)

    def stream(self) -> Any:
        return _core.table_stream([(c.name, c.type, list(t)) for c, t in zip(self._columns, self._texts)])


class Answer:
    """Released rows with their errors. Reading it costs nothing; it is public.

    Goes to pandas, polars, pyarrow and DuckDB (``to_pandas``, ``to_polars``, ``to_arrow``, or anything that reads
    ``__arrow_c_stream__``).
    """

    def __init__(self, columns: Sequence[Column], cells: Any, cost: Cost, notices: Sequence[str], repeated: bool,
                 left: "Optional[Budget]" = None, certifier: Any = None) -> None:
        self.columns: List[Column] = list(columns)
        #: the rows: the library's own, or `Cells` read from a server; Python's lists are made when asked for
        self._cells = cells
        #: what this question cost; nothing when the answer was given before
        self.cost = cost
        self.notices: List[str] = list(notices)
        #: whether it is the recorded answer to the same question, for free
        self.repeated = repeated
        #: what is left to the account that asked
        self.left = left
        self._certifier = certifier

    @classmethod
    def _of(cls, core: Any, left: "Optional[Budget]", certifier: Any) -> "Answer":
        names, noisy, medians = core.names(), core.noisy(), core.error95()
        columns = [Column(n, t, bool(noisy[i]), medians[i]) for i, (n, t) in enumerate(names)]
        repeated = core.repeated()
        cost = Cost(0.0, 0.0, 0.0) if repeated else Cost(*core.cost())
        return cls(columns, core, cost, core.notices(), repeated, left, certifier)

    # -- as Python objects

    def __len__(self) -> int:
        return self._cells.rows()

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> List[Any]:
        return self.column(name)

    def _place(self, name: str) -> int:
        for i, column in enumerate(self.columns):
            if column.name == name:
                return i
        raise errors.NotFound(f'the answer has no column "{name}"; it has {", ".join(c.name for c in self.columns)}')

    def column(self, name: str) -> List[Any]:
        """The values of a column; None for NULL."""
        place = self._place(name)
        return _read(self._cells.texts(place), self.columns[place].type)

    def error(self, name: str) -> List[Optional[float]]:
        """Half the width of each value's 95 % interval; None for keys and where it is not known."""
        return list(self._cells.errors(self._place(name)))

    @property
    def rows(self) -> List[Tuple[Any, ...]]:
        return list(zip(*(self.column(c.name) for c in self.columns)))

    def scalar(self) -> Any:
        """The only value of an answer of one row and one column."""
        if len(self) != 1 or len(self.columns) != 1:
            raise errors.InvalidParameter(f"the answer has {len(self)} rows and {len(self.columns)} columns, not one value")
        return self.column(self.columns[0].name)[0]

    def to_dicts(self) -> List[Dict[str, Any]]:
        names = [c.name for c in self.columns]
        return [dict(zip(names, row)) for row in self.rows]

    def with_errors(self) -> "Answer":
        """The same with a column ``<name>_error95`` behind every noisy one."""
        columns: List[Column] = []
        for column in self.columns:
            columns.append(column)
            if column.noisy:
                columns.append(Column(f"{column.name}_error95", "double precision", False, None))
        return Answer(columns, self._cells.with_error_columns(), self.cost, self.notices, self.repeated, self.left,
                      self._certifier)

    # -- as data frames

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface: one batch of typed columns."""
        return self._cells.stream()

    def to_arrow(self, *, errors: bool = False) -> Any:
        """A ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self.with_errors() if errors else self)

    def to_polars(self, *, errors: bool = False) -> Any:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self.with_errors() if errors else self)

    def to_pandas(self, *, errors: bool = False) -> Any:
        """A ``pandas.DataFrame``; ``errors`` adds a column ``<name>_error95`` behind every noisy one."""
        import pandas

        chosen = self.with_errors() if errors else self
        try:
            import pyarrow
        except ImportError:
            read = {c.name: pandas.Series(chosen.column(c.name), dtype="object") for c in chosen.columns}
        else:
            table = pyarrow.table(chosen)
            read = {c.name: _series(table.column(i)) for i, c in enumerate(chosen.columns)}
        for column in chosen.columns:
            gaps = bool(read[column.name].isna().any())
            kind = _PANDAS.get(column.type)
            if kind is not None:
                read[column.name] = read[column.name].astype(kind[1] if gaps else kind[0])
        return pandas.DataFrame(read)

    # -- as proof and pictures

    def certificate(self) -> str:
        """What the answer can prove of itself, as JSON (docs/formats/certificate.md)."""
        if self._certifier is None:
            raise errors.Refused("a certificate names the state of the data's files, so a server gives none to analysts; "
                                 "its owner has them: discreet query --certificate")
        return self._certifier(self._cells)

    def plot(self, value: Optional[str] = None, *, by: Optional[str] = None, ax: Any = None) -> Any:
        """Bars with 95 % error bars, with matplotlib; returns the axes."""
        from . import _plots

        return _plots.answer(self, value, by, ax)

    def __repr__(self) -> str:
        from . import _html

        return _html.answer_text(self)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.answer(self)


class Budget(NamedTuple):
    """An account: None stands for no limit. ``question`` is the largest pure question that still fits."""

    account: str
    epsilon_granted: Optional[float]
    epsilon_spent: Optional[float]
    epsilon_left: Optional[float]
    delta_granted: Optional[float]
    delta_spent: Optional[float]
    delta_left: Optional[float]
    charges: int
    question: Optional[float]
    of: Optional[str] = None

    @classmethod
    def _of(cls, balance: Mapping[str, Any]) -> "Budget":
        granted, spent, left = balance["granted"], balance["spent"], balance["left"]
        return cls(balance["account"], granted["epsilon"], spent["epsilon"], left["epsilon"], granted["delta"],
                   spent["delta"], left["delta"], spent["charges"], left["question"], balance["of"])

    def _repr_html_(self) -> str:
        from . import _html

        return _html.budgets([self])


class Budgets(List[Budget]):
    """Several accounts; a gauge each in a notebook."""

    def _repr_html_(self) -> str:
        from . import _html

        return _html.budgets(self)


class Explanation:
    """What a question would cost and how good its answer would be. Nothing was spent and no private row read."""

    def __init__(self, cost: Cost, columns: Sequence[Mapping[str, Any]], affordable: bool, notices: Sequence[str],
                 plan: str, left: Optional[Budget] = None, question: Optional[Mapping[str, Any]] = None) -> None:
        self.cost, self.affordable, self.notices = cost, affordable, list(notices)
        #: name, mechanism (None: as it is) and error95 (None: not known before) of each column
        self.columns: List[Mapping[str, Any]] = list(columns)
        #: the question as a tree, drawn with lines
        self.plan = plan
        self.left = left
        #: the same as nested dictionaries
        self.question = question

    def __repr__(self) -> str:
        from . import _html

        return _html.explanation_text(self)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.explanation(self)


Parameter = Union[None, bool, int, float, str, decimal.Decimal, datetime.date, datetime.datetime]


def _parameter(value: Parameter) -> "tuple[Optional[str], str]":
    if value is None:
        return None, ""
    if isinstance(value, bool):
        return ("true" if value else "false"), "bool"
    if isinstance(value, int):
        return str(value), "int8"
    if isinstance(value, float):
        return repr(value), "float8"
    if isinstance(value, decimal.Decimal):
        return str(value), "numeric"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" "), "timestamp"
    if isinstance(value, datetime.date):
        return value.isoformat(), "date"
    if isinstance(value, str):
        return value, "text"
    if hasattr(value, "item"):  # NumPy's scalars
        return _parameter(value.item())
    raise errors.InvalidParameter(f"a parameter must be a number, text, date or None, not {type(value).__name__}")


class Curator:
    """Answers questions under a policy. Made by :func:`open`."""

    def __init__(self, policy: "Union[str, os.PathLike[str]]", *, account: Optional[str] = None) -> None:
        self._opened = _core.OpenedPolicy(os.fspath(policy))
        self._account = account or ""
        from ._arrays import warn

        for warning in self._opened.warnings():
            warn(f"warning: {warning}")

    def _question(self, sql: str, epsilon: Optional[float], delta: Optional[float], target_error: Optional[str],
                  parameters: Sequence[Parameter]) -> Any:
        return _core.Question(sql, self._account, epsilon, delta, target_error or "",
                              [_parameter(p) for p in parameters])

    def explain(self, sql: str, parameters: Sequence[Parameter] = (), *, epsilon: Optional[float] = None,
                delta: Optional[float] = None, target_error: Optional[str] = None) -> Explanation:
        """What the question would cost, by which mechanisms, with which errors. Spends nothing."""
        told = json.loads(self._opened.explain(self._question(sql, epsilon, delta, target_error, parameters)))
        cost = told["cost"]
        return Explanation(Cost(cost["epsilon"], cost["delta"], cost["rho"]), told["columns"], told["affordable"],
                           told["notices"], told["plan"], Budget._of(told["remaining"]), told["question"])

    def query(self, sql: str, parameters: Sequence[Parameter] = (), *, epsilon: Optional[float] = None,
              delta: Optional[float] = None, target_error: Optional[str] = None) -> Answer:
        """The answer: priced, charged durably, then released. The same question again is free.

        ``epsilon``: of the whole statement (0.5 unless it says otherwise). ``target_error``: ``'±50 at 95%'`` instead
        of an epsilon. ``parameters``: the values of ``$1``, ``$2``, ...; they are never pasted into the text.
        """
        core = self._opened.ask(self._question(sql, epsilon, delta, target_error, parameters))
        return Answer._of(core, self.budget(), self._opened.certificate)

    def budget(self, account: Optional[str] = None) -> Budget:
        """What the account (one's own unless named) was granted, has spent and has left."""
        return Budget._of(json.loads(self._opened.balance(account or self._account or "default")))

    def budgets(self) -> Budgets:
        """Every account of the ledger."""
        return Budgets(Budget._of(b) for b in json.loads(self._opened.balances()))

    @property
    def tables(self) -> Dict[str, Dict[str, str]]:
        """Tables, with the names and types of the columns that may be used."""
        return {t["name"]: {c["name"]: c["type"] for c in t["columns"]} for t in json.loads(self._opened.tables())}

    def verify(self) -> int:
        """Proves the ledger's hash chain and sums; the number of events, or an error that names the first broken one."""
        return self._opened.verify()


def open(policy: "Union[str, os.PathLike[str]]" = "discreet.toml", *, account: Optional[str] = None) -> Curator:  # noqa: A001
    """Opens a policy in this process: its tables by the embedded engine, its ledger beside it.

    ``account``: the analyst who asks; the owner unless named.
    """
    return Curator(policy, account=account)


def connect(address: str, *, password: Optional[str] = None, **options: Any) -> "Any":
    """A server's curator, through psycopg: ``discreet.connect("postgresql://alice@host:5433/discreet")``."""
    from .remote import RemoteCurator

    return RemoteCurator(address, password=password, **options)


def protect(frames: Mapping[str, Any], *, unit: "Union[str, Mapping[str, str]]" = "row", epsilon: float,
            delta: float = 0.0, columns: Optional[Mapping[str, Mapping[str, Any]]] = None,
            folder: "Union[str, os.PathLike[str], None]" = None, max_rows_per_unit: "Union[int, Mapping[str, int], None]" = None) -> Curator:
    """A curator over data frames: SQL on them, held by one budget.

    ``frames``: a pandas, polars or pyarrow table for each name. ``unit``: the column that says who a row is about (one
    for all, or one for each table), or ``"row"``. ``columns``: what is public about columns, for each table, in the
    words of a policy: ``{"patients": {"age": {"range": [0, 120]}, "ward": {"values": ["ICU", "ER"]}}}``.
    ``folder``: where tables, policy and ledger are kept; a private temporary folder otherwise, and then the budget
    is forgotten with it.
    """
    import shutil
    import weakref

    from . import _frames

    policy = _frames.write_policy(frames, unit, epsilon, delta, columns or {}, folder, max_rows_per_unit)
    made = Curator(policy)
    if folder is None:  # the copy goes when the curator does, or with the program
        weakref.finalize(made, shutil.rmtree, os.path.dirname(policy), ignore_errors=True)
    return made
