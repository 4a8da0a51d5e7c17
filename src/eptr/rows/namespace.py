"""Arrays where they live: numpy as it is, torch, CuPy and others through array-api-compat."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = [
    "TILE",
    "at_least",
    "at_most",
    "clipped",
    "dots",
    "doubles",
    "holds_doubles",
    "inner",
    "is_foreign",
    "like",
    "namespace",
    "on_host",
    "product",
    "squares",
    "tiled",
    "times",
    "to_numpy",
    "whole",
    "widened",
    "zero_unless",
]


TILE = 192  # rows: a multiple of what linear algebra computes at once; what is left over at the end goes another way
_PIECE = 2**19  # multiplications that linear algebra does where the numbers are


def is_foreign(x: Any) -> bool:
    """Whether ``x`` is an array of another library than numpy, to be computed where it lives."""
    if isinstance(x, (np.ndarray, np.generic)):
        return False
    root = type(x).__module__.partition(".")[0]
    return root == "torch" or (hasattr(x, "__array_namespace__") and root not in ("dask", "sparse"))


def namespace(x: Any) -> Any:
    """The functions of the library ``x`` belongs to."""
    if not is_foreign(x):
        return np
    try:
        from array_api_compat import array_namespace
    except ModuleNotFoundError:
        library = type(x).__module__.partition(".")[0]
        raise InputError(
            f"arrays of {library} need array-api-compat; install it: pip install 'eptr[arrays]'."
        ) from None
    return array_namespace(x)


def to_numpy(x: Any) -> NDArray[Any]:
    """A copy in this process's memory, from whatever device."""
    if not is_foreign(x):
        return np.asarray(x)
    x = x.detach() if hasattr(x, "detach") else x
    try:
        return np.asarray(x)
    except (TypeError, ValueError, RuntimeError):
        from array_api_compat import to_device
    try:  # on another device
        return np.asarray(to_device(x, "cpu"))
    except ValueError:
        return np.asarray(np.from_dlpack(x))


def like(values: NDArray[Any], x: Any) -> Any:
    """Public numbers as an array beside ``x``."""
    if not is_foreign(x):
        return values
    from array_api_compat import device

    return namespace(x).asarray(values, device=device(x))


def holds_doubles(x: Any) -> bool:
    """Whether numbers beside ``x`` can have 53 bits: some devices, and some libraries by default, have no float64."""
    probe = np.array([1.0 + 2.0**-40])
    try:
        return float(namespace(x).astype(like(probe, x), namespace(x).float64)[0]) == float(probe[0])
    except (TypeError, ValueError, RuntimeError, AttributeError):
        return False


def doubles(x: Any) -> Any:
    """The same numbers as float64, where they live."""
    return namespace(x).astype(x, namespace(x).float64) if is_foreign(x) else x.astype(np.float64)


def times(x: Any, factor: Any) -> Any:
    """``x`` times a number, or numbers that go along with its last axis."""
    return x * factor if is_foreign(x) else np.multiply(x, factor, out=_room(x.shape))


def product(a: Any, b: Any) -> Any:
    """Of two matrices."""
    return a @ b if is_foreign(b) else np.matmul(a, b, out=_room((a.shape[0], b.shape[1])))


