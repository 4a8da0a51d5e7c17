"""Classes whose log odds are linear in x: what such a model predicts; no statistic is computed here."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from ...rows.namespace import dots
from ..fitted import Fitted
from ..predicting import Classifying
from .problem import LogisticFitted

__all__ = ["LogOddsClassifier"]

Array = NDArray[np.float64]


class LogOddsClassifier(Classifying):
    """Given by ``coef_`` and ``intercept_``: one row for two classes, a row for each of several."""

    _fitted: ClassVar[type[Fitted]] = LogisticFitted

    def _decision_function(self, x: Array) -> Array:
        fitted: LogisticFitted = self.fitted_
        scores = np.asarray(dots(x, fitted.coef) + fitted.intercept)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _predict(self, x: Array) -> NDArray[Any]:
        scores = self._decision_function(x)
        return np.asarray(self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)])

    def _predict_proba(self, x: Array) -> Array:
        scores = self._decision_function(x)
        return np.column_stack([expit(-scores), expit(scores)]) if scores.ndim == 1 else softmax(scores, axis=1)
