"""How a number was drawn rather than where it lies: the low bits of every released number.

Noise that is computed in floating point leaves traces there: multiples of a power of two that depends on the value, digits
that cannot occur. Each score is one number per run, for `eptr.audit.attack.measure`; NaN stands for "no reply".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["bit_scores", "last_byte", "lowest_bit", "trailing_zeros"]

Array = NDArray[np.float64]
Score = tuple[str, Callable[[Array], Array]]
_NO_BIT = 1100.0  # zero and infinity have no lowest bit: above that of every number


def bit_scores(width: int) -> Iterator[Score]:
    """Three scores for each of ``width`` released numbers."""
    for j in range(width):
        where = f" of number {j + 1}" if width > 1 else ""
        for name, score in (("lowest bit", lowest_bit), ("zeros", trailing_zeros), ("last byte", last_byte)):
            yield f"{name}{where}", lambda t, j=j, score=score: score(t[:, j])  # type: ignore[misc]


def lowest_bit(values: Array) -> Array:
    """The e for which a float is an odd multiple of 2^e.

    Examples
    --------
    >>> lowest_bit(np.array([1.0, 0.75, 6.0, 0.0])).tolist()
    [0.0, -2.0, 1.0, 1100.0]
    """
    whole, exponent, number = _parts(values)
    return _where(values, number, exponent - 53 + np.log2((whole & -whole).astype(float)))


def trailing_zeros(values: Array) -> Array:
    """How many of the 53 binary digits are zeros at the end, whatever the exponent."""
    whole, _, number = _parts(values)
    return _where(values, number, np.log2((whole & -whole).astype(float)))


def last_byte(values: Array) -> Array:
    """The last eight of the 53 binary digits as a number."""
    whole, _, number = _parts(values)
    return _where(values, number, (whole & 0xFF).astype(float))


def _parts(values: Array) -> tuple[NDArray[np.int64], Array, NDArray[np.bool_]]:
    number = np.isfinite(values) & (values != 0.0)
    mantissa, exponent = np.frexp(np.where(number, values, 1.0))
    return (np.abs(mantissa) * 2.0**53).astype(np.int64), exponent.astype(float), number


def _where(values: Array, number: NDArray[np.bool_], score: Array) -> Array:
    return np.where(np.isnan(values), np.nan, np.where(number, score, _NO_BIT))