def _room(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Yet to be written, from the start of a cache line on: vector instructions that reach into the next take twice as long."""
    size = math.prod(shape)
    raw = np.empty(size + 7)
    skip = -raw.ctypes.data % 64 // 8
    return raw[skip : skip + size].reshape(shape)


def inner(a: Any, b: Any = None) -> Any:
    """a b', or a a', for exact sums over rows that are few and long, piece by piece.

    Linear algebra first copies long rows into an order of its own, which takes longer than the product; short ones it leaves.
    """
    if is_foreign(a):
        return a @ (a if b is None else b).T
    if b is None:  # without the last row: numpy knows a matrix times itself, and makes something slower of it
        upper = inner(a[:-1], a)
        return np.vstack([upper, np.append(upper[:, -1:], a[-1:] @ a[-1])])
    columns, piece = a.shape[1], _PIECE // (len(a) * len(b) or 1)
    if not (len(a) and 64 <= piece < columns):  # without its last row a single one is none
        return a @ b.T
    even = columns - columns % piece
    left, right = (m[:, :even].reshape(len(m), -1, piece) for m in (a, b))
    return np.sum(left.transpose(1, 0, 2) @ right.transpose(1, 2, 0), axis=0) + a[:, even:] @ b[:, even:].T


def squares(x: Any, axis: int) -> Any:
    """Sums of squares along an axis of a matrix; in an order that depends on nothing but the row itself."""
    if is_foreign(x):
        if axis == 1:
            return namespace(x).sum(x * x, axis=1)
        total = x[0, :] * x[0, :]
        for k in range(1, x.shape[0]):  # numpy adds down a column one by one, other libraries as they like
            total = total + x[k, :] * x[k, :]
        return total
    if axis == 0 and x.shape[1] == 1:  # a single column would be added in another order
        x = np.repeat(x, 2, axis=1)
        return np.einsum("ij,ij->j", x, x)[:1]
    if axis == 1 and x.strides[0] <= x.strides[1]:  # rows that lie side by side, even if there is only one
        return squares(x.T, 0)
    return np.einsum("ij,ij->i" if axis == 1 else "ij,ij->j", x, x)


def dots(x: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """x'c of every row, for one c or for each row of a matrix of them; in an order that depends on nothing but the row itself.

    Libraries of linear algebra compute the last rows of a block otherwise than the first.
    """
    if coefficients.ndim == 2:
        return np.stack([dots(x, row) for row in coefficients], axis=1)
    return np.asarray(np.einsum("ij,j->i", np.ascontiguousarray(x), np.ascontiguousarray(coefficients)))


def tiled(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """``x`` with rows of zeros behind it, up to a multiple of TILE: where linear algebra cannot be avoided."""
    return np.concatenate([x, np.zeros((-len(x) % TILE, *x.shape[1:]))])


def clipped(x: Any, most: float) -> Any:
    """``x`` between -most and most; in place where that is possible, so ``x`` is used up."""
    return namespace(x).clip(x, -most, most) if is_foreign(x) else np.clip(x, -most, most, out=x)


def at_most(x: Any, most: float) -> Any:
    """The smaller of every number and ``most``."""
    return namespace(x).clip(x, None, most) if is_foreign(x) else np.minimum(x, most)


def at_least(x: Any, least: float) -> Any:
    """The larger of every number and ``least``."""
    return namespace(x).clip(x, least, None) if is_foreign(x) else np.maximum(x, least)


def zero_unless(condition: Any, x: Any) -> Any:
    """``x`` where the condition holds, zero elsewhere; in place where that is possible, so ``x`` is used up."""
    if is_foreign(x):
        return namespace(x).where(condition, x, 0.0)
    np.copyto(x, 0.0, where=~condition)
    return x


def whole(x: Any, *, nearest: bool = False) -> Any:
    """``x`` cut (or rounded) to whole numbers; in place where that is possible, so ``x`` is used up."""
    if is_foreign(x):
        return namespace(x).round(x) if nearest else namespace(x).trunc(x)
    return np.rint(x, out=x) if nearest else np.trunc(x, out=x)


def widened(x: Any, *columns: Any) -> tuple[Any, ...]:
    """``x`` with up to 64 rows side by side, and the numbers of its columns as often: loops over few columns are slow."""
    rows = 1 if is_foreign(x) else math.gcd(x.shape[0], 64)
    return (x, *columns) if rows == 1 else (x.reshape(-1, rows * x.shape[1]), *(np.tile(v, rows) for v in columns))


def on_host(fn: Callable[[Any, Any, Any], tuple[Any, ...]]) -> Callable[[Any, Any, Any], tuple[Any, ...]]:
    """A row function for numpy alone: blocks from elsewhere are copied here one by one."""

    def here(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        return fn(to_numpy(x), to_numpy(y), None if keep is None else to_numpy(keep))

    return here
