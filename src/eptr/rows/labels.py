"""Labels as positions in a public label set: each is read by itself, whatever the others are.  Proof: labels.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .ingest import categories, column_values, label

__all__ = ["Labels", "cell_codes", "distinct", "sorted_labels"]

Codes = NDArray[np.int64]
_EXACT = 2**53  # from here on a float may have been another whole number


def sorted_labels(labels: Any) -> NDArray[Any]:
    """The different labels in order, or an error if they are not of one kind, or read the same; at least two."""
    listed = [v.decode() if isinstance(v, bytes) else v for v in labels]
    keys = [label(v) for v in listed]
    if None in keys:
        raise InputError("classes must be numbers or text; one of them is missing, infinite or neither.")
    if len({isinstance(v, str) for v in listed}) > 1:
        raise InputError("classes must be labels of one kind: all numbers or all strings.")
    found = np.asarray(listed)
    if found.dtype.kind == "f" and any(isinstance(k, int) and abs(k) > _EXACT for k in keys):
        found = np.array(listed, dtype=object)  # floats would make some of them the same
    found = np.unique(found)
    if len(found) < 2:
        raise InputError("classes must hold at least two labels; with one class there is nothing to tell apart.")
    if len(set(keys)) != len(found):
        raise InputError("classes must differ as labels: '1', '1.0' and 'True' read the same, for they may be numbers.")
    return found


@dataclass(frozen=True)
class Labels:
    """A sorted label set that finds its members in any column.   # proof: labels"""

    classes: NDArray[Any]
    exact: dict[int | str, int] = field(init=False, repr=False, default_factory=dict)
    floats: dict[float, int] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for code, value in enumerate(self.classes.tolist()):
            key = label(value)
            assert key is not None
            if isinstance(key, str):
                self.exact[key] = code
                continue
            if key == int(key):
                self.exact[int(key)] = code
            if abs(key) < _EXACT or isinstance(key, float):
                self.floats[float(key)] = code

    def code(self, value: Any) -> int:
        """Position of one label; -1 if it is missing or not declared."""
        key = label(value)
        return self.floats.get(key, -1) if isinstance(key, float) else self.exact.get(key, -1)  # type: ignore[arg-type]

    def codes(self, column: Any) -> Codes:
        """Positions of a column of labels, each read by itself."""
        known = categories(column)
        if known is not None:
            return np.append(self.codes(known[0]), -1)[known[1]]
        if type(column) is np.ndarray and column.dtype.kind == "U" and len(self.exact) <= 64:
            return self._codes_of_text(column)
        values = column_values(column)
        if isinstance(values, np.ndarray):
            return self.codes_of_numbers(values)
        kinds = set(map(type, values))
        if kinds <= {str}:  # each different text is read once
            read = {text: self.code(text) for text in set(values)}
            return np.fromiter(map(read.__getitem__, values), dtype=np.int64, count=len(values))
        if kinds <= {int, bool}:
            try:
                return self.codes_of_numbers(np.array(values, dtype=np.int64))
            except OverflowError:
                pass
        return np.fromiter(map(self.code, values), dtype=np.int64, count=len(values))

    def _codes_of_text(self, column: NDArray[Any]) -> Codes:
        """A text array: labels that are text match whole, and what is left may still read as a number."""
        codes = np.full(len(column), -1, dtype=np.int64)
        for key, code in self.exact.items():
            if isinstance(key, str):
                codes[column == key] = code
        if self.floats or any(isinstance(key, int) for key in self.exact):
            rest = np.flatnonzero(codes < 0)
            codes[rest] = self.codes(column[rest].tolist())
        return codes

    def codes_of_numbers(self, values: NDArray[Any]) -> Codes:
        """Positions of an array of numbers, all at once."""
        if values.dtype.kind == "f":  # beyond 2^53 a float does not say which whole number it was, so it is none
            return _found(np.array(list(self.floats)), list(self.floats.values()), values)
        whole = {key: code for key, code in self.exact.items() if isinstance(key, int) and -(2**63) <= key < 2**63}
        if values.dtype == np.uint64 and (values.size and int(values.max()) >= 2**63):
            return self.codes(values.tolist())
        values = values.astype(np.int64, copy=False)
        if whole == {k: k for k in range(len(self.classes))}:  # already codes, the usual case
            inside = not values.size or (values.min() >= 0 and values.max() < len(whole))
            return values if inside else np.where((values >= 0) & (values < len(whole)), values, -1)
        return _found(np.array(list(whole), dtype=np.int64), list(whole.values()), values)


def cell_codes(codes: Sequence[Codes], labels: Sequence[Labels]) -> Codes:
    """The cell of a table that each row is in, from its positions on the axes; -1 if one of them is. proof: cells"""
    cells = np.ravel_multi_index([np.maximum(code, 0) for code in codes], tuple(len(axis.classes) for axis in labels))
    return np.where(np.min(codes, axis=0) < 0, -1, cells)


def _found(keys: NDArray[Any], codes: list[int], values: NDArray[Any]) -> Codes:
    """The code of each value among the keys, -1 for one that is not there (NaN is nowhere)."""
    if not len(keys):
        return np.full(len(values), -1, dtype=np.int64)
    order = np.argsort(keys)
    keys, sorted_codes = keys[order], np.array(codes, dtype=np.int64)[order]
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where(keys[place] == values, sorted_codes[place], -1)


def distinct(column: Any) -> list[Any]:
    """The different labels of a column, without missing ones: for label sets that are declared to be public."""
    known = categories(column)
    if known is not None:
        return distinct([v for k, v in enumerate(known[0]) if np.any(known[1] == k)])
    values = column_values(column)
    if isinstance(values, np.ndarray):
        return list(np.unique(values[np.isfinite(values)] if values.dtype.kind == "f" else values).tolist())
    # Kinds are kept apart, so that labels of mixed kinds are noticed.
    found = {(isinstance(v, (str, bytes)), key): v for v in values if (key := label(v)) is not None}
    return list(found.values())
