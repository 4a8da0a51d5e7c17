"""Labels as positions in a public label set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["codes_of", "missing", "sorted_labels"]


def sorted_labels(labels: Any) -> NDArray[Any]:
    """The different labels in order, or an error if they cannot be ordered; at least two."""
    try:
        found = np.unique(np.asarray(labels))
    except TypeError:
        found = None
    if found is None:
        raise InputError("classes must be labels of one kind: all numbers or all strings.")
    if len(found) < 2:
        raise InputError("classes must hold at least two labels; with one class there is nothing to tell apart.")
    return found


def missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are None or NaN."""
    if y.dtype == object:
        return np.array([v is None or v != v for v in y], dtype=bool)
    return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Positions in the sorted label set; -1 for a label that is missing or not in it."""
    if y.dtype == object:
        position = {label: k for k, label in enumerate(classes.tolist())}
        return np.array([position.get(v, -1) for v in y.tolist()], dtype=np.int64)
    if y.dtype.kind in "iu" and classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes))):
        # Already codes, the usual case.
        codes = y.astype(np.int64, copy=False)
        if y.size and (codes.min() < 0 or codes.max() >= len(classes)):
            codes = np.where((codes >= 0) & (codes < len(classes)), codes, -1)
        return codes
    found = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[found] == y, found, -1)  # NaN equals nothing
