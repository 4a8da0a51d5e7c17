"""Arrays where they live: numpy as it is, torch, CuPy and others through array-api-compat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["is_foreign", "namespace", "row_squares", "to_numpy"]


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
    from array_api_compat import device, to_device

    if str(device(x)) not in ("cpu", "CPU_DEVICE"):
        x = to_device(x, "cpu")
    try:
        return np.asarray(np.from_dlpack(x))
    except (TypeError, RuntimeError, BufferError, AttributeError):
        return np.asarray(x)


def row_squares(x: Any) -> Any:
    """|x_i|^2 of every row."""
    return np.einsum("ij,ij->i", x, x) if isinstance(x, np.ndarray) else namespace(x).sum(x * x, axis=1)
