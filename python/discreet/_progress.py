"""Progress of long work: a line on a terminal, a bar in a notebook, or somebody's own function."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, Optional


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


class _Line:
    """Rewritten in place, for work over a second."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.shown = 0.0

    def __call__(self, stage: str, done: float) -> bool:
        taken = time.monotonic() - self.began
        if taken > 1 and taken - self.shown > 0.1:
            self.shown = taken
            left = taken * (1 - done) / max(done, 0.01)
            sys.stderr.write(f"\r\033[K{stage}: {100 * done:3.0f} %, {left:.0f} s left")
            sys.stderr.flush()
        return True

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")


class _Bar:
    """The same as HTML that replaces itself."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.shown = 0.0
        self.handle: Any = None

    def __call__(self, stage: str, done: float) -> bool:
        taken = time.monotonic() - self.began
        if taken < 1 or taken - self.shown < 0.2:
            return True
        from IPython.display import HTML, display

        self.shown = taken
        left = taken * (1 - done) / max(done, 0.01)
        bar = HTML(f"<progress value='{done:.3f}' max='1' style='width:20em'></progress> {stage}, {left:.0f} s left")
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)
        return True

    def close(self) -> None:
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))


@contextlib.contextmanager
def reporter(progress: Any) -> "Iterator[Optional[Callable[[str, float], bool]]]":
    """``progress``: None for what suits the place, True, False, or a function whose False answer stops the work."""
    if callable(progress):
        yield lambda stage, done: progress(stage, done) is not False
        return
    shown: Any = None
    if progress is None or progress is True:
        if _in_notebook():
            shown = _Bar()
        elif progress is True or sys.stderr.isatty():
            shown = _Line()
    try:
        yield shown
    finally:
        if shown is not None:
            shown.close()
