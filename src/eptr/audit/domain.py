"""What a row may look like: the space in which `falsify` searches for a counter-example."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["Domain"]

Array = NDArray[np.float64]


class Domain:
    """Columns of a row, each an interval (low, high) or a list of levels (NaN may be one).

    Parameters
    ----------
    columns : (low, high), or a sequence with one (low, high) pair or list of levels per column
        A single pair means one-dimensional data: datasets are then vectors. A list of more or fewer than two numbers, or
        one that holds NaN, is a list of levels; write two levels as ``{"levels": [0, 1]}``.

    Examples
    --------
    >>> Domain((0, 200)).flat, Domain([(0, 1), (0, 1)]).width
    (True, 2)
    """

    def __init__(self, columns: Any) -> None:
        self.flat = _is_column(columns)
        columns = [columns] if self.flat else columns
        if not isinstance(columns, Sequence) or len(columns) == 0 or not all(_is_column(c) for c in columns):
            raise InputError(
                "domain must be a pair (low, high) for vectors, or a list with one (low, high) pair or list of levels "
                f"for each column, got {columns!r}."
            )
        self.columns = [_column(c) for c in columns]
        self.width = len(self.columns)

    def rows(self, rng: np.random.Generator, count: int) -> Array:
        """Random rows: uniform, at the edges, or in the middle, column by column."""
        table = np.empty((count, self.width))
        for j, (levels, interval) in enumerate(self.columns):
            if interval is None:
                table[:, j] = rng.choice(levels, size=count)
                continue
            low, high = interval
            kind = rng.random(count)
            table[:, j] = np.where(kind < 0.5, rng.uniform(low, high, size=count), rng.choice(levels, size=count))
        return table

    def corner(self, rng: np.random.Generator) -> Array:
        """One row with every column at an edge, in the middle, or at a level."""
        return np.array([rng.choice(levels) for levels, _ in self.columns])

    def moved(self, row: Array, step: float, rng: np.random.Generator) -> Array:
        """A row nearby: some columns shifted by about ``step`` of their range, or set to a special value."""
        new = row.copy()
        for j, (levels, interval) in enumerate(self.columns):
            if rng.random() < 0.5:
                continue
            if interval is None or rng.random() < 0.2 or math.isnan(new[j]):
                new[j] = rng.choice(levels)
            else:
                low, high = interval
                new[j] = min(max(new[j] + step * (high - low) * rng.normal(), low), high)
        return new

    def simpler(self, value: float, column: int) -> list[float]:
        """Values easier to read than this one: special ones first, then fewer digits."""
        levels, interval = self.columns[column]
        if interval is None:
            return []
        rounded = [float(f"{value:.{digits}g}") for digits in (1, 2, 3)] if math.isfinite(value) else []
        candidates = [*levels.tolist(), *rounded]
        return [v for v in candidates if interval[0] <= v <= interval[1] and v != value]

    def dataset(self, table: Array) -> Array:
        """As the user's functions see it."""
        return table[:, 0] if self.flat else table


def _is_column(column: Any) -> bool:
    if isinstance(column, dict):
        return set(column) == {"levels"}
    try:
        values = np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return False
    return values.ndim == 1 and values.size >= 1


def _column(column: Any) -> tuple[Array, tuple[float, float] | None]:
    if isinstance(column, dict):
        return np.asarray(column["levels"], dtype=float), None
    values = np.asarray(column, dtype=float)
    if values.size != 2 or np.isnan(values).any():
        return values, None
    low, high = float(values[0]), float(values[1])
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"domain must have finite low < high in every column, got ({low!r}, {high!r}).")
    special = [low, high, 0.5 * (low + high), *([0.0] if low < 0.0 < high else [])]
    return np.array(special), (low, high)
