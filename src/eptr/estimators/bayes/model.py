"""A classifier that knows class means and priors: labels in, posterior probabilities out; no statistic is computed here."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin

from ...rows.task import Target
from ..base import NoisyScore, PrivateEstimator
from ..fitted import Fitted
from ..predicting import predictions, target_of
from .problem import MeansFitted

__all__ = ["MeansClassifier"]

Array = NDArray[np.float64]


class MeansClassifier(NoisyScore, ClassifierMixin, PrivateEstimator):
    """Gaussian classes with identity covariance, given by ``means_`` and ``priors_``."""

    classes: Any
    _target: ClassVar[Target] = "labels"
    _fitted: ClassVar[type[Fitted]] = MeansFitted

    def decision_function(self, X: Any) -> Array:
        """log prior - |x - m|^2/2 for every class (for two classes: the difference)."""
        return np.asarray(predictions(self, X, "decision_function"))

    def predict(self, X: Any) -> Any:
        """The class with the largest posterior probability; costs nothing more."""
        return predictions(self, X)

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities under the released parameters."""
        return np.asarray(predictions(self, X, "predict_proba"))

    def _scores(self, x: Array) -> Array:
        fitted: MeansFitted = self.fitted_
        return np.asarray(x @ fitted.means.T + np.log(fitted.priors) - 0.5 * (fitted.means**2).sum(axis=1))

    def _decision_function(self, x: Array) -> Array:
        scores = self._scores(x)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _predict(self, x: Array) -> NDArray[Any]:
        return np.asarray(self.classes_[np.argmax(self._scores(x), axis=1)])

    def _predict_proba(self, x: Array) -> Array:
        scores = self._scores(x)
        return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, target_of(X, y), sample_weight))
