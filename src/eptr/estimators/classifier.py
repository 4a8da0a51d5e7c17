"""A classifier that knows class means and priors: labels in, posterior probabilities out; no statistic is computed here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError
from ..rows.engine import Rows
from ..rows.memory import MemoryRows
from .base import NoisyScore, PrivateEstimator

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
        X, y = self._table(X, y)
        if self.invalid == "drop" and y is not None:
            X, y = self._validated(X), np.asarray(y)
            if y.shape != (X.shape[0],):
                raise InputError(f"y must be one label per row, shape ({X.shape[0]},), got shape {y.shape}.")
        else:
            X, y = self._validated(X, y)
            if isinstance(self.classes, str) and y.dtype.kind == "f":  # what labels look like is public only then
                check_classification_targets(y)
        codes = self._codes(np.asarray(y))
        return MemoryRows(X, codes, drop_invalid=self.invalid == "drop")

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Labels as positions in the sorted label set; -1 for a label that was not declared (only under "drop")."""
        if y.dtype == object:
            missing = np.array([v is None or v != v for v in y])
        else:
            missing = np.isnan(y) if y.dtype.kind == "f" else np.zeros(0, dtype=bool)
        if isinstance(self.classes, str) and self.classes == "public":
            self.classes_ = _sorted_labels(y[~missing] if missing.size else y)
        elif isinstance(self.classes, str) or not hasattr(self.classes, "__iter__"):
            raise InputError(f"classes must be 'public' or a sequence of labels, got {self.classes!r}.")
        else:
            self.classes_ = _sorted_labels(np.asarray(list(self.classes)))
        if len(self.classes_) < 2:
            raise InputError("classes must hold at least two labels; with one class there is nothing to tell apart.")
        if y.dtype == object:
            position = {label: k for k, label in enumerate(self.classes_.tolist())}
            codes = np.array([position.get(v, -1) for v in y.tolist()], dtype=np.int64)
        elif y.dtype.kind in "iu" and np.array_equal(self.classes_, np.arange(len(self.classes_))):
            # Already codes, the usual case; a label outside the set becomes -1.
            codes = y.astype(np.int64, copy=False)
            if codes.min() < 0 or codes.max() >= len(self.classes_):
                codes = np.where((codes >= 0) & (codes < len(self.classes_)), codes, -1)
        else:
            found = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
            codes = np.where(self.classes_[found] == y, found, -1)
        if missing.size:
            codes[missing] = -1
        return codes

    def decision_function(self, X: Any) -> Array:
        """log prior - |x - m|^2/2 for every class (for two classes: the difference)."""
        scores = self._scores(self._predict_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _scores(self, X: Array) -> Array:
        return np.asarray(X @ self.means_.T + np.log(self.priors_) - 0.5 * (self.means_**2).sum(axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest posterior probability; costs nothing more."""
        best = np.argmax(self._scores(self._predict_rows(X)), axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities under the released parameters."""
        scores = self._scores(self._predict_rows(X))
        return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, y, sample_weight))


def into_ball(means: Array, radius: float) -> Array:
    """Means outside the ball of possible means are moved to its edge."""
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means * np.minimum(1.0, radius / np.maximum(norms, 1e-300)))


def _sorted_labels(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError:
        pass
    raise InputError("classes must be labels of one kind: all numbers or all strings.")
