"""What a value becomes is a function of that value alone, in every container.  Proof: ingest.md.

A list, a CSV column or an object array has no type of its own: one odd cell changes the type of them all. So whatever has
no numeric type is read value by value here, and nothing in this file raises or warns because of a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_text", "column_values", "label", "matrix", "number", "numbers"]

Array = NDArray[np.float64]
Label = int | float | str | None
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")  # Python itself refuses to convert much longer ones
_TRUTH = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}
_NO_LABEL = {"", "nan", "+nan", "-nan", *(s + w for s in ("", "+", "-") for w in ("inf", "infinity"))}
# Types that numpy turns into floats exactly as `number` does, None into NaN: a whole list of them goes at once.
_PLAIN = frozenset(
    {float, int, bool, type(None), np.bool_, np.float16, np.float32, np.float64}
    | {np.dtype(code).type for code in "bhilqBHILQ"}
)


def number(value: Any) -> float:
    """One cell as a number; NaN or infinity if it is none. Never raises, never warns.   # proof: cell"""
    found = _read(value)
    if isinstance(found, str):
        return math.nan
    try:
        return math.nan if found is None else float(found)
    except OverflowError:  # a whole number beyond the largest float
        return math.inf


def label(value: Any) -> Label:
    """One cell as a label: a whole number, another finite number, or text; None if it is none of them.   # proof: cell"""
    found = _read(value)
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    if isinstance(found, str):
        return None if found.strip().lower() in _NO_LABEL else found
    return found


def as_text(value: Any) -> str | None:
    """One cell as text that reads as the cell itself does: for containers that want one type.   # proof: text"""
    if isinstance(value, str):
        return str(value)
    found = _read(value)
    try:
        return found if found is None or isinstance(found, str) else repr(found)
    except ValueError:  # a whole number of thousands of digits
        return None


def _read(value: Any) -> Label:
    """``True``, ``1``, ``np.int64(1)`` and ``"1"`` are the whole number 1; ``1.0`` and ``"1.0"`` the float; else text or None."""
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (complex, np.complexfloating)):
        return _real(complex(value))
    try:
        if isinstance(value, Integral) and not isinstance(value, np.timedelta64):
            return int(value)
        if isinstance(value, (Real, Decimal)):
            with np.errstate(all="ignore"):  # a long double beyond the largest float would warn
                return float(value)
        if isinstance(value, (bytes, bytearray)):
            return _read_text(value.decode())
        if getattr(value, "shape", None) == () and not isinstance(value, np.generic):  # a number wrapped in an array
            return _read(value.item())
    except Exception:  # undecodable bytes, a signalling NaN, a fraction beyond all floats, somebody's own number
        pass
    return None


def _read_text(text: str) -> Label:
    plain = text.strip()
    if _WHOLE.fullmatch(plain):
        return int(plain)
    if _DECIMAL.fullmatch(plain):
        return float(plain)
    if plain in _TRUTH:
        return _TRUTH[plain]
    if plain.endswith(("j", "j)")):  # how numpy writes a complex number beside text
        try:
            return _real(complex(plain))
        except ValueError:
            pass
    return str(text)


def _real(value: complex) -> float | None:
    """One complex number makes all others complex: those on the real line are still numbers."""
    return value.real if value.imag == 0.0 else None


def column_values(column: Any) -> NDArray[Any] | list[Any]:
    """A column of any container: an array of a numeric type no wider than 64 bits, or a list of its values."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "fiub" and column.dtype.itemsize <= 8:
            return column
        # Values, not what stands for them: tolist() would turn dates into whole numbers.
        return column.tolist() if column.dtype.kind in "OUS" else list(column)
    root = type(column).__module__.partition(".")[0]
    if root == "pandas":
        if isinstance(column.dtype, np.dtype):
            return column_values(column.to_numpy())
        return list(column)
    if root == "polars":
        if (column.dtype.is_integer() or column.dtype.is_float()) and column.null_count() == 0:
            return column_values(column.to_numpy())
        return list(column.to_list())
    if root == "pyarrow":
        return list(column.to_pylist())
    if hasattr(column, "__array__") and not isinstance(column, np.generic):
        return column_values(np.asarray(column))
    return list(column)


def categories(column: Any) -> tuple[Any, NDArray[np.int64]] | None:
    """The categories of a pandas categorical and where they occur (-1: nowhere), or None for any other column."""
    column = getattr(column, "array", column)
    if type(column).__name__ != "Categorical" or type(column).__module__.partition(".")[0] != "pandas":
        return None
    return column.categories, np.asarray(column.codes, dtype=np.int64)


def numbers(column: Any) -> Array:
    """A column as float64, each value read by itself.   # proof: column"""
    known = categories(column)
    if known is not None:
        return np.append(numbers(known[0]), np.nan)[known[1]]
    values = column_values(column)
    with np.errstate(all="ignore"):
        if isinstance(values, np.ndarray):
            return values.astype(np.float64, copy=False)
        if _PLAIN.issuperset(map(type, values)):
            try:
                return np.array(values, dtype=np.float64)
            except OverflowError:
                pass
        return np.array([number(v) for v in values], dtype=np.float64)


def matrix(X: Any) -> NDArray[Any] | None:
    """A table as a matrix of floats, each cell read by itself; None if ``X`` is no table of cells.   # proof: column

    Arrays of numbers come back as they are; frames and everything else as a new float64 matrix.
    """
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "fiub" and X.dtype.itemsize <= 8:
            return X
        return _side_by_side([X[:, j] for j in range(X.shape[1])], len(X)) if X.ndim == 2 else None
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        if all(isinstance(t, np.dtype) and t.kind in "fiub" for t in getattr(X, "dtypes", [None])):
            return matrix(np.asarray(X))
        return _side_by_side(_frame_columns(X), len(X))
    if isinstance(X, (list, tuple)):
        return _of_rows(X)
    if hasattr(X, "__array__") and not hasattr(X, "toarray"):
        return matrix(np.asarray(X))
    return None


def _frame_columns(X: Any) -> list[Any]:
    """By position: names may repeat."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return [X[:, j] for j in range(X.shape[1])]


def _side_by_side(columns: Sequence[Any], n: int) -> Array:
    found = np.empty((n, len(columns)))
    for j, column in enumerate(columns):
        found[:, j] = numbers(column)
    return found


def _of_rows(rows: Sequence[Any]) -> NDArray[Any] | None:
    """A sequence of rows, each a sequence of as many cells."""
    if (
        all(isinstance(row, np.ndarray) and row.dtype.kind in "fiub" for row in rows)
        and len({r.shape for r in rows}) == 1
    ):
        return matrix(np.array(rows))
    try:
        cells = [list(row) if isinstance(row, (list, tuple)) else column_values(row) for row in rows]
        widths = {len(row) for row in cells}
    except TypeError:  # a row without cells
        return None
    if len(widths) != 1 or any(isinstance(row, (str, bytes, dict)) for row in rows):
        return None
    return numbers([value for row in cells for value in row]).reshape(len(cells), widths.pop())
