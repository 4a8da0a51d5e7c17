"""What is known before seeing the data, from a TOML file, and columns read with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codebook import Category, Number, described, read_toml
from .errors import DomainError, InputError, no_column
from .rows.ingest import numbers
from .rows.labels import Labels
from .rows.table import cache_blocks, plain_column

__all__ = ["FileColumns", "PublicBounds", "is_range", "level_codes", "plain_columns", "stretched"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PublicBounds:
    """What is known before seeing the data: a range or levels for every column, and for the target."""

    columns: dict[str, Any]  # name -> (min, max) or a list of levels
    target: Any  # (min, max), a list of levels, or None
    x_bound: float | None
    ignore: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> PublicBounds:
        """From a TOML file: [columns.NAME] min, max (or levels); [target] min, max or levels; x_bound."""
        content = read_toml(path)
        unknown = set(content) - {"columns", "target", "x_bound", "ignore"}
        if unknown:
            raise InputError(
                f"{path.name} has unknown entries {sorted(unknown)}; known are columns, target, x_bound and ignore."
            )
        ignore = content.get("ignore", [])
        if not isinstance(ignore, list) or not all(isinstance(name, str) for name in ignore):
            raise InputError(f'ignore in {path.name} must be a list of column names, such as ignore = ["id"].')
        columns = content.get("columns")
        if not isinstance(columns, dict) or not columns:
            raise InputError(f"{path.name} must have a table [columns.NAME] with min and max for every feature.")
        bounds = {name: _bound(f"[columns.{name}]", value) for name, value in columns.items()}
        target = None if "target" not in content else _bound("[target]", content["target"])
        x_bound = content.get("x_bound")
        if x_bound is not None and not (isinstance(x_bound, (int, float)) and 0 < x_bound < math.inf):
            raise InputError(f"x_bound in {path.name} must be a number above 0.")
        return cls(bounds, target, None if x_bound is None else float(x_bound), tuple(ignore))

    def names(self) -> list[str]:
        """Names of the columns of the matrix: one per number, one per level but the first."""
        return [
            n for name, b in self.columns.items() for n in ([name] if is_range(b) else [f"{name}={v}" for v in b[1:]])
        ]

    def matrix(self, table: dict[str, NDArray[Any]], where: str, *, drop: bool = False, raw: bool = False) -> Array:
        """Numbers as they are or with ranges mapped to [-1, 1] (what lies beyond is left to the estimator), levels as 0 and 1.

        A missing value or an undeclared level lies outside the domain: an error, or NaN in that row with ``drop``.
        """
        self.find(list(table), where)
        parts = []
        for name, bound in self.columns.items():
            if is_range(bound):
                values = numbers(table[name])
                known = np.isfinite(values)
                parts.append(values if raw else _scaled(values, *bound))
            else:
                codes = level_codes(table[name], bound)
                known = codes >= 0
                parts += [np.where(known, codes == k, np.nan) for k in range(1, len(bound))]
            if not drop and not known.all():
                what = (
                    "missing values, or text" if is_range(bound) else "a level that is not declared, or missing values"
                )
                raise DomainError(
                    f"column {name!r} of {where} has {what}; mend it, or, in a fit, give such rows no weight (--invalid drop)."
                )
        return np.column_stack(parts).astype(float)

    def find(self, names: list[str], where: str) -> None:
        """An error if a column is not among these."""
        missing = [name for name in self.columns if name not in names]
        if missing:
            raise InputError(no_column(f"{missing[0]!r}, which the bounds describe,", len(names), where))

    def ranges(self) -> list[tuple[float, float]]:
        """The ends of every column of the raw matrix; (0, 1) for a level."""
        return self._each(lambda low, high: (low, high))

    def indicators(self) -> dict[int, list[float]]:
        """Which columns of the matrix are levels, with the numbers they hold."""
        levels = self._each(lambda low, high: None)
        return {j: [0.0, 1.0] for j, ends in enumerate(levels) if ends is not None}

    def scales(self) -> list[tuple[float, float]]:
        """(middle, half length) of every column of the scaled matrix; (0, 1) for a level."""
        return self._each(lambda low, high: (0.5 * (low + high), 0.5 * (high - low)))

    def reaches(self) -> list[float]:
        """Half of the range of every column of the raw matrix, and all of it from one level to another."""
        levels = self.indicators()
        return [1.0 if j in levels else half for j, (_, half) in enumerate(self.scales())]

    def _each(self, of: Callable[[float, float], Any]) -> list[Any]:
        """``of`` the ends of every column of the matrix; (0, 1) for a level, whatever is asked."""
        return [v for b in self.columns.values() for v in ([of(*b)] if is_range(b) else [(0.0, 1.0)] * (len(b) - 1))]

    def scaled(self, row: Array) -> Array:
        """Numbers in the units of the data as shares of their ranges; the inverse of :meth:`unscaled`."""
        return np.array([(v - m) / h for (m, h), v in zip(self.scales(), row, strict=True)])

    def unscaled(self, row: Array) -> Array:
        """A row of the matrix in the units of the data."""
        return np.array([m + h * v for (m, h), v in zip(self.scales(), row, strict=True)])

    def radius(self) -> float:
        """sqrt of the number of columns: nothing inside its range is longer."""
        return self.x_bound or math.sqrt(len(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """For storage with the model."""
        return {
            "columns": {k: list(v) for k, v in self.columns.items()},
            "target": self.target,
            "x_bound": self.x_bound,
            "ignore": list(self.ignore),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> PublicBounds:
        """The inverse of :meth:`to_dict`."""
        columns = {k: _restored(v) for k, v in content["columns"].items()}
        return cls(columns, _restored(content["target"]), content["x_bound"], tuple(content["ignore"]))


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The layout of a file: columns and the target, raw or scaled with the public bounds; or a target coded with them."""

    bounds: PublicBounds
    target: str
    where: str
    drop: bool
    raw: bool = False

    @property
    def columns(self) -> list[str]:
        return [*self.bounds.columns, self.target]

    @property
    def n_features(self) -> int:
        return len(self.bounds.names())

    @property
    def classes(self) -> NDArray[Any] | None:
        return None if is_range(self.bounds.target) else np.unique(np.array(self.bounds.target))

    def read(self, table: dict[str, NDArray[Any]]) -> tuple[Array, NDArray[Any]]:
        """The matrix and the target of some rows."""
        X = self.bounds.matrix(table, self.where, drop=self.drop, raw=self.raw)
        if self.classes is not None:
            return X, level_codes(table[self.target], self.classes.tolist())
        y = numbers(table[self.target])
        return X, y if self.raw else _scaled(y, *self.bounds.target)

    def blocks(self, batch: Any) -> Iterator[tuple[Array, NDArray[Any]]]:
        """As a pass over a table wants them."""
        for part in cache_blocks(batch.num_rows, self.n_features):
            yield self.read(plain_columns(batch.slice(part.start, part.stop - part.start), self.columns))


