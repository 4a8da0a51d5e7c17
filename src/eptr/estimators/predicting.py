"""Predictions for any table: files and Arrow tables give one array, Dask and Spark lazy results of their own kind.

An estimator says how a float64 matrix becomes predictions, in a method with an underscore: ``_predict(x)`` for ``predict``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..rows.engines import predict_rows, read_column
from ..rows.ingest import numbers
from ..rows.task import Model
from .base import validated

__all__ = ["numbers_of", "predictions", "target_of"]


def predictions(estimator: Any, X: Any, method: str = "predict") -> Any:
    """What the estimator's ``method`` says about the rows of ``X``, wherever they are."""
    check_is_fitted(estimator, "release_")
    names = getattr(estimator, "feature_names_in_", None)
    model = Model(
        method,
        function=getattr(estimator, f"_{method}"),
        check=partial(validated, estimator, reset=False, dtype=np.float64),
        names=None if names is None else list(names),
        dtype=getattr(estimator, "classes_", np.zeros(0)).dtype if method == "predict" else None,
    )
    return predict_rows(X, model)


def numbers_of(X: Any, y: Any) -> NDArray[np.float64]:
    """The same as numbers, each read by itself: an error about one would quote it."""
    return numbers(target_of(X, y))


def target_of(X: Any, y: Any) -> Any:
    """The column of ``X`` that ``y`` names, to compare predictions with; ``y`` itself if it is no name."""
    return read_column(X, y) if isinstance(y, str) else y
