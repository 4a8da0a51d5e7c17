"""What a column holds: how a value is read, each by itself, and which facts about it are public.  Proof: kinds.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import BoundError, InputError, probability
from ..estimators.ranges import one_range
from ..rows.ingest import column_values, label, numbers
from ..rows.labels import Labels

__all__ = ["KINDS", "Blank", "Category", "Date", "Flag", "Kind", "Number", "Text", "day_of", "plain"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
MISSING, OTHER = "(missing)", "(other)"
_EPOCH = date(1970, 1, 1)
_YEARS = tuple(int((date(year, 1, 1) - _EPOCH).total_seconds()) for year in (2, 9998))  # in seconds
_FAR = 2**62
ASK_LOW = "what is the smallest value you would believe without looking?"
ASK_HIGH = "what is the largest value you would believe without looking?"
ASK_LEVELS = "which values can it take, from the questionnaire and not from the answers?"
ASK_RANGE, ASK_DAYS = f"low: {ASK_LOW} high: {ASK_HIGH}", f'kind = "date": {ASK_LOW} {ASK_HIGH}'
ASK_KIND = (
    'a number (low = ..., high = ...), words (levels = ["...", "..."]), kind = "flag", kind = "date", or never released '
    '(kind = "text")?'
)


class Kind:
    """What a column holds; subclasses say how a value is read, each by itself, and which facts are public."""

    kind: ClassVar[str]
    blank: ClassVar[str] = ""  # a question that nobody has answered yet
    numeric: ClassVar[bool] = False  # whether it has a range

    def facts(self) -> dict[str, Any]:
        """What TOML and JSON say of it."""
        found = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}  # type: ignore[arg-type]
        return {"kind": self.kind, **found}


@dataclass(frozen=True, slots=True)
class Blank(Kind):
    """A column of a draft that a person has still to describe.

    Parameters
    ----------
    question : str
        What to ask that person.
    """

    kind = "blank"
    question: str = ASK_KIND

    @property
    def blank(self) -> str:  # type: ignore[override]
        return self.question


@dataclass(frozen=True, slots=True)
class Number(Kind):
    """A number between ``low`` and ``high``; values beyond are moved to the edge.

    Parameters
    ----------
    low, high : float
        From what is known before seeing the data. ``Number("private")`` buys a range once, when it is first needed, for
        ``price`` of the study's budget.
    unit : str
        For people who read the codebook.
    integer : bool
        Whole numbers: quantiles are, then, and ``C(column)`` has a level for each.
    price : float
        Of "private": the share of the study's mu^2.

    Examples
    --------
    >>> Number(0, 110, unit="years", integer=True).range
    (0.0, 110.0)
    """

    kind = "number"
    numeric = True
    low: Any = None
    high: Any = None
    unit: str = ""
    integer: bool = False
    price: float = 0.02

    def __post_init__(self) -> None:
        if self.private:
            if self.high is not None:
                raise BoundError("Number('private') takes no high: the range is bought.")
            probability("price", self.price)
        else:
            if isinstance(self.low, str) or isinstance(self.high, str):
                raise BoundError("Number(low, high) takes numbers, not text: Number(16, 95), or Number('private').")
            if self.low is None or self.high is None:
                raise BoundError(
                    "Number(low, high) needs both ends: Number(16, 95), for example, or Number('private')."
                )
            one_range("Number(low, high)", (self.low, self.high))
        if not isinstance(self.unit, str) or not isinstance(self.integer, bool):
            raise InputError("unit must be text and integer True or False: Number(0, 110, unit='years', integer=True).")

    @property
    def private(self) -> bool:
        """Whether its range is to be bought."""
        return isinstance(self.low, str) and self.low == "private"

    @property
    def range(self) -> tuple[float, float]:
        """Its ends."""
        if self.private:
            raise BoundError("this range is private: a study buys it when it is first needed.")
        return float(self.low), float(self.high)

    def read(self, column: Any, na: tuple[Any, ...]) -> Array:
        """As floats; NaN where a value is missing. proof: read"""
        found = numbers(column) + 0.0  # formulas may divide by -0
        unknown = [float(v) for v in na if not isinstance(v, str)]
        return np.where(np.isin(found, unknown), np.nan, found) if unknown else found


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """Yes or no; 1 and 0 in formulas.

    Parameters
    ----------
    yes, no : bool, number or str
        How they are written; True, 1, False and 0 if nothing is said.
    """

    kind = "flag"
    numeric = True
    integer: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    yes: Any = True
    no: Any = False

    def __post_init__(self) -> None:
        for name, value, other in (("yes", self.yes, self.no), ("no", self.no, self.yes)):
            if isinstance(value, bool) and isinstance(other, str):  # what was not said
                raise InputError(
                    f"{name} is missing: a flag that is written as text needs both, as in Flag('yes', 'no')."
                )
        _distinct("Flag(yes, no)", [self.yes, self.no])

    def read(self, column: Any, na: tuple[Any, ...]) -> Array:
        """0, 1, or NaN for anything else. proof: read"""
        codes = Labels(_objects([self.no, self.yes])).codes(column)
        return np.where(codes < 0, np.nan, codes.astype(float))


@dataclass(frozen=True, slots=True)
class Date(Kind):
    """A day; in formulas the days since 1970-01-01.

    Parameters
    ----------
    low, high : str or date
        The range, as ISO text or dates; days beyond are moved to the edge.
    """

    kind = "date"
    numeric = True
    integer: ClassVar[bool] = True
    unit: ClassVar[str] = "days"
    low: Any = None
    high: Any = None

    def __post_init__(self) -> None:
        ends = [day_of(end) for end in (self.low, self.high)]
        if not ends[0] < ends[1]:
            raise BoundError("Date(low, high) must be two days such as '1900-01-01', the earlier one first.")
        for name, end in zip(("low", "high"), ends, strict=True):
            object.__setattr__(self, name, (_EPOCH + timedelta(end)).isoformat())

    @property
    def range(self) -> tuple[float, float]:
        """Its ends, as days since 1970-01-01."""
        return day_of(self.low), day_of(self.high)

    def read(self, column: Any, na: tuple[Any, ...]) -> Array:
        """Days, where a clock has a zone the ones it shows; NaN for what is no date. proof: read"""
        if hasattr(getattr(column, "dtype", None), "pyarrow_dtype"):
            column = getattr(column, "array", column).__arrow_array__()
        if str(getattr(column, "type", "")).startswith(("date", "timestamp")):  # of Arrow
            import pyarrow as pa

            return numbers(column.cast(pa.date32(), safe=False).cast(pa.int32()).to_pylist())
        if getattr(getattr(column, "dtype", None), "kind", "") == "M":
            if getattr(column.dtype, "tz", None) is not None:
                return _days_of_clocks(column)
            days = np.asarray(column, dtype="datetime64[D]")
            return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
        unknown = set(na)
        return np.array([math.nan if label(v) in unknown else day_of(v) for v in column_values(column)], dtype=float)


@dataclass(frozen=True, slots=True)
class Category(Kind):
    """One of the declared ``levels``, the first being the reference on the right side of formulas.

    Parameters
    ----------
    levels : list of text or numbers
        All that may occur, from the questionnaire and not from the rows.
    missing, other : {"drop", "level"}
        What a missing value, or a level that is not declared, becomes: a row of no weight, or a level of its own. Never the
        reference.

    Examples
    --------
    >>> Category(["F", "M"], missing="level").shown
    ('F', 'M', '(missing)')
    """

    kind = "category"
    levels: Any = None
    missing: str = "drop"
    other: str = "drop"

    def __post_init__(self) -> None:
        if isinstance(self.levels, str) or not hasattr(self.levels, "__iter__"):
            raise InputError("Category needs a list of levels, such as Category(['F', 'M']).")
        object.__setattr__(self, "levels", tuple(map(plain, self.levels)))
        _distinct("Category", list(self.levels))
        for name in ("missing", "other"):
            if getattr(self, name) not in ("drop", "level"):
                raise InputError(f"{name} of a Category must be 'drop' or 'level', got {getattr(self, name)!r}.")
        if {MISSING, OTHER} & set(map(str, self.levels)):
            raise InputError(f"levels must not be {MISSING!r} or {OTHER!r}: pass missing='level' or other='level'.")

    @property
    def shown(self) -> tuple[str, ...]:
        """All levels that a row can have, in order."""
        more = [name for name, fate in ((MISSING, self.missing), (OTHER, self.other)) if fate == "level"]
        return (*map(str, self.levels), *more)

    def read(self, column: Any, na: tuple[Any, ...]) -> Codes:
        """Positions among ``shown``; -1 for a row that is to be dropped. proof: read"""
        count = len(self.levels)
        unknown = [v for v in na if label(v) not in {label(level) for level in self.levels}]
        codes = Labels(_objects([*self.levels, *unknown])).codes(column)
        if self.missing == self.other == "drop":
            return np.where(codes < count, codes, -1)
        gone = codes >= count  # said to be missing
        if np.any(codes < 0):
            values, odd = column_values(column), np.flatnonzero(codes < 0)
            gone[odd] = [label(values[k]) is None for k in odd]
        fates = [self.shown.index(name) if name in self.shown else -1 for name in (MISSING, OTHER)]
        return np.where(gone, fates[0], np.where(codes < 0, fates[1], codes))


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """Names, notes, identifiers: never released, and of no use in a formula."""

    kind = "text"


KINDS: dict[str, Any] = {cls.kind: cls for cls in (Number, Flag, Date, Category, Text, Blank)}


def plain(value: Any) -> Any:
    """A number of numpy's as one of Python's, which JSON and TOML can hold."""
    return value.item() if isinstance(value, np.generic) else value


def _distinct(what: str, levels: list[Any]) -> None:
    keys = [label(level) for level in levels]
    if len(keys) < 2 or None in keys or len(set(keys)) != len(keys):
        raise InputError(
            f"{what} must have at least two different values, numbers or text ('1', 1.0 and True are the same)."
        )
    if len({isinstance(level, str) for level in levels}) > 1:
        raise InputError(f"{what} must have values of one kind, such as ('yes', 'no'): all numbers or all text.")


def _objects(values: list[Any]) -> NDArray[Any]:
    return np.array([*values, None], dtype=object)[:-1]  # numpy must not find a type of its own


def _days_of_clocks(column: Any) -> Array:
    """Days that the clocks of a zone show, also where an instant is so far that no calendar has its local time. proof: read"""
    import pandas as pd

    times = pd.DatetimeIndex(column)
    zone, utc = times.tz, np.asarray(times.tz_convert("UTC").tz_localize(None))
    unknown, parts = np.isnat(utc), int(np.timedelta64(1, "s").astype(utc.dtype.str.replace("M", "m")).astype(np.int64))
    seconds = np.clip(np.where(unknown, 0, utc.view(np.int64) // parts), -_FAR, _FAR)
    near = np.clip(seconds, _YEARS[0], _YEARS[1])  # zones know the clock; farther away it is that of the last of these
    clocks = pd.DatetimeIndex(near.astype("datetime64[s]")).tz_localize("UTC").tz_convert(zone).tz_localize(None)
    days = (seconds - near + np.asarray(clocks, dtype="datetime64[s]").astype(np.int64)) // 86_400
    return np.where(unknown, np.nan, days.astype(float))


def day_of(value: Any) -> float:
    """Days since 1970-01-01 of one value; NaN if it is no day. Never raises."""
    try:
        if isinstance(value, date):
            return float((date(value.year, value.month, value.day) - _EPOCH).days)
        if isinstance(value, np.datetime64):
            day = value.astype("datetime64[D]")
            return math.nan if np.isnat(day) else float(day.astype(np.int64))
        if isinstance(value, bytes):  # one text that is none makes a column of Arrow's all bytes
            value = value.decode()
        return float((date.fromisoformat(value.strip()[:10]) - _EPOCH).days) if isinstance(value, str) else math.nan
    except Exception:  # no day of any calendar, pandas' NaT (a date without a day), whatever else calls itself a date
        return math.nan
