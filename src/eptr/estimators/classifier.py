"""A classifier that knows class means and priors: labels in, posterior probabilities out; no statistic is computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError
from ..rows.engine import Rows
from ..rows.labels import codes_of, missing, sorted_labels
from ..rows.memory import MemoryRows
from .base import NoisyScore, PrivateEstimator
from .predicting import takes_tables, target_of

__all__ = ["MeansClassifier", "into_ball"]

Array = NDArray[np.float64]


class MeansClassifier(NoisyScore, ClassifierMixin, PrivateEstimator):
    """Gaussian classes with identity covariance, given by ``means_`` and ``priors_``."""

    classes: Any
    classes_: NDArray[Any]
    means_: Array
    priors_: Array

    def _classified_rows(self, X: Any, y: Any) -> Rows:
        self._forget()
        elsewhere = self._elsewhere(X, y, self._declare)
        if elsewhere is not None:
            return elsewhere
        X, y = self._table(X, y)
        if self.invalid == "drop" and y is not None:
            X, y = self._validated(X), np.asarray(y)
            if y.shape != (X.shape[0],):
                raise InputError(f"y must be one label per row, shape ({X.shape[0]},), got shape {y.shape}.")
        else:
            X, y = self._validated(X, y)
        y = np.asarray(y)
        self._declare(lambda: y[~missing(y)])
        return MemoryRows(X, codes_of(y, self.classes_), drop_invalid=self.invalid == "drop")

    def _declare(self, occurring: Callable[[], Any]) -> NDArray[Any]:
        """The label set: as declared, or those labels that occur if they are declared public; sorted."""
        if isinstance(self.classes, str) and self.classes == "public":
            found = np.asarray(occurring())
            if found.dtype.kind == "f":
                check_classification_targets(found)
        elif isinstance(self.classes, str) or not hasattr(self.classes, "__iter__"):
            raise InputError(f"classes must be 'public' or a sequence of labels, got {self.classes!r}.")
        else:
            found = np.asarray(list(self.classes))
        self.classes_ = sorted_labels(found)
        return self.classes_

    @takes_tables
    def decision_function(self, X: Any) -> Array:
        """log prior - |x - m|^2/2 for every class (for two classes: the difference)."""
        scores = self._scores(self._predict_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _scores(self, X: Array) -> Array:
        return np.asarray(X @ self.means_.T + np.log(self.priors_) - 0.5 * (self.means_**2).sum(axis=1))

    @takes_tables
    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest posterior probability; costs nothing more."""
        best = np.argmax(self._scores(self._predict_rows(X)), axis=1)
        return np.asarray(self.classes_[best])

    @takes_tables
    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities under the released parameters."""
        scores = self._scores(self._predict_rows(X))
        return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, target_of(X, y), sample_weight))


def into_ball(means: Array, radius: float) -> Array:
    """Means outside the ball of possible means are moved to its edge."""
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means * np.minimum(1.0, radius / np.maximum(norms, 1e-300)))
