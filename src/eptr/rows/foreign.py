"""Arrays of torch, CuPy or another library of the array API standard: fits are computed where they live."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from . import memory
from .ingest import numbers
from .labels import Labels, distinct
from .memory import MemoryRows, column
from .namespace import holds_doubles, is_foreign, like, namespace, to_numpy
from .task import Model, Task

__all__ = ["claims", "column", "open", "predict"]

claims = is_foreign


def open(X: Any, y: Any, task: Task) -> MemoryRows:
    """Rows beside ``X``; labels are copied here, once, to be coded."""
    xp = namespace(X)
    if X.ndim != 2 or 0 in X.shape or not xp.isdtype(X.dtype, ("real floating", "integral")):
        raise InputError("X must be a table of real numbers with at least one row and one column.")
    if not holds_doubles(X):
        raise InputError(
            "X lives where there are no 64-bit floats, and shorter ones would round sums. Enable them (in JAX: "
            "jax_enable_x64), or move X to the CPU."
        )
    if y is None:
        return MemoryRows(X, None, drop_invalid=task.drop_invalid)
    if (tuple(y.shape) if hasattr(y, "shape") else (len(y) if hasattr(y, "__len__") else 0,)) != (X.shape[0],):
        raise InputError(f"y must have one value per row of X, shape ({X.shape[0]},).")
    if task.target == "labels":
        found = to_numpy(y) if is_foreign(y) else y
        classes = task.label_set(lambda: distinct(found))
        assert classes is not None
        return MemoryRows(X, like(Labels(classes).codes(found), X), classes, drop_invalid=task.drop_invalid)
    y = xp.astype(y, xp.float64) if is_foreign(y) else like(numbers(y), X)
    return MemoryRows(X, y, drop_invalid=task.drop_invalid)


def predict(X: Any, model: Model) -> Any:
    """Predictions as numpy arrays: the model is numpy's."""
    return memory.predict(to_numpy(X), model)
