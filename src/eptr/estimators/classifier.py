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
from ..rows.labels import Labels, distinct, sorted_labels
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
        self._check_classes()
        elsewhere = self._elsewhere(X, y, self._declare)
        if elsewhere is not None:
            return elsewhere
        X, y = self._in_memory(X, y)
        labels = Labels(self._declare(lambda: distinct(y)))
        return self._watched(MemoryRows(X, labels.codes(y), drop_invalid=self.invalid == "drop"))

    def _check_classes(self) -> None:
        """Before a row is read."""
        if isinstance(self.classes, str) or not hasattr(self.classes, "__iter__"):
            if self.classes != "public":
                raise InputError(f"classes must be 'public' or a sequence of labels, got {self.classes!r}.")
            if self.invalid == "drop":
                raise InputError(
                    "classes='public' takes every label that occurs, so none could be dropped; list the classes, or pass "
                    "invalid='raise'."
                )

    def _declare(self, occurring: Callable[[], Any]) -> NDArray[Any]:
        """The label set: as declared, or those labels that occur if they are declared public; sorted."""
        found = list(occurring() if isinstance(self.classes, str) else self.classes)
        if isinstance(self.classes, str) and any(isinstance(v, float) for v in found):
            check_classification_targets(np.asarray(found))
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
