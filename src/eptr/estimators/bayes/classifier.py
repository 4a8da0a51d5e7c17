"""The Bayes classifier with class means and priors released privately: refined (default), tight and paper."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...accounting.budget import Budget
from ...errors import BoundError, InputError, positive
from ...rows.namespace import dots
from ..planning import Plan
from ..ranges import column_ranges
from .model import MeansClassifier
from .problem import BayesFitted, TestedClasses
from .refined import Refined
from .summary import ClassSummary
from .tested import Paper, Tight

__all__ = ["BayesClassifier"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class BayesClassifier(MeansClassifier):
    """Gaussian classes; private class means, priors and perhaps their covariance (n public; replace-one neighbours by default).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit.
    x_bound : float or "private"
        Public bound on the Euclidean norm of a row; longer rows are shortened to it.
        "private" buys one from the budget ("refined" only).
    classes : "public" or sequence
        The label set. "public" declares the labels that occur in y to be public knowledge.
    c0 : float, default 0.05
        "tight" and "paper" only: the fit is proposed if every class has more than c0 n rows.
    covariance : {"identity", "shared"}
        "identity": columns have about unit variance and are uncorrelated within a class, a public assumption. "shared": linear
        discriminant analysis, whose covariance within classes is estimated inside the budget ("refined" only). Nearly collinear
        columns cost accuracy: docs/strategies.md.
    x_range : pair, list of pairs or dict of pairs by name, optional
        Public ranges of raw columns, instead of ``x_bound`` (covariance="shared" only): one for all, one for each in
        order, or by name.
    fallback : None or "paper"
        After "no reply": None is a uniform prior with all means zero, "paper" draws the published answer, a random prior
        and random means.

    Attributes
    ----------
    classes_, means_, priors_ : the label set and the released parameters
    covariance_, coef_, intercept_ : within classes, and the linear scores of every class (covariance="shared")
    outside_ : private share of rows beyond a range (``x_range``)
    release_, released_, noise_ : the Release, whether there was a reply, the noise on each released mean

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=4000)
    >>> X = rng.normal(size=(4000, 2)) + 3 * y[:, None]
    >>> clf = eptr.BayesClassifier(epsilon=1.0, delta=1e-6, x_bound=8.0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    classes: Any = "public"
    c0: float = 0.05
    strategy: str = "refined"
    _: KW_ONLY
    rows_per_person: int = 1
    fallback: Any = None
    covariance: str = "identity"
    x_range: Any = None

    strategies = MappingProxyType({"refined": Refined(), "tight": Tight(), "paper": Paper()})
    _fitted = BayesFitted

    def _public(self, n: int, n_features: int, n_classes: int) -> TestedClasses:
        advice = "Pass a bound on the norm of a row, such as x_bound=8 for columns of about unit size."
        ranges, c0 = self._ranges(n_features), positive("c0", self.c0, below=1.0)
        bound = self._bound("x_bound", advice) if ranges is None else None
        if self.fallback is not None and self.fallback != "paper":
            raise InputError("fallback must be None (uniform prior, zero means) or 'paper'.")
        budget = Budget(self.epsilon, self.delta)
        shared = self.covariance == "shared"
        return TestedClasses(budget, self._unit(), n, n_features, n_classes, bound, c0, self.fallback, shared, ranges)

    def _ranges(self, n_features: int) -> tuple[Array, Array] | None:
        if self.covariance not in ("identity", "shared"):
            raise InputError(f"covariance must be 'identity' or 'shared', got {self.covariance!r}.")
        if self.covariance == "shared" and self.strategy != "refined":
            raise InputError(f"strategy={self.strategy!r} needs covariance='identity'; use strategy='refined'.")
        if self.x_range is None:
            return None
        if self.covariance == "identity":
            raise BoundError(
                "x_range is for covariance='shared': with covariance='identity' columns must have unit variance."
            )
        if self.x_bound is not None:
            raise BoundError("x_range and x_bound say the same thing twice: pass one of them.")
        names = getattr(self, "feature_names_in_", None)
        return column_ranges(self.x_range, n_features, None if names is None else list(names))

    def _scores(self, x: Array) -> Array:
        fitted: BayesFitted = self.fitted_
        return super()._scores(x) if fitted.coef is None else np.asarray(dots(x, fitted.coef) + fitted.intercept)

    def summary(self) -> ClassSummary:
        """Shares and means of the classes and the spread of the columns within them, as released; print it."""
        check_is_fitted(self, "release_")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return ClassSummary(tuple(map(str, names)), tuple(map(str, self.classes_)), self.fitted_, self.release_)

    def plan(self, n: int, n_features: int, n_classes: int = 2) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        return self._planned(n, n_features, n_classes)
