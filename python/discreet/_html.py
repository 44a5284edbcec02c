"""How answers, explanations, budgets and estimates show themselves in notebooks and on terminals."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, List, Optional, Sequence

_STYLE = ("<style>.discreet{font-family:system-ui,sans-serif;font-size:13px;max-width:60em}"
          ".discreet table{border-collapse:collapse;margin:.3em 0}"
          ".discreet th{text-align:left;border-bottom:1px solid #8889;padding:2px 12px 2px 0;font-weight:600}"
          ".discreet td{padding:2px 12px 2px 0;border-bottom:1px solid #8882;text-align:left;white-space:nowrap}"
          ".discreet td.n{text-align:right;font-variant-numeric:tabular-nums}"
          ".discreet .e{color:#888;font-size:12px}.discreet .w{color:#b45309}"
          ".discreet pre{margin:.3em 0;line-height:1.35;background:none}</style>")
_ROWS_MAX = 60
_BLUE, _GREY = "#2563eb", "#8888"


def _wrap(body: str) -> str:
    return f"{_STYLE}<div class='discreet'>{body}</div>"


def _number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return str(value)


def _limit(value: Optional[float]) -> str:
    return "no limit" if value is None else f"{value:.4g}"


def _bar(value: float, error: float, low: float, high: float, width: int = 120) -> str:
    """A point with its 95 % interval on a common scale."""
    span = (high - low) or 1.0

    def x(v: float) -> float:
        return 3 + (width - 6) * (min(max(v, low), high) - low) / span

    a, b, c = x(value - error), x(value + error), x(value)
    zero = x(0.0)
    return (f"<svg width='{width}' height='14' style='vertical-align:middle'>"
            f"<line x1='{zero:.1f}' x2='{zero:.1f}' y1='0' y2='14' stroke='{_GREY}'/>"
            f"<line x1='{a:.1f}' x2='{b:.1f}' y1='7' y2='7' stroke='{_BLUE}' stroke-width='2'/>"
            f"<line x1='{a:.1f}' x2='{a:.1f}' y1='4' y2='10' stroke='{_BLUE}'/>"
            f"<line x1='{b:.1f}' x2='{b:.1f}' y1='4' y2='10' stroke='{_BLUE}'/>"
            f"<circle cx='{c:.1f}' cy='7' r='3' fill='{_BLUE}'/></svg>")


def _cost(cost: Any, repeated: bool = False) -> str:
    if repeated:
        return "cost: nothing, the same answer as before"
    if cost.epsilon == 0:
        return "cost: nothing, the question is about public data"
    return f"cost: epsilon {cost.epsilon:g}" + (f", delta {cost.delta:g}" if cost.delta else "")


def _left(budget: Any) -> str:
    if budget is None:
        return ""
    return f"left to {budget.account}: epsilon {_limit(budget.epsilon_left)}, delta {_limit(budget.delta_left)}"


# -- answers

def answer(made: Any) -> str:
    """A table; noisy numbers have their error and a bar."""
    shown = min(len(made), _ROWS_MAX)
    head, columns = [], []
    for column in made.columns:
        values, errors = made.column(column.name), made.error(column.name)
        numeric = column.noisy and all(v is None or isinstance(v, (int, float)) for v in values)
        head.append(f"<th>{escape(column.name)}</th>")
        if not numeric:
            kind = " class='n'" if values and isinstance(values[0], (int, float)) else ""
            columns.append([f"<td{kind}>{escape(_number(v))}</td>" for v in values[:shown]])
            continue
        ends = [(v, e or 0.0) for v, e in zip(values, errors) if v is not None]
        low = min([0.0] + [v - e for v, e in ends])
        high = max([0.0] + [v + e for v, e in ends])
        cells = []
        for v, e in zip(values[:shown], errors[:shown]):
            error = f" <span class='e'>±{_number(float(e))}</span>" if e is not None else ""
            bar = _bar(float(v), float(e or 0.0), low, high) if v is not None else ""
            cells.append(f"<td class='n'>{escape(_number(v))}{error} {bar}</td>")
        columns.append(cells)
    rows = "".join("<tr>" + "".join(cells) + "</tr>" for cells in zip(*columns))
    more = f"<div class='e'>{len(made) - shown:,} more rows</div>" if len(made) > shown else ""
    notes = "".join(f"<div class='e'>note: {escape(n)}</div>" for n in made.notices)
    said = f"<div class='e'>{escape(_cost(made.cost, made.repeated))}; {escape(_left(made.left))}. ± is the 95 % interval of the noise.</div>"
    return _wrap(f"<table><tr>{''.join(head)}</tr>{rows}</table>{more}{said}{notes}")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    rows = [list(r) for r in rows]
    widths = [max([len(h)] + [len(r[i]) for r in rows]) for i, h in enumerate(head)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right)).rstrip()

    return "\n".join([line(head)] + [line(r) for r in rows])


def answer_text(made: Any) -> str:
    head: List[str] = []
    right: List[bool] = []
    columns: List[List[str]] = []
    for column in made.columns:
        values, errors = made.column(column.name), made.error(column.name)
        head.append(column.name)
        right.append(all(v is None or isinstance(v, (int, float)) for v in values))
        columns.append([_number(v) if v is not None else "NULL" for v in values[:_ROWS_MAX]])
        if column.noisy:
            head.append("±")
            right.append(True)
            columns.append([_number(None if e is None else float(e)) for e in errors[:_ROWS_MAX]])
    text = _table(head, zip(*columns), right)
    if len(made) > _ROWS_MAX:
        text += f"\n... {len(made) - _ROWS_MAX:,} more rows"
    return f"{text}\n{_cost(made.cost, made.repeated)}; {_left(made.left)}"


# -- explanations

def explanation(told: Any) -> str:
    rows = "".join(
        f"<tr><td>{escape(c['name'])}</td><td>{escape(c['mechanism'] or 'as it is')}</td>"
        f"<td class='n'>{_error(c)}</td></tr>" for c in told.columns)
    afford = "" if told.affordable else " <span class='w'>the account cannot pay</span>"
    notes = "".join(f"<div class='e'>note: {escape(n)}</div>" for n in told.notices)
    gauge = _gauge(told.left, told.cost.epsilon) if told.left is not None else ""
    return _wrap(f"<table><tr><th>column</th><th>mechanism</th><th>error at 95 %</th></tr>{rows}</table>"
                 f"<div>cost: epsilon {told.cost.epsilon:g}, delta {told.cost.delta:g}{_rho(told.cost)}{afford}</div>"
                 f"{gauge}<pre>{escape(told.plan)}</pre>{notes}")


def _rho(cost: Any) -> str:
    return "" if cost.rho is None else f", rho {cost.rho:.4g}"


def _error(column: Any) -> str:
    if column["error95"] is not None:
        return f"±{_number(float(column['error95']))}"
    return "" if column["mechanism"] is None else "depends on a bound found privately"


def explanation_text(told: Any) -> str:
    rows = [(c["name"], c["mechanism"] or "as it is", _error(c)) for c in told.columns]
    text = _table(("column", "mechanism", "error at 95 %"), rows, (False, False, False))
    pay = "" if told.affordable else " (cannot pay)"
    return (f"{text}\n\ncost: epsilon {told.cost.epsilon:g}, delta {told.cost.delta:g}{_rho(told.cost)}; "
            f"{_left(told.left)}{pay}\n\n{told.plan}".rstrip())


# -- budgets

def _gauge(budget: Any, planned: float = 0.0, width: int = 240) -> str:
    granted, spent = budget.epsilon_granted, budget.epsilon_spent or 0.0
    if granted is None:
        return f"<div>{escape(budget.account)}: epsilon {spent:.4g} spent, no limit</div>"
    scale = (width - 2) / (granted or 1.0)
    used = min(spent, granted) * scale
    next_one = min(planned, max(granted - spent, 0.0)) * scale
    colour = _BLUE if spent + planned <= 0.8 * granted else "#d97706" if spent + planned <= granted else "#dc2626"
    return (f"<div>{escape(budget.account)} <svg width='{width}' height='14' style='vertical-align:middle'>"
            f"<rect x='1' y='2' width='{width - 2}' height='10' rx='3' fill='none' stroke='{_GREY}'/>"
            f"<rect x='1' y='2' width='{used:.1f}' height='10' rx='3' fill='{colour}'/>"
            f"<rect x='{1 + used:.1f}' y='2' width='{next_one:.1f}' height='10' fill='{colour}' fill-opacity='.35'/></svg> "
            f"<span class='e'>epsilon {spent:.4g} of {granted:.4g} spent, {_limit(budget.epsilon_left)} left; "
            f"delta {_limit(budget.delta_left)} left; {budget.charges} charges</span></div>")


def budgets(found: Iterable[Any]) -> str:
    return _wrap("".join(_gauge(b) for b in found))


# -- the rest

def theorems(job: Any, delta: float = 1e-6) -> str:
    rows = "".join(f"<tr><td>{escape(t.method)}</td><td class='n'>{'' if t.epsilon is None else f'{t.epsilon:.4f}'}</td>"
                   f"<td>{escape(t.theorem)}</td><td class='e'>{escape(t.remark)}</td></tr>" for t in job.theorems(delta))
    return _wrap(f"<table><tr><th>theorem</th><th>epsilon at {delta:g}</th><th>from</th><th></th></tr>{rows}</table>")


def estimates(found: Any) -> str:
    shown = list(found)[:_ROWS_MAX]
    low = min([0.0] + [r.low for r in shown])
    high = max([0.0] + [r.high for r in shown])
    rows = "".join(f"<tr><td>{escape(r.value)}</td><td class='n'>{_number(float(r.estimate))} "
                   f"<span class='e'>±{_number(1.96 * r.standard_error)}</span> "
                   f"{_bar(r.estimate, 1.96 * r.standard_error, low, high)}</td></tr>" for r in shown)
    more = f"<div class='e'>{len(found) - len(shown):,} more values</div>" if len(found) > len(shown) else ""
    about = f"<div class='e'>{found.reports:,} reports, {found.refused:,} refused. ± is 1.96 standard errors.</div>" if found.reports else ""
    return _wrap(f"<table><tr><th>value</th><th>people</th></tr>{rows}</table>{more}{about}")


def finding(found: Any) -> str:
    colour = "#dc2626" if found.refuted else "#15803d"
    return _wrap(f"<div><b style='color:{colour}'>{found.verdict}</b>: claims epsilon {found.claimed:g}"
                 f"{f', delta {found.delta:g}' if found.delta else ''}; it is at least {found.lower_bound:.4g}</div>"
                 f"<div class='e'>{escape(found.event)}</div>")


def twin(made: Any) -> str:
    notes = "".join(f"<div class='e'>{escape(n)}</div>" for n in made.notes)
    return _wrap(f"<div>A twin of {len(made):,} rows, epsilon {made.epsilon:g}, delta {made.delta:g}</div>{notes}")
