"""The codebook: public facts about the columns of a table, in Python and TOML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import BoundError, InputError, meant, no_column, positive
from ..estimators.columns import FINEST
from ..privacy.gaussian import gaussian_mu
from ..rows.ingest import label
from .draft import drafted
from .kinds import (
    ASK_DAYS,
    ASK_KIND,
    ASK_LEVELS,
    ASK_RANGE,
    KINDS,
    Blank,
    Category,
    Date,
    Kind,
    Number,
    Text,
    plain,
)

__all__ = ["Codebook", "described", "read_toml"]

# Of a range: columns that spread over less are not scaled to unit size by a regression (estimators/columns.py).
_LOOSE = FINEST / 2.0
# Above a draft: how its columns are filled in.
_GUIDE = [
    "",
    "# Describe every column below: take the # away from the lines that fit, and complete them.",
    "# A number has low and high: what are the smallest and the largest value you would believe without looking?",
    f"# Words have levels: {ASK_LEVELS}",
    '# kind = "flag" is yes or no, kind = "date" has low and high, such as "1900-01-01", and kind = "text" is never released.',
]


@dataclass(frozen=True)
class Codebook:
    """Public facts about the columns of a table.

    Parameters
    ----------
    columns : dict of Number, Category, Flag, Date or Text, by name
        Every column that an analysis may use.
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
            # What was read as UTF-8 and was not has surrogates, which no file can hold.
            if not isinstance(name, str) or not name or re.search("[`\n\ud800-\udfff]", name):
                raise InputError("names of columns must be text in UTF-8, without backticks and line breaks.")
            if not isinstance(kind, Kind):
                raise InputError(
                    f"column {name!r} must be Number(low, high), Category([...]), Flag(), Date(low, high) or Text(), got "
                    f"{type(kind).__name__}."
                )
        if isinstance(self.na_values, str) or not hasattr(self.na_values, "__iter__"):
            raise InputError("na_values must be a list, such as ['?', -9].")
        object.__setattr__(self, "na_values", tuple(map(plain, self.na_values)))
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "_na", tuple(key for v in self.na_values if (key := label(v)) is not None))
        for name, kind in self.columns.items():
            if isinstance(kind, Category) and {label(v) for v in kind.levels} & set(self._na):
                raise InputError(f"a level of {name!r} is also in na_values: it cannot be both.")

    def __getitem__(self, name: str) -> Kind:
        if name not in self.columns:
            raise InputError(f"column {name!r} is not in the codebook{meant(name, self.columns)}")
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
        """Each value by itself: floats, NaN where missing, or positions among the levels, -1 where dropped."""
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
        """A file to be filled in; how is said once, at its top."""
        lines = [f"na_values = {_toml(list(self.na_values))}  # values that mean: missing"]
        lines += _GUIDE if self.blanks else []
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
        return cls(drafted(table, header))

    def check(self, n: int | None = None, *, epsilon: float = 1.0, delta: float = 1e-6) -> list[str]:
        """One sentence for each column: what is missing, and what its range costs, from public numbers alone.

        With ``n`` rows: the noise on a mean of which nothing but the range is known.
        """
        mu = gaussian_mu(epsilon, delta)
        cost = None if n is None else (f"at epsilon {epsilon:g}, noise of", positive("n", n) * mu)
        return [f"{name}: {_told(kind, cost)}" for name, kind in self.columns.items()]

    @property
    def blanks(self) -> list[str]:
        """Columns that nobody has described yet."""
        return [name for name, kind in self.columns.items() if kind.blank]


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, or a sentence.

    Parameters
    ----------
    path : Path
        The file.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist; `eptr codebook draft` writes one: [columns.NAME] low = 0, high = 1.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not TOML: {error}.") from None


def described(where: str, facts: Any) -> Kind:
    """A column as a file describes it; min and max are other names of low and high.

    Parameters
    ----------
    where : str
        Its name, for messages.
    facts : dict
        What the file says of it.
    """
    if not isinstance(facts, Mapping):
        raise InputError(f"{where} must have low and high (or min and max), levels, or a kind.")
    facts = {{"min": "low", "max": "high"}.get(key, key): value for key, value in facts.items()}
    if not facts:
        return Blank()
    implied = "category" if "levels" in facts else "number" if {"low", "high"} & set(facts) else None
    kind = str(facts.pop("kind", implied))
    every = {f.name: f.default for cls in KINDS.values() for f in fields(cls)}
    entries = {f.name: f.default for f in fields(KINDS[kind])} if kind in KINDS else every
    for name in facts:
        if name not in entries:
            what = f"a {kind}" if kind in KINDS else "a column"
            raise InputError(f"{where}: {name!r} is not an entry of {what}{meant(name, entries)}")
    if kind not in KINDS:
        kinds = ", ".join(name for name, cls in KINDS.items() if cls is not Blank)
        raise InputError(f"{where} must have low and high (or min and max), levels, or a kind among {kinds}.")
    ends = {"low": "low (or min)", "high": "high (or max)"}
    for name, default in entries.items():
        if default is None and name not in facts and facts.get("low") != "private":
            raise InputError(f"{where}: {ends.get(name, name)} is missing.")
    try:
        return KINDS[kind](**facts)  # type: ignore[no-any-return]
    except InputError as error:
        raise type(error)(f"{where}: {error}") from None


def _questions(question: str) -> list[str]:
    """A line to be filled in for every question; of a column without a type, for every kind that it may be."""
    numbers, words = ["# low =", "# high ="], "# levels = []"
    if question == ASK_KIND:
        return [*numbers, words, "# kind ="]
    if question == ASK_LEVELS:
        return [words, '# kind = "text"']
    if question == ASK_DAYS:
        return ['# kind = "date"', *numbers]
    return numbers if question == ASK_RANGE else [f"# {question}"]


def _told(kind: Kind, cost: tuple[str, float] | None) -> str:
    if kind.blank:
        return f"still blank; {kind.blank}"
    if isinstance(kind, Category):
        fates = {
            fate: " and ".join(name for name in ("missing", "other") if getattr(kind, name) == fate)
            for fate in ("level", "drop")
        }
        told = {"level": "values are levels of their own", "drop": "values drop the row"}
        rest = "; ".join(f"{names} {told[fate]}" for fate, names in fates.items() if names)
        return f"{', '.join(map(str, kind.levels))}; the first is the reference on the right side of a formula; {rest}."
    if isinstance(kind, Number) and kind.private:
        return f"a range is bought for {kind.price:.0%} of a study's budget when it is first needed."
    if not isinstance(kind, (Number, Date)):
        return "never released." if isinstance(kind, Text) else "yes or no."
    low, high = kind.range
    unit = f" {kind.unit}" if kind.unit else ""
    ends = f"{kind.low} to {kind.high}" if isinstance(kind, Date) else f"{low:.10g} to {high:.10g}{unit}"
    if cost is None:
        return f"{ends}{', whole numbers' if isinstance(kind, Number) and kind.integer else ''}."
    width, (noise, scale) = high - low, cost
    return (
        f"{ends}; {noise} {width / scale:.3g}{unit} on a mean if only the range is used. If nearly all values lie within "
        f"{_LOOSE * width:.3g}{unit} of each other the range is loose, and regressions are the less accurate for it."
    )


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else plain(value) for key, value in facts.items()}


def _toml(value: Any) -> str:
    """A value as TOML: JSON's text, numbers, truth values and lists are TOML's."""
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
