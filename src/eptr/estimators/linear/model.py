"""A linear model with coefficients and perhaps an intercept: what it predicts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..base import NoisyScore, PrivateEstimator
from ..fitted import Fitted
from ..predicting import numbers_of, predictions
from .problem import LinearFitted

__all__ = ["LinearModel"]

Array = NDArray[np.float64]


class LinearModel(NoisyScore, RegressorMixin, PrivateEstimator):
    """y = x'coef_ + intercept_. The intercept is the slope of a constant column of the size of a typical feature."""

    fit_intercept: bool
    _fitted: ClassVar[type[Fitted]] = LinearFitted

    def predict(self, X: Any) -> Any:
        """Predictions from the released coefficients; costs nothing more."""
        return predictions(self, X)

    def _predict(self, x: Array) -> Array:
        fitted: LinearFitted = self.fitted_
        return np.asarray(x @ fitted.coef + fitted.intercept)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, numbers_of(X, y), sample_weight))
