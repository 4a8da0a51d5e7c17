"""Predictions for any table: files and Arrow tables give one array, Dask and Spark lazy results of their own kind.

An estimator says how a float64 matrix becomes predictions, in a method with an underscore: ``_predict(x)`` for ``predict``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..rows.engines import predict_rows, read_column
from ..rows.ingest import numbers
from .base import validated

__all__ = ["numbers_of", "predictions", "target_of"]


def predictions(estimator: Any, X: Any, method: str = "predict") -> Any:
    """What the estimator's ``method`` says about the rows of ``X``, wherever they are."""
    check_is_fitted(estimator, "release_")
    return predict_rows(X, _Fitted(estimator, method))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """One method of a fitted estimator, as engines take it to the rows."""

    estimator: Any
    method: str

    def __call__(self, x: NDArray[np.float64]) -> Any:
        return getattr(self.estimator, f"_{self.method}")(x)

    @property
    def names(self) -> list[str] | None:
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else list(names)

    @property
    def dtype(self) -> Any:
        if self.method != "predict":
            raise InputError(
                f"{self.method} needs rows in memory: use predict, or map {self.method} over the parts of X yourself."
            )
        return getattr(self.estimator, "classes_", np.zeros(0)).dtype

    def checked(self, X: Any) -> NDArray[np.float64]:
        # In one order of memory: a product must not depend on where the rows came from.
        return np.ascontiguousarray(validated(self.estimator, X, reset=False, dtype=np.float64))


def numbers_of(X: Any, y: Any) -> NDArray[np.float64]:
    """The same as numbers, each read by itself: an error about one would quote it."""
    return numbers(target_of(X, y))


def target_of(X: Any, y: Any) -> Any:
    """The column of ``X`` that ``y`` names, to compare predictions with; ``y`` itself if it is no name."""
    return read_column(X, y) if isinstance(y, str) else y
