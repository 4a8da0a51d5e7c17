"""The codebook: public facts about columns, written once, from what is known before seeing the data.  Proof: codebook.md."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .errors import BoundError, InputError, no_column, positive, probability
from .estimators.columns import FINEST
from .estimators.ranges import one_range
from .privacy.gaussian import gaussian_mu
from .rows.ingest import column_values, label, numbers
from .rows.labels import Labels

__all__ = ["Blank", "Category", "Codebook", "Date", "Flag", "Kind", "Number", "Text", "described", "read_toml"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
MISSING, OTHER = "(missing)", "(other)"
# Of a range: columns that spread over less are not scaled to unit size by a regression (estimators/columns.py).
_LOOSE = FINEST / 2.0
_EPOCH = date(1970, 1, 1)
_ASK_LOW = "what is the smallest value you would believe without looking?"
_ASK_HIGH = "what is the largest value you would believe without looking?"
_ASK_LEVELS = "which values can it take, from the questionnaire and not from the answers?"
_ASK_KIND = (
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
    """A column of a draft that a person has still to describe."""

    kind = "blank"
    question: str = _ASK_KIND

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
    low: Any
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
            one_range("Number(low, high)", (self.low, self.high))
        if not isinstance(self.unit, str) or not isinstance(self.integer, bool):
            raise InputError("unit must be text and integer True or False: Number(0, 110, unit='years', integer=True).")

    @property
    def private(self) -> bool:
        """Whether its range is to be bought."""
        return isinstance(self.low, str) and self.low == "private"

    @property
    def range(self) -> tuple[float, float]:
        if self.private:
            raise BoundError("this range is private: a study buys it when it is first needed.")
        return float(self.low), float(self.high)

    def read(self, column: Any, na: tuple[Any, ...]) -> Array:
        """As floats; NaN where a value is missing. proof: read"""
        found = numbers(column)
        unknown = [float(v) for v in na if not isinstance(v, str)]
        return np.where(np.isin(found, unknown), np.nan, found) if unknown else found


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """Yes or no; 1 and 0 in formulas. ``yes`` and ``no`` are how they are written, beside True, 1, False and 0 by default."""

    kind = "flag"
    numeric = True
    private: ClassVar[bool] = False
    integer: ClassVar[bool] = True
    unit: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    yes: Any = True
    no: Any = False

    def __post_init__(self) -> None:
        _distinct("Flag(yes, no)", [self.yes, self.no])

    def read(self, column: Any, na: tuple[Any, ...]) -> Array:
        """0, 1, or NaN for anything else. proof: read"""
        codes = Labels(_objects([self.no, self.yes])).codes(column)
        return np.where(codes < 0, np.nan, codes.astype(float))


@dataclass(frozen=True, slots=True)
class Date(Kind):
    """A day between ``low`` and ``high``, as ISO text or a date; in formulas the days since 1970-01-01."""

    kind = "date"
    numeric = True
    private: ClassVar[bool] = False
    integer: ClassVar[bool] = True
    unit: ClassVar[str] = "days"
    low: Any
    high: Any

    def __post_init__(self) -> None:
        ends = [_day(end) for end in (self.low, self.high)]
        if not ends[0] < ends[1]:
            raise BoundError("Date(low, high) must be two days such as '1900-01-01', the earlier one first.")
        for name, end in zip(("low", "high"), ends, strict=True):
            object.__setattr__(self, name, (_EPOCH + timedelta(end)).isoformat())

    @property
    def range(self) -> tuple[float, float]:
        return _day(self.low), _day(self.high)

    def read(self, column: Any, na: tuple[Any, ...]) -> Array:
        """Days; NaN for what is no date. proof: read"""
        if str(getattr(column, "type", "")).startswith(("date", "timestamp")):  # of Arrow
            import pyarrow as pa

            return numbers(column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()).to_pylist()) // 86_400
        if getattr(getattr(column, "dtype", None), "kind", "") == "M":
            days = np.asarray(column, dtype="datetime64[D]")
            return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
        unknown = set(na)
        return np.array([math.nan if label(v) in unknown else _day(v) for v in column_values(column)], dtype=float)


@dataclass(frozen=True, slots=True)
class Category(Kind):
    """One of the declared ``levels``, the first being the reference in formulas.

    Parameters
    ----------
    levels : list of text or numbers
    missing, other : {"drop", "level"}
        What a missing value, or a level that is not declared, becomes: a row of no weight, or a level of its own. Never the
        reference.

    Examples
    --------
    >>> Category(["F", "M"], missing="level").shown
    ('F', 'M', '(missing)')
    """

    kind = "category"
    levels: Any
    missing: str = "drop"
    other: str = "drop"

    def __post_init__(self) -> None:
        if isinstance(self.levels, str) or not hasattr(self.levels, "__iter__"):
            raise InputError("Category needs a list of levels, such as Category(['F', 'M']).")
        object.__setattr__(self, "levels", tuple(self.levels))
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


@dataclass(frozen=True)
class Codebook:
    """Public facts about the columns of a table.

    Parameters
    ----------
    columns : dict of Number, Category, Flag, Date or Text, by name
    na_values : list
        Values that mean "missing" in every column, such as "?" or -9.

    Examples
    --------
    >>> book = Codebook({"age": Number(0, 110), "sex": Category(["F", "M"])}, na_values=["?", -9])
    >>> Codebook.from_dict(book.to_dict()) == book
    True
    >>> print(book.check()[0])
    age: 0 to 110.
    """

    columns: Mapping[str, Kind]
    na_values: Any = ()
    _na: tuple[Any, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise InputError("columns must be a dict such as {'age': Number(0, 110), 'sex': Category(['F', 'M'])}.")
        for name, kind in self.columns.items():
            if not isinstance(name, str) or not name or "`" in name or "\n" in name:
                raise InputError("names of columns must be text without backticks and line breaks.")
            if not isinstance(kind, Kind):
                raise InputError(
                    f"column {name!r} must be Number(low, high), Category([...]), Flag(), Date(low, high) or Text(), got "
                    f"{type(kind).__name__}."
                )
        if isinstance(self.na_values, str) or not hasattr(self.na_values, "__iter__"):
            raise InputError("na_values must be a list, such as ['?', -9].")
        object.__setattr__(self, "na_values", tuple(self.na_values))
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "_na", tuple(key for v in self.na_values if (key := label(v)) is not None))
        for name, kind in self.columns.items():
            if isinstance(kind, Category) and {label(v) for v in kind.levels} & set(self._na):
                raise InputError(f"a level of {name!r} is also in na_values: it cannot be both.")

    def __getitem__(self, name: str) -> Kind:
        if name not in self.columns:
            raise InputError(
                f"column {name!r} is not in the codebook, which has {len(self.columns)} columns; describe it there."
            )
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def usable(self, name: str) -> Any:
        """A column that an analysis may use, or an error that says what is missing."""
        kind = self[name]
        if kind.blank:
            raise BoundError(f"the codebook has a blank at {name!r}: {kind.blank}")
        if isinstance(kind, Text):
            raise InputError(
                f"column {name!r} is Text, which is never released; describe it as something else to use it."
            )
        return kind

    def read(self, name: str, column: Any) -> Any:
        """Each value by itself: floats, NaN where missing, or positions among the levels, -1 where dropped. proof: read"""
        return self.usable(name).read(column, self._na)

    def find(self, columns: Any, where: str = "data") -> None:
        """An error unless a table with these columns has all that are described."""
        known = list(columns)
        for name in self.columns:
            if name not in known:
                raise InputError(no_column(f"{name!r}, which the codebook describes,", len(known), where))

    def replaced(self, name: str, kind: Kind) -> Codebook:
        """The same with another fact about one column."""
        return Codebook({**self.columns, name: kind}, self.na_values)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        columns = {name: _plain(kind.facts()) for name, kind in self.columns.items()}
        return {"na_values": list(self.na_values), "columns": columns}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], where: str = "the codebook") -> Codebook:
        """The inverse of :meth:`to_dict`."""
        unknown = sorted(set(content) - {"na_values", "columns"})
        if unknown:
            raise InputError(f"{where} has unknown entries {unknown}; known are na_values and columns.")
        columns = content.get("columns")
        if not isinstance(columns, Mapping) or not columns:
            raise InputError(f"{where} must have a table [columns.NAME] for every column.")
        return cls(
            {name: described(f"[columns.{name}]", facts) for name, facts in columns.items()},
            content.get("na_values", ()),
        )

    def to_toml(self) -> str:
        """A file to be filled in, with a question beside each blank."""
        lines = [f"na_values = {_toml(list(self.na_values))}  # values that mean: missing"]
        for name, kind in self.columns.items():
            facts = _plain(kind.facts())
            lines += ["", f"[columns.{_toml(name)}]"]
            if kind.blank:
                lines += _questions(kind.blank)
                continue
            implied = {"number": "low", "category": "levels"}.get(facts["kind"])
            lines += [f"{key} = {_toml(v)}" for key, v in facts.items() if not (key == "kind" and implied in facts)]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, path: Any) -> Codebook:
        """From a file; what `eptr fit --bounds` reads (min, max, ignore) is understood, too, but for its nameless target."""
        content = read_toml(Path(path))
        ignored = {name: {"kind": "text"} for name in content.pop("ignore", [])}
        if {"target", "x_bound"} & set(content):
            raise InputError(
                f"{Path(path).name} is a bounds file; in a codebook the target is a column like others: [columns.NAME]."
            )
        if isinstance(content.get("columns"), dict):
            content["columns"] |= ignored
        return cls.from_dict(content, Path(path).name)

    @classmethod
    def draft(cls, table: Any, *, header: bool = False) -> Codebook:
        """Names, and types where a schema declares them; no value is looked at. What is left blank is for a person to fill in.

        ``header=True`` says that the first line of a CSV file holds names: somebody's values would be published otherwise.
        """
        return cls(_drafted(table, header))

    def check(self, n: int | None = None, *, epsilon: float = 1.0, delta: float = 1e-6) -> list[str]:
        """One sentence for each column: what is missing, and what its range costs, from public numbers alone.

        With ``n`` rows: the noise on a mean of which nothing but the range is known.
        """
        mu = gaussian_mu(epsilon, delta)
        return [
            f"{name}: {_told(kind, None if n is None else positive('n', n) * mu)}"
            for name, kind in self.columns.items()
        ]

    @property
    def blanks(self) -> list[str]:
        """Columns that nobody has described yet."""
        return [name for name, kind in self.columns.items() if kind.blank]


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, or a sentence."""
    if not path.exists():
        raise InputError(f"{path} does not exist; `eptr codebook draft` writes one: [columns.NAME] low = 0, high = 1.")
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not TOML: {error}.") from None


