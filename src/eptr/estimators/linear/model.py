"""A linear model with coefficients and perhaps an intercept: what it predicts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...rows.namespace import dots
from ..fitted import Fitted
from ..predicting import Regressing
from .problem import LinearFitted

__all__ = ["LinearModel"]

Array = NDArray[np.float64]


class LinearModel(Regressing):
    """y = x'coef_ + intercept_. The intercept is the slope of a constant column of the size of a typical feature."""

    fit_intercept: bool
    _fitted: ClassVar[type[Fitted]] = LinearFitted

    def _predict(self, x: Array) -> Array:
        fitted: LinearFitted = self.fitted_
        return np.asarray(dots(x, fitted.coef) + fitted.intercept)
