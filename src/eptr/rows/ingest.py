"""What a value becomes is a function of that value alone, in every container.  Proof: ingest.md.

A list, a CSV column or an object array has no type of its own: one odd cell changes the type of them all. So whatever has
no numeric type is read value by value here, and nothing in this file raises or warns because of a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_text", "column_values", "frame_columns", "label", "matrix", "number", "numbers"]

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
        return math.nan if found is None else float(found) + 0.0
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
    found = _read(value)
    if issubclass(type(value), str):
        return None if found is None else str.__str__(value)
    try:
        return found if found is None or isinstance(found, str) else repr(found)
    except ValueError:  # a whole number of thousands of digits
        return None


def _read(value: Any) -> Label:
    """``True``, ``1``, ``np.int64(1)`` and ``"1"`` are the whole number 1; ``1.0`` and ``"1.0"`` the float; else text or None.

    Types are asked, not values, and only methods of the types named here run: a value has no say in how it is read.
    """
    kind = type(value)
    if issubclass(kind, str):
        return _read_text(str.__str__(value))
    if issubclass(kind, float):
        return float.__pos__(value)
    if issubclass(kind, int):
        return int.__pos__(value)
    if issubclass(kind, complex):
        return _real(complex.__pos__(value))
    try:
        if issubclass(kind, (bytes, bytearray)):
            return _read_text(bytes(memoryview(value)).decode())
        if kind.__module__ == "numpy" and issubclass(kind, np.generic):
            return _read_numpy(value)
        if kind is Decimal or kind is Fraction:
            return float(value)
        if not issubclass(kind, (np.ma.MaskedArray, np.generic)) and getattr(value, "shape", None) == ():
            return _read(value.item())  # a number wrapped in an array
    except Exception:  # undecodable bytes, a signalling NaN, a fraction beyond all floats, an array of another device
        pass
    return None


def _read_numpy(value: Any) -> Label:
    """A numpy scalar that is neither text nor a Python number."""
    if isinstance(value, (np.bool_, np.integer)) and not isinstance(value, np.timedelta64):
        return int(value)
    with np.errstate(all="ignore"):  # a long double beyond the largest float would warn
        if isinstance(value, np.floating):
            return float(value)
        if isinstance(value, np.complexfloating):
            return _real(complex(value))
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
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # half a character: no container of text can hold it
            return None
    return text


def _real(value: complex) -> float | None:
    """One complex number makes all others complex: those on the real line are still numbers."""
    return value.real if value.imag == 0.0 else None


def column_values(column: Any) -> NDArray[Any] | list[Any]:
    """A column of any container: an array of a numeric type no wider than 64 bits, or a list of its values."""
    if isinstance(column, np.ndarray):
        if isinstance(column, np.ma.MaskedArray):
            hidden = np.ma.getmaskarray(column)
            return [None if gone else v for v, gone in zip(list(column.data), hidden, strict=True)]
        plain: NDArray[Any] = np.asarray(column)
        if plain.dtype.kind in "fiub" and plain.dtype.itemsize <= 8:
            return plain
        # Values, not what stands for them: tolist() would turn dates into whole numbers.
        return list(plain.tolist() if plain.dtype.kind in "OUS" else plain)
    root = type(column).__module__.partition(".")[0]
    if root == "pandas":
        if isinstance(column.dtype, np.dtype):
            return column_values(column.to_numpy())
        if hasattr(column.dtype, "pyarrow_dtype"):
            return _arrow_values(column.array.__arrow_array__())
        return list(column)
    if root == "polars":
        return _polars_values(column)
    if root == "pyarrow":
        return _arrow_values(column)
    if hasattr(column, "__array__") and not isinstance(column, np.generic):
        return column_values(np.asarray(column))
    return list(column)


def _arrow_values(column: Any) -> list[Any]:
    """Arrow's values; nothing for types that read as neither number nor text, whose values may not fit into Python's."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_temporal(kind) or pa.types.is_nested(kind):
        return [None] * len(column)
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # text that is none: as bytes, each is read by itself
        return list(column.cast(pa.large_binary()).to_pylist())


def _polars_values(column: Any) -> NDArray[Any] | list[Any]:
    kind = column.dtype
    if kind.is_temporal() or kind.is_nested():
        return [None] * len(column)
    if str(kind) in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"):
        return column_values(column.to_numpy()) if column.null_count() == 0 else list(column.to_list())
    return list(column.to_list())


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
                return np.array(values, dtype=np.float64) + 0.0
            except OverflowError:
                pass
        return np.array([number(v) for v in values], dtype=np.float64)


def matrix(X: Any) -> NDArray[Any] | None:
    """A table as a matrix of floats, each cell read by itself; None if ``X`` is no table of cells.   # proof: column

    Arrays of numbers come back as they are; frames and everything else as a new float64 matrix.
    """
    if isinstance(X, np.ndarray):
        if not isinstance(X, np.ma.MaskedArray):
            plain: NDArray[Any] = np.asarray(X)
            if plain.dtype.kind in "fiub" and plain.dtype.itemsize <= 8:
                return plain
            X = plain
        return _side_by_side([X[:, j] for j in range(X.shape[1])], len(X)) if X.ndim == 2 else None
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        if all(isinstance(t, np.dtype) and t.kind in "fiub" for t in getattr(X, "dtypes", [None])):
            return matrix(np.asarray(X))
        return _side_by_side(frame_columns(X), len(X))
    if isinstance(X, Sequence):
        return _of_rows(list(X))
    if hasattr(X, "__array__"):
        return matrix(np.asarray(X))
    return None


def frame_columns(X: Any) -> list[Any]:
    """The columns of a frame, by position: names may repeat."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return [X[:, j] for j in range(X.shape[1])]


def _side_by_side(columns: Sequence[Any], n: int) -> Array:
    found = np.empty((n, len(columns)))
    for j, column in enumerate(columns):
        found[:, j] = numbers(column)
    return found


def _of_rows(rows: list[Any]) -> NDArray[Any] | None:
    """A sequence of rows, each a sequence of as many cells."""
    kinds = set(map(type, rows))
    if kinds <= {list, tuple}:
        if len(set(map(len, rows))) != 1:
            return None
        if _PLAIN.issuperset(map(type, chain.from_iterable(rows))):
            try:
                return np.array(rows, dtype=np.float64)
            except OverflowError:
                pass
    if kinds == {np.ndarray} and len({r.shape for r in rows}) == 1 and all(r.dtype.kind in "fiub" for r in rows):
        return matrix(np.array(rows))
    if any(issubclass(kind, (str, bytes, bytearray, dict, set)) for kind in kinds):
        return None
    try:
        cells = [list(row) if type(row) in (list, tuple) else list(column_values(row)) for row in rows]
    except Exception:  # a row without cells
        return None
    widths = {len(row) for row in cells}
    if len(widths) != 1:
        return None
    return numbers([value for row in cells for value in row]).reshape(len(cells), widths.pop())