def described(where: str, facts: Any) -> Kind:
    """A column as a file describes it; min and max are other names of low and high."""
    if not isinstance(facts, Mapping):
        raise InputError(f"{where} must have low and high (or min and max), levels, or a kind.")
    facts = {{"min": "low", "max": "high"}.get(key, key): value for key, value in facts.items()}
    if not facts:
        return Blank()
    kind = facts.pop("kind", "category" if "levels" in facts else "number" if "low" in facts else None)
    if kind not in KINDS:
        raise InputError(
            f"{where} must have low and high (or min and max), levels, or a kind among {', '.join(KINDS)}."
        )
    known = [f.name for f in fields(KINDS[kind])]
    if kind == "number" and facts.get("low") != "private" and "high" not in facts:
        raise InputError(f"{where} must have low and high (or min and max).")
    if unknown := sorted(set(facts) - set(known)):
        raise InputError(f"{where} has unknown entries {unknown}; a {kind} has {', '.join(known) or 'none'}.")
    try:
        return KINDS[kind](**facts)  # type: ignore[no-any-return]
    except TypeError:
        raise InputError(f"{where} lacks an entry; a {kind} has {', '.join(known)}.") from None
    except InputError as error:
        raise type(error)(f"{where}: {error}") from None


def _drafted(table: Any, header: bool) -> dict[str, Kind]:
    if isinstance(table, (str, os.PathLike)) and not os.path.isdir(table) and ".parquet" not in Path(table).suffixes:
        if not header:
            raise InputError(
                f"say header=True (--header) if the first line of {Path(table).name} holds names of columns; if it holds "
                "values, a draft would publish them."
            )
        from .rows.text_file import csv_names

        return {name: Blank() for name in csv_names(Path(table))}
    root = type(table).__module__.partition(".")[0]
    if isinstance(table, Mapping) or root == "pandas":  # types come from the values
        return {str(name): Blank() for name in (table if isinstance(table, Mapping) else table.columns)}
    if root in ("dask", "dask_expr"):
        return {str(name): Blank() for name in table.columns}
    if root == "pyspark":
        return {f.name: _of_type(f.dataType.simpleString()) for f in table.schema.fields}
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "__arrow_c_stream__") or root == "pyarrow":
        from .rows.arrow import declared_types

        return {name: _of_type(kind) for name, kind in declared_types(table).items()}
    raise InputError("table must have named columns: a data frame, a file, a query, or what Arrow, Dask or Spark have.")


