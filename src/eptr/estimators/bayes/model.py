"""A classifier that knows class means and priors: labels in, posterior probabilities out; no statistic is computed here."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ...rows.namespace import dots
from ..fitted import Fitted
from ..predicting import Classifying
from .problem import MeansFitted

__all__ = ["MeansClassifier"]

Array = NDArray[np.float64]


class MeansClassifier(Classifying):
    """Gaussian classes with identity covariance, given by ``means_`` and ``priors_``."""

    _fitted: ClassVar[type[Fitted]] = MeansFitted

    def _scores(self, x: Array) -> Array:
        fitted: MeansFitted = self.fitted_
        return np.asarray(dots(x, fitted.means) + np.log(fitted.priors) - 0.5 * (fitted.means**2).sum(axis=1))

    def _decision_function(self, x: Array) -> Array:
        scores = self._scores(x)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _predict(self, x: Array) -> NDArray[Any]:
        return np.asarray(self.classes_[np.argmax(self._scores(x), axis=1)])

    def _predict_proba(self, x: Array) -> Array:
        scores = self._scores(x)
        return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))
