"""Every error and warning eptr raises on purpose; each message names the argument and the fix.

All errors about what the caller passed are ``ValueError`` too, so code written for
scikit-learn keeps working. No message ever holds a private value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real

__all__ = [
    "EptrError",
    "InputError",
    "BoundError",
    "DomainError",
    "PrivacyError",
    "SettingError",
    "BudgetError",
    "LedgerError",
    "EngineError",
    "EptrWarning",
    "NoReplyWarning",
    "NotPrivateWarning",
    "SettingsWarning",
    "listed",
    "meant",
    "no_column",
    "positive",
    "probability",
    "rounded_down",
    "sensible",
    "whole_number",
    "yes_or_no",
]


class EptrError(Exception):
    """Root of everything eptr raises on purpose."""


class InputError(EptrError, ValueError):
    """An argument has the wrong value, shape or type."""


class BoundError(InputError):
    """A public bound is missing: only the user can say what is known before seeing the data."""


class DomainError(InputError, TypeError):
    """A row lies outside the declared domain; the check is an answer about the rows, so a ledger records it."""


class SettingError(InputError, TypeError):
    """A setting that the function does not have; Python calls that a TypeError."""


class PrivacyError(EptrError, ValueError):
    """The requested privacy claim cannot be kept by the requested mechanism."""


class BudgetError(PrivacyError):
    """The budget does not cover the release; nothing was drawn."""


class LedgerError(PrivacyError):
    """The ledger could not be read or written; nothing was released."""


class EngineError(EptrError, RuntimeError):
    """A cluster, or a process that read rows, failed: a dead scheduler, a lost connection, workers that keep dying.

    Nothing was charged unless the fit had already drawn noise; a charge that was made stands.
    """


class EptrWarning(UserWarning):
    """Root of every warning; none depends on the value of a row but "no reply", which is part of the answer."""


class NoReplyWarning(EptrWarning):
    """The private test answered "no reply"; predictions come from the public fallback."""


class NotPrivateWarning(EptrWarning):
    """A seed was given: reproducible noise is for experiments and protects nobody."""


class SettingsWarning(EptrWarning):
    """Public numbers (rows, columns, delta) promise a weak guarantee or a useless answer."""


# What to pass instead, in sentences.
_EXAMPLES = {"epsilon": 1.0, "delta": 1e-6, "share": 0.2, "shares": 0.2, "level": 0.95}


def positive(name: str, value: object, *, below: float = math.inf) -> float:
    """Return ``value`` as a float in (0, below), or raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        example = _EXAMPLES.get(name, 1.0 if below > 1.0 else 1e-6)
        raise InputError(f"{name} must be a number, got {type(value).__name__}; pass {name}={example:g}, for example.")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if not 0.0 < number < below or math.isinf(number):
        limit = "a finite number above 0" if math.isinf(below) else f"a number between 0 and {below:g}, both excluded"
        fix = f"; pass {name}={_EXAMPLES[name]:g}, for example" if name in _EXAMPLES else ""
        raise InputError(f"{name} must be {limit}, got {number!r}{fix}.")
    return number


def probability(name: str, value: object) -> float:
    """Return ``value`` as a float in (0, 1), or raise an error that names it."""
    return positive(name, value, below=1.0)


def whole_number(name: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an int, ``least`` or more, or raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    if int(value) > 2**53:
        raise InputError(f"{name} must be a whole number of at most 2^53, got a larger one.")
    return int(value)


def yes_or_no(name: str, value: object) -> bool:
    """Return ``value`` as a bool, or raise an error that names it: a text such as "no" would count as True."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):  # numpy's, not imported here
        raise InputError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def sensible(name: str, bound: float) -> float:
    """A bound whose square neither vanishes nor overflows, so that norms can be compared with it."""
    if not 1e-100 <= bound <= 1e100:
        raise BoundError(f"{name} must be between 1e-100 and 1e100, got {bound!r}; rescale the data.")
    return bound


def meant(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not among these, which are public: the nearest one, or the first few."""
    names = list(known)
    alike = {text.casefold(): text for text in reversed(names)}
    if near := get_close_matches(str(name).casefold(), alike, 1):
        return f"; did you mean {alike[near[0]]!r}?"
    return f", which has {listed(names)}."


def listed(names: Sequence[str]) -> str:
    """The first few of some names that are public."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{', '.join(map(repr, names[:5]))}{more}" if names else "none"


def rounded_down(number: float) -> str:
    """Three digits of a positive number that is the most that may be asked for."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return f"{math.floor(number / unit + 1e-9) * unit:.3g}"


def no_column(what: str, columns: int, where: str = "X") -> str:
    """A name that is not there, without quoting those that are: in a file without a header they are somebody's values."""
    return f"{what} is not among the {columns} columns of {where}; if it should be, is the first line of the file a header?"
