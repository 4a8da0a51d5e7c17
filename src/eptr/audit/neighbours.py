"""Pairs of datasets that differ in one row and try hard: random rows, corners, all rows alike, and far outliers."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["neighbours"]

Data = tuple[Any, Any]


def neighbours(rng: np.random.Generator, n: int, p: int, labels: int = 0) -> tuple[Data, Data]:
    """Two datasets (X, y) that differ in the first row; ``labels`` is the number of classes, 0 for a numeric target."""
    kind = rng.integers(4)
    X = [1.0, 10.0, 0.3, 1.0][kind] * rng.normal(size=(n, p))
    if kind == 1:
        X = np.sign(X)
    if kind == 3:
        X[:] = X[0]
    y = rng.integers(labels, size=n) if labels else 3.0 * rng.normal(size=n)
    other, target = X.copy(), y.copy()
    other[0] = [-X[0], 30.0 * rng.normal(size=p), np.zeros(p), X[0]][rng.integers(4)]
    target[0] = rng.integers(labels) if labels else [-y[0], 50.0 * rng.normal(), 0.0][rng.integers(3)]
    return (X, y), (other, target)
