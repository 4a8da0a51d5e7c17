"""Predictions for any table: files and Arrow tables give one array, Dask and Spark lazy results of their own kind.

An estimator says how a float64 matrix becomes predictions, in a method with an underscore: ``_predict(x)`` for ``predict``.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..rows.engines import predict_rows, read_column
from ..rows.ingest import numbers
from ..rows.task import Model, Target
from .base import NoisyScore, PrivateEstimator, validated

__all__ = ["Classifying", "Regressing"]

Array = NDArray[np.float64]


class Regressing(NoisyScore, RegressorMixin, PrivateEstimator):
    """Predicts numbers; a model says ``_predict``."""

    def predict(self, X: Any) -> Any:
        """Predictions from what was released, wherever the rows are; they cost nothing more."""
        return predictions(self, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, numbers_of(X, y), sample_weight))


class Classifying(NoisyScore, ClassifierMixin, PrivateEstimator):
    """Predicts classes; a model says ``_decision_function``, ``_predict`` and ``_predict_proba``."""

    classes: Any
    _target: ClassVar[Target] = "labels"

    def decision_function(self, X: Any) -> Array:
        """A score for every class, up to a constant; for two classes, the log odds of the second."""
        return np.asarray(predictions(self, X, "decision_function"))

    def predict(self, X: Any) -> Any:
        """The likeliest class under what was released, wherever the rows are; it costs nothing more."""
        return predictions(self, X)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes under what was released."""
        return np.asarray(predictions(self, X, "predict_proba"))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, target_of(X, y), sample_weight))


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


def numbers_of(X: Any, y: Any) -> Array:
    """The same as numbers, each read by itself: an error about one would quote it."""
    return numbers(target_of(X, y))


def target_of(X: Any, y: Any) -> Any:
    """The column of ``X`` that ``y`` names, to compare predictions with; ``y`` itself if it is no name."""
    return read_column(X, y) if isinstance(y, str) else y
