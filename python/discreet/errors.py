"""What can go wrong, as exceptions. The text is the one the command line prints."""

from __future__ import annotations

__all__ = [
    "DiscreetError", "InvalidParameter", "InvalidInput", "NotFound", "Refused", "BudgetExhausted",
    "PermissionDenied", "Unavailable", "InvariantViolation",
]


class DiscreetError(Exception):
    """Any failure of Discreet. ``sqlstate`` is what a PostgreSQL client would be told."""

    sqlstate: str = "XX000"


class InvalidParameter(DiscreetError, ValueError):
    """A number or option outside what is allowed."""

    sqlstate = "22023"


class InvalidInput(DiscreetError, ValueError):
    """A file or text that does not parse."""

    sqlstate = "22000"


class NotFound(DiscreetError, LookupError):
    """A table, column, account or file that is not there."""

    sqlstate = "42704"


class Refused(DiscreetError):
    """A question that cannot be answered privately."""

    sqlstate = "0A000"


class BudgetExhausted(DiscreetError):
    """The account cannot pay."""

    sqlstate = "53400"


class PermissionDenied(DiscreetError, PermissionError):
    """The asker may not."""

    sqlstate = "42501"


class Unavailable(DiscreetError, OSError):
    """Disk, database or network failed; trying again may help."""

    sqlstate = "58000"


class InvariantViolation(DiscreetError, RuntimeError):
    """A bug of Discreet's: nothing was answered."""

    sqlstate = "XX000"
