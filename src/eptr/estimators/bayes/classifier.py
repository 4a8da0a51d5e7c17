"""The Bayes classifier with class means and priors released privately: refined (default), tight and paper."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

from ...accounting.budget import Budget
from ...errors import InputError, positive
from ..planning import Plan
from .model import MeansClassifier
from .problem import BayesFitted, TestedClasses
from .refined import Refined
from .tested import Paper, Tight

__all__ = ["BayesClassifier"]


@dataclass(eq=False, repr=False)
class BayesClassifier(MeansClassifier):
    """Gaussian classes with identity covariance; private class means and priors (n public; replace-one neighbours by default).

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
    strategy : {"refined", "tight", "paper"}
    neighbours, rows_per_person, fallback, invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`. ``fallback="paper"`` draws the published no-reply answer, a random
        prior and random means; None is a uniform prior with all means zero.

    Attributes
    ----------
    classes_, means_, priors_ : the label set and the released parameters
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

    strategies = MappingProxyType({"refined": Refined(), "tight": Tight(), "paper": Paper()})
    _fitted = BayesFitted

    def _public(self, n: int, n_features: int, n_classes: int) -> TestedClasses:
        advice = "Pass a bound on the norm of a row, such as x_bound=8 for columns of about unit size."
        bound, c0 = self._bound("x_bound", advice), positive("c0", self.c0, below=1.0)
        if self.fallback is not None and self.fallback != "paper":
            raise InputError("fallback must be None (uniform prior, zero means) or 'paper'.")
        budget = Budget(self.epsilon, self.delta)
        return TestedClasses(budget, self._unit(), n, n_features, n_classes, bound, c0, self.fallback)

    def plan(self, n: int, n_features: int, n_classes: int = 2) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        return self._planned(n, n_features, n_classes)
