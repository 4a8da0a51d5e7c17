"""Public ranges of raw columns, as a user may write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BoundError, sensible

__all__ = ["column_ranges", "one_range"]

Array = NDArray[np.float64]


def one_range(name: str, value: Any) -> tuple[float, float]:
    """A pair of finite numbers, the smaller one first."""
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError):
        raise BoundError(f"{name} must be a pair (low, high) of numbers, got {value!r}.") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise BoundError(f"{name} must be a pair of finite numbers with low < high, got {value!r}.")
    sensible(name, high - low), sensible(name, max(abs(low), abs(high)))
    return low, high


def column_ranges(value: Any, n_features: int, names: list[str] | None, name: str = "x_range") -> tuple[Array, Array]:
    """One pair for all columns, a pair for each, or a pair by name: the lower and the upper ends."""
    if isinstance(value, Mapping):
        if names is None:
            if len(value) != n_features:
                raise BoundError(f"{name} has {len(value)} entries, but X has {n_features} columns: give one for each.")
            names = list(value)
        missing, unknown = len(set(names) - set(value)), len(set(value) - set(names))
        if missing or unknown:
            raise BoundError(
                f"{name} lacks {missing} of the {n_features} columns of X and has {unknown} that X does not have: "
                "give one pair (low, high) for each column name."
            )
        value = [value[column] for column in names]
    elif isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise BoundError(f"{name} must be one pair (low, high), a list of pairs, or a dict of pairs, got {value!r}.")
    elif len(value) == 2 and all(np.ndim(end) == 0 for end in value):
        value = [value] * n_features
    if len(value) != n_features:
        raise BoundError(
            f"{name} has {len(value)} pairs, but X has {n_features} columns: give one pair for each, or one for all."
        )
    low, high = np.array([one_range(name, pair) for pair in value], dtype=float).T
    return np.ascontiguousarray(low), np.ascontiguousarray(high)