def _of_type(name: str) -> Kind:
    """What a declared type says about a column, in the words of Arrow and Spark."""
    if name.startswith("bool"):
        return Flag()
    if name.startswith(("string", "large_string", "dictionary", "varchar")):
        return Blank(f'{_ASK_LEVELS} Or kind = "text", never released.')
    if name.startswith(("date", "timestamp")):
        return Blank(f'kind = "date": {_ASK_LOW} {_ASK_HIGH}')
    if name.startswith(("int", "uint", "bigint", "smallint", "tinyint", "float", "double", "decimal", "halffloat")):
        return Blank(f"low: {_ASK_LOW} high: {_ASK_HIGH}")
    return Text()


def _questions(question: str) -> list[str]:
    if question.startswith("low: "):
        return [f"# low =   # {_ASK_LOW}", f"# high =   # {_ASK_HIGH}"]
    return [f"# {question}"]


def _told(kind: Kind, scale: float | None) -> str:
    if kind.blank:
        return f"still blank; {kind.blank}"
    if isinstance(kind, Category):
        return f"{len(kind.shown)} levels, the reference being {str(kind.levels[0])!r}."
    if isinstance(kind, Number) and kind.private:
        return f"a range is bought for {kind.price:.0%} of a study's budget when it is first needed."
    if not isinstance(kind, (Number, Date)):
        return "never released." if isinstance(kind, Text) else "yes or no."
    low, high = kind.range
    ends = f"{kind.low} to {kind.high}" if isinstance(kind, Date) else f"{low:g} to {high:g}"
    unit = f" {kind.unit}" if kind.unit else ""
    if scale is None:
        return f"{ends}{unit}."
    width = high - low
    return (
        f"{ends}{unit}; noise of {width / scale:.3g}{unit} on a mean read off the range alone. If nearly all values lie within "
        f"{_LOOSE * width:.3g}{unit} of each other the range is loose, and regressions are the less accurate for it."
    )