def _scaled(values: Array, low: float, high: float) -> Array:
    """[low, high] mapped to [-1, 1]; what is far beyond is cut first, so that nothing overflows."""
    return np.asarray((np.clip(values, -1e150, 1e150) - 0.5 * (low + high)) / (0.5 * (high - low)))


def stretched(values: Any, low: float, high: float) -> Any:
    """[-1, 1] mapped to [low, high]."""
    return 0.5 * (low + high) + 0.5 * (high - low) * values


def plain_columns(batch: Any, names: list[str]) -> dict[str, Any]:
    """Columns of a record batch, in types whose values can be read one by one."""
    return {name: plain_column(batch, name) for name in names}


def level_codes(column: Any, levels: Sequence[str]) -> NDArray[np.int64]:
    """Positions in ``levels``, in the order they have there; -1 for a value that is not among them."""
    return Labels(np.array(levels, dtype=object)).codes(column)


def _bound(where: str, value: Any) -> Any:
    """A column as a codebook describes it: a pair of numbers, or levels."""
    kind = described(where, value)
    if isinstance(kind, Category):
        return [str(v) for v in kind.levels]
    if isinstance(kind, Number) and not kind.private:
        return kind.range
    raise InputError(f"{where} must have min and max, or levels.")


def _restored(value: Any) -> Any:
    return tuple(value) if value is not None and not isinstance(value[0], str) else value


def is_range(bound: Any) -> bool:
    """Whether a bound is (min, max) rather than a list of levels."""
    return isinstance(bound, tuple)
