"""Ranges of raw columns, as a user may write them, or bought from the budget.  Proof: ranges.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BoundError, InputError, probability, sensible
from ..privacy.contribution import Shape
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.namespace import on_host

__all__ = ["buy_ranges", "column_keys", "column_ranges", "column_shares", "one_range"]

Array = NDArray[np.float64]
POWERS = 2.0 ** np.arange(-40, 101)  # sizes that are told apart; smaller ones count as zero
SEEN = 4.0  # standard deviations at which a cell is more than noise


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
            names = column_keys(value, name)
        missing, unknown = len(set(names) - set(value)), [key for key in value if key not in names]
        if missing or unknown:
            also = f" and has {len(unknown)} that X does not have: {', '.join(map(repr, unknown))}" if unknown else ""
            raise BoundError(
                f"{name} lacks {missing} of the {n_features} columns of X{also}; give one pair (low, high) for each column, "
                "and leave columns that are no features out of X."
            )
        pairs = {f"{name}[{column!r}]": value[column] for column in names}
    elif isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or hasattr(value, "columns"):
        got = repr(value) if isinstance(value, (str, float, int)) else type(value).__name__
        buy = f"; {name.replace('range', 'bound')}='private' buys ranges where an estimator offers it"
        raise BoundError(
            f"{name} must be one pair (low, high), a list of pairs, or a dict of pairs, got {got}"
            f"{buy if got == repr('private') else ''}."
        )
    elif len(value) == 2 and all(np.ndim(end) == 0 for end in value):
        one_range(name, value)
        pairs = {f"{name}[{k}]": value for k in range(n_features)}
    elif len(value) != n_features:
        raise BoundError(
            f"{name} has {len(value)} pairs, but X has {n_features} columns: give one pair for each, or one for all."
        )
    else:
        pairs = {f"{name}[{k}]": pair for k, pair in enumerate(value)}
    low, high = np.array([one_range(*pair) for pair in pairs.items()], dtype=float).T
    return np.ascontiguousarray(low), np.ascontiguousarray(high)


def column_keys(value: Mapping[Any, Any], name: str = "x_range") -> list[Any]:
    """What the columns of an array are called: what the user calls them, in that order, unless that is by number."""
    if all(isinstance(key, Integral) for key in value):
        return list(range(len(value)))
    if all(isinstance(key, str) for key in value):
        return list(value)
    raise BoundError(
        f"{name} must name columns by text, or by their numbers from 0 on; or give a list of pairs, in the order of the columns."
    )


def column_shares(ranges: Any, n_features: int, shares: Mapping[Any, float]) -> dict[int, float]:
    """Of the rows at the upper end of columns of zeros and ones, by number; named as the ranges are."""
    if shares and ranges is None:
        raise InputError("shares needs x_range: it says which end of a column they are at.")
    names = column_keys(ranges) if isinstance(ranges, Mapping) else list(range(n_features))
    if unknown := set(shares) - set(names):
        raise InputError(f"shares has {len(unknown)} columns that x_range does not have.")
    return {names.index(column): probability("shares", share) for column, share in shares.items()}


def buy_ranges(rows: Rows, spending: Portion, share: float) -> tuple[Array, Array]:
    """For every column a range that holds nearly all rows: powers of two, from a histogram of signs and sizes. proof: cells"""
    p, size = rows.n_features, len(POWERS)

    def cells(x: Array, y: Array, keep: NDArray[np.bool_] | None) -> tuple[Array, ...]:
        x = x if keep is None else x[keep]
        cell = size + np.sign(x).astype(int) * np.searchsorted(POWERS, np.abs(x))
        flat = (cell + (2 * size + 1) * np.arange(p)).ravel()
        return (np.bincount(flat, minlength=p * (2 * size + 1)).astype(float).reshape(p, -1),)

    (counts,) = rows.sum(on_host(cells))
    each = Shape(math.sqrt(2.0 * p) * (1.0 + 1e-15), math.sqrt(p) * (1.0 + 1e-15))
    seen = spending.noisy(counts, each, share) > SEEN * spending.scale(each, share)  # proof: cells
    # To the end of the last cell that is seen on either side; what is beyond was too rare.
    ends = np.concatenate([-2.0 * POWERS[::-1], [0.0], 2.0 * POWERS])
    low, high = np.full(p, -1.0), np.full(p, 1.0)
    for j in range(p):
        found = np.flatnonzero(seen[j])
        if found.size:
            low[j], high[j] = min(ends[max(found[0], 0)], 0.0), max(ends[found[-1]], 0.0)
        if low[j] == high[j]:
            low[j], high[j] = -1.0, 1.0
    return low, high
