"""A curator on a server, reached by PostgreSQL's protocol. Needs psycopg (``pip install discreet[postgres]``)."""

from __future__ import annotations

import datetime
import re
from typing import Any, Dict, List, Optional, Sequence

from . import errors
from .curator import Answer, Budget, Budgets, Cells, Column, Cost, Explanation, Parameter

__all__ = ["RemoteCurator"]

# PostgreSQL's object identifiers of the types an answer can have
_TYPES = {16: "boolean", 20: "bigint", 21: "smallint", 23: "integer", 25: "text", 700: "real", 701: "double precision",
          1082: "date", 1114: "timestamp", 1700: "numeric"}
_BY_STATE = {c.sqlstate: c for c in (errors.InvalidParameter, errors.NotFound, errors.Refused, errors.BudgetExhausted,
                                     errors.PermissionDenied, errors.Unavailable)}


def _text(value: Any) -> Optional[str]:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return repr(value) if isinstance(value, float) else str(value)


def _limit(value: Any) -> Optional[float]:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


class RemoteCurator:
    """Asks a server; the same methods as :class:`~discreet.curator.Curator`. Made by :func:`discreet.connect`."""

    def __init__(self, address: str, *, password: Optional[str] = None, **options: Any) -> None:
        try:
            import psycopg
            import psycopg.sql
        except ImportError as missing:
            raise errors.Unavailable("discreet.connect needs psycopg: pip install 'psycopg[binary]'") from missing
        self._psycopg = psycopg
        if password is not None:
            options["password"] = password
        self._notices: List[str] = []
        self._session: Dict[str, Optional[str]] = {"epsilon": None, "delta": None, "target_error": None}
        with self._told():
            self._connection = psycopg.connect(address, autocommit=True, **options)
        self._connection.add_notice_handler(lambda notice: self._notices.append(notice.message_primary))

    # -- the parts of a conversation

    def _told(self) -> Any:
        """Turns psycopg's errors into ours, with the server's words and its hint."""
        import contextlib

        psycopg = self._psycopg

        @contextlib.contextmanager
        def told() -> Any:
            try:
                yield
            except psycopg.Error as wrong:
                diagnosis = wrong.diag
                words = diagnosis.message_primary or str(wrong).strip()
                if diagnosis.message_hint:
                    words += "\n" + diagnosis.message_hint
                state = wrong.sqlstate or ("28P01" if "authentication failed" in words else "")
                kind = _BY_STATE.get(state) or (
                    errors.PermissionDenied if state.startswith("28") else errors.NotFound if state in ("42P01", "42703")
                    else errors.InvalidInput if state.startswith(("42", "22")) else
                    errors.Unavailable if not state or state.startswith(("08", "57", "58")) else errors.DiscreetError)
                raise kind(words) from wrong

        return told()

    def _set(self, name: str, value: Any) -> None:
        self._connection.execute(f"set discreet.{name} = {value}")

    def _settings(self, epsilon: Optional[float], delta: Optional[float], target_error: Optional[str]) -> None:
        wanted = {"epsilon": None if epsilon is None else repr(float(epsilon)),
                  "delta": None if delta is None else repr(float(delta)),
                  "target_error": None if target_error is None else self._psycopg.sql.quote(target_error)}
        for name, value in wanted.items():
            if self._session.get(name) == value:
                continue
            if value is None:
                self._connection.execute(f"reset discreet.{name}")
            else:
                self._set(name, value)
            self._session[name] = value

    @staticmethod
    def _numbered(sql: str, parameters: Sequence[Parameter]) -> str:
        """``$1`` as psycopg wants it: ``%s`` in order, each used once."""
        if not parameters:
            return sql
        used = [int(n) for n in re.findall(r"\$(\d+)", sql)]
        if used != list(range(1, len(parameters) + 1)):
            raise errors.InvalidParameter("use $1, $2, ... once each and in order")
        return re.sub(r"\$\d+", "%s", sql.replace("%", "%%"))

    # -- what one asks

    def query(self, sql: str, parameters: Sequence[Parameter] = (), *, epsilon: Optional[float] = None,
              delta: Optional[float] = None, target_error: Optional[str] = None) -> Answer:
        """The answer, charged by the server."""
        with self._told():
            self._settings(epsilon, delta, target_error)
            self._set("errors", "on")
            try:
                self._notices.clear()
                cursor = self._connection.execute(self._numbered(sql, parameters), list(parameters) or None)
                described, rows = cursor.description or [], cursor.fetchall()
            finally:
                self._set("errors", "off")
        return self._answer(described, rows)

    def _answer(self, described: Any, rows: List[Any]) -> Answer:
        names = [c.name for c in described]
        columns: List[Column] = []
        texts: List[List[Optional[str]]] = []
        cell_errors: List[List[Optional[float]]] = []
        for i, column in enumerate(described):
            if i > 0 and column.name == names[i - 1] + "_error95":
                continue
            noisy = i + 1 < len(names) and names[i + 1] == column.name + "_error95"
            found: List[Optional[float]] = [_limit(row[i + 1]) for row in rows] if noisy else [None] * len(rows)
            known = sorted(e for e in found if e is not None)
            columns.append(Column(column.name, _TYPES.get(column.type_code, "text"), noisy,
                                  known[len(known) // 2] if known else None))
            texts.append([_text(row[i]) for row in rows])
            cell_errors.append(found)
        notices = [n for n in self._notices if not n.startswith("cost: ")]
        price = next((n for n in self._notices if n.startswith("cost: ")), "")
        epsilon = re.search(r"cost: epsilon ([0-9.e+-]+)", price)
        spent_delta = re.search(r"cost: epsilon [0-9.e+-]+, delta ([0-9.e+-]+)", price)
        cost = Cost(float(epsilon.group(1)) if epsilon else 0.0, float(spent_delta.group(1)) if spent_delta else 0.0)
        return Answer(columns, Cells(columns, texts, cell_errors), cost, notices, "the same answer as before" in price,
                      self.budget())

    def explain(self, sql: str, parameters: Sequence[Parameter] = (), *, epsilon: Optional[float] = None,
                delta: Optional[float] = None, target_error: Optional[str] = None) -> Explanation:
        """What the question would cost. Spends nothing."""
        import json

        with self._told():
            self._settings(epsilon, delta, target_error)
            statement = "explain (format json) " + self._numbered(sql, parameters)
            row = self._connection.execute(statement, list(parameters) or None).fetchone()
        told = row[0] if not isinstance(row[0], str) else json.loads(row[0])
        told = told[0] if isinstance(told, list) else told
        cost = told["cost"]
        return Explanation(Cost(cost["epsilon"], cost["delta"], cost.get("rho")), told["columns"],
                           told.get("affordable", True), told.get("notices", []), told.get("plan", ""), self.budget(),
                           told.get("question", told))

    def budgets(self) -> Budgets:
        """The accounts that the server shows: one's own and those above."""
        with self._told():
            cursor = self._connection.execute("select * from discreet.budget")
            names = [c.name for c in cursor.description]
            found = [dict(zip(names, row)) for row in cursor.fetchall()]
        return Budgets(Budget(b["account"], _limit(b["epsilon_granted"]), _limit(b["epsilon_spent"]),
                              _limit(b["epsilon_left"]), _limit(b["delta_granted"]), _limit(b["delta_spent"]),
                              _limit(b["delta_left"]), int(b["charges"] or 0), None, b["parent"] or None) for b in found)

    def budget(self, account: Optional[str] = None) -> Budget:
        """One's own account, or one above it."""
        found = self.budgets()
        wanted = account or self._connection.info.user
        for budget in found:
            if budget.account == wanted:
                return budget
        raise errors.NotFound(f'the server shows no account "{wanted}"')

    @property
    def tables(self) -> Dict[str, Dict[str, str]]:
        with self._told():
            rows = self._connection.execute("select * from discreet.columns")
            names = [c.name for c in rows.description]
            out: Dict[str, Dict[str, str]] = {}
            for row in rows.fetchall():
                one = dict(zip(names, row))
                out.setdefault(one["table_name"], {})[one["name"]] = one["type"]
        return out

    @property
    def connection(self) -> Any:
        """psycopg's connection, for anything else."""
        return self._connection

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "RemoteCurator":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