def _distinct(what: str, levels: list[Any]) -> None:
    keys = [label(level) for level in levels]
    if len(keys) < 2 or None in keys or len(set(keys)) != len(keys):
        raise InputError(
            f"{what} must have at least two different values, numbers or text ('1', 1.0 and True are the same)."
        )
    if len({isinstance(level, str) for level in levels}) > 1:
        raise InputError(f"{what} must have values of one kind: all numbers or all text.")


def _objects(values: list[Any]) -> NDArray[Any]:
    return np.array([*values, None], dtype=object)[:-1]  # numpy must not find a type of its own


def _day(value: Any) -> float:
    """Days since 1970-01-01 of one value; NaN if it is no day. Never raises."""
    try:
        if isinstance(value, date):
            return float((date(value.year, value.month, value.day) - _EPOCH).days)
        if isinstance(value, np.datetime64):
            day = value.astype("datetime64[D]")
            return math.nan if np.isnat(day) else float(day.astype(np.int64))
        return float((date.fromisoformat(value.strip()[:10]) - _EPOCH).days) if type(value) is str else math.nan
    except (ValueError, OverflowError, AttributeError):
        return math.nan


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        k: list(v) if isinstance(v, tuple) else v.item() if isinstance(v, np.generic) else v for k, v in facts.items()
    }


def _toml(value: Any) -> str:
    """A value as TOML: JSON's text, numbers, truth values and lists are TOML's."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value.item() if isinstance(value, np.generic) else value)
