"""Pictures, with matplotlib where it is installed."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import errors

_BLUE = "#2563eb"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise errors.Unavailable("plots need matplotlib: pip install matplotlib") from missing
    return pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1]


def _plain(ax: Any) -> Any:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def bars(names: Sequence[str], values: Sequence[float], half_widths: Sequence[float], ax: Any = None) -> Any:
    ax = _plain(_axes(ax))
    ax.bar(range(len(names)), values, yerr=half_widths, color=_BLUE, alpha=0.8, ecolor="#111827", capsize=3)
    ax.set_xticks(range(len(names)), names, rotation=45 if len(names) > 8 else 0, ha="right" if len(names) > 8 else "center")
    ax.axhline(0, color="#6b7280", linewidth=0.8)
    return ax


def answer(made: Any, value: Optional[str], by: Optional[str], ax: Any) -> Any:
    noisy = [c.name for c in made.columns if c.noisy]
    keys = [c.name for c in made.columns if not c.noisy]
    value = value or (noisy[0] if noisy else None)
    if value is None:
        raise errors.InvalidParameter("the answer has no noisy column to plot; name one")
    by = by or (keys[0] if keys else None)
    names = [str(k) for k in made.column(by)] if by else [str(i) for i in range(len(made))]
    ax = bars(names, [float(v) if v is not None else float("nan") for v in made.column(value)],
              [e or 0.0 for e in made.error(value)], ax)
    ax.set_ylabel(value)
    if by:
        ax.set_xlabel(by)
    ax.set_title("95 % intervals of the noise", fontsize=9, color="#6b7280")
    return ax


def profile(job: Any, delta: float, ax: Any) -> Any:
    ax = _plain(_axes(ax))
    reach = job.epsilon(max(delta / 100, 1e-300))
    top = reach if reach > 0 and reach != float("inf") else 1.0
    epsilons = [top * i / 64 for i in range(65)]
    found = job.profile(epsilons)
    points = [(e, d.upper) for e, d in zip(epsilons, found) if d.upper > 0]
    ax.semilogy([e for e, _ in points], [d for _, d in points], color=_BLUE)
    at = job.epsilon(delta)
    ax.plot([at], [delta], "o", color=_BLUE)
    ax.annotate(f"epsilon {at:.3g} at delta {delta:g}", (at, delta), textcoords="offset points", xytext=(8, 8))
    ax.set_xlabel("epsilon")
    ax.set_ylabel("delta")
    return ax
