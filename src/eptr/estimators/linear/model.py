"""A linear model with coefficients and perhaps an intercept: how a constant column enters, and predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..base import NoisyScore, PrivateEstimator
from ..predicting import numbers_of, predictions

__all__ = ["LinearModel"]

Array = NDArray[np.float64]


class LinearModel(NoisyScore, RegressorMixin, PrivateEstimator):
    """y = x'coef_ + intercept_. The intercept is the slope of a constant column of the size of a typical feature."""

    fit_intercept: bool
    coef_: Array
    intercept_: float

    def _constant(self, x_bound: float, features: int) -> float | None:
        """About x_bound/sqrt(p), with eight significant bits: a multiple of any grid that sums are quantised to."""
        if not self.fit_intercept:
            return None
        mantissa, exponent = math.frexp(x_bound / math.sqrt(features))
        return math.ldexp(math.floor(mantissa * 256.0), exponent - 8)

    def _norm(self, x_bound: float, features: int) -> float:
        return math.hypot(x_bound, self._constant(x_bound, features) or 0.0)

    def _scaling(self, x_bound: float, features: int) -> Array:
        """From coefficients of (x, constant) to slopes and intercept."""
        constant = self._constant(x_bound, features)
        return np.ones(features) if constant is None else np.append(np.ones(features), constant)

    def predict(self, X: Any) -> Any:
        """Predictions from the released coefficients; costs nothing more."""
        return predictions(self, X)

    def _predict(self, x: Array) -> Array:
        return np.asarray(x @ self.coef_ + self.intercept_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, numbers_of(X, y), sample_weight))
