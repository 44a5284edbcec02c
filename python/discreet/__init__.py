"""Discreet: differential privacy.

>>> import discreet
>>> discreet.mechanisms.Laplace(epsilon=0.1, sensitivity=1).release(1000)    # doctest: +SKIP
993

``mechanisms`` adds exact noise, ``accounting`` prices releases together, ``open`` and ``connect`` give a curator that
answers SQL under a policy, ``protect`` puts one in front of data frames, ``synth`` makes synthetic twins, ``local``
randomises on people's own side, ``audit`` and ``attacks`` try to refute it all, ``prio`` splits measurements between
servers. Noise comes from the operating system and cannot be seeded.
"""

from . import accounting, attacks, audit, curator, errors, local, mechanisms, prio, synth
from ._core import version as __version__
from .curator import Answer, Budget, Curator, Explanation, connect, open, protect
from .errors import (BudgetExhausted, DiscreetError, InvalidInput, InvalidParameter, NotFound, PermissionDenied, Refused,
                     Unavailable)

__all__ = [
    "Answer", "Budget", "BudgetExhausted", "Curator", "DiscreetError", "Explanation", "InvalidInput", "InvalidParameter",
    "NotFound", "PermissionDenied", "Refused", "Unavailable", "__version__", "accounting", "attacks", "audit", "connect",
    "curator", "errors", "local", "mechanisms", "open", "prio", "protect", "synth",
]


def __getattr__(name: str) -> object:
    """``discreet.learn`` is loaded when it is asked for: it looks for scikit-learn, which takes a while to load."""
    if name == "learn":
        import importlib

        return importlib.import_module(".learn", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
