"""Logistic regression with a private answer, for two classes and for several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...accounting.budget import Budget
from ...errors import BoundError, InputError
from ..planning import Plan
from ..ranges import column_ranges, column_shares
from .inference import OddsSummary, summarise
from .model import LogOddsClassifier
from .problem import LogisticProblem
from .refined import Refined

__all__ = ["LogisticRegression"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LogisticRegression(LogOddsClassifier):
    """Differentially private logistic regression, unpenalised (n public; replace-one neighbours by default).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit.
    x_bound : float or "private"
        Public bound on the Euclidean norm of a row, for columns of about unit size around zero: 1.5 sqrt(p) is a good
        choice. "private" buys a range for every column, raw or not, from the budget.
    classes : sequence or "public"
        The label set; required. "public" declares the labels that occur in y to be public knowledge. Two classes have the log
        odds of the second, in sorted order; more have a softmax.
    x_range : pair, list of pairs or dict of pairs by name, optional
        Public ranges of raw columns, instead of ``x_bound``: one for all, one for each in order, or by name.
        Columns are centred and scaled inside the budget, values beyond are moved to the edge; coefficients are in raw units.
    strategy : {"refined"}
        There is one.

    Attributes
    ----------
    classes_, coef_, intercept_ : label set and released coefficients in scikit-learn's shape, shrunk where noise dominates
    centre_, covariance_ : log odds against the first class before that, and their covariance, for ``conf_int`` and ``summary``
    undetermined_ : whether the rows are too few to say, coefficient by coefficient
    shares_, outside_ : private shares of the classes, and of rows beyond a bound or range
    release_, noise_ : the Release, and the noise on each released number

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(18, 80, 20_000)
    >>> smokes = rng.uniform(size=20_000) < 1 / (1 + np.exp(2 - 0.03 * age))
    >>> model = eptr.LogisticRegression(epsilon=1.0, x_range=[(0, 110)], classes=[False, True])
    >>> odds_ratio = np.exp(model.fit(age[:, None], smokes).coef_[0, 0])
    >>> bool(1.01 < odds_ratio < 1.06)  # of one more year
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_bound: Any = None
    classes: Any = None
    fit_intercept: bool = True
    _: KW_ONLY
    x_range: Any = None
    strategy: str = "refined"
    rows_per_person: int = 1

    strategies = MappingProxyType({"refined": Refined()})

    def _check_settings(self, **unsupported: Any) -> None:
        super()._check_settings(**unsupported)
        if self.classes is None:
            raise InputError(
                "classes is missing. List the labels that y can have, such as classes=['no', 'yes'], or pass classes='public' "
                "if those that occur in y are no secret."
            )

    def _public(self, n: int, n_features: int, n_classes: int) -> LogisticProblem:
        advice = "Pass a bound on the norm of a row, such as x_bound=1.5*sqrt(p) for scaled columns."
        if self.x_range is not None and self.x_bound is not None:
            raise BoundError("x_range and x_bound say the same thing twice: pass one of them.")
        bound, ranges = None, None
        if self.x_range is None:
            bound = self._bound("x_bound", advice)
        else:
            ranges = column_ranges(self.x_range, n_features, getattr(self, "feature_names_in_", None))
        budget, unit = Budget(self.epsilon, self.delta), self._unit()
        return LogisticProblem(budget, unit, n, n_features, bound, 1.0, self.fit_intercept, n_classes, ranges)

    def plan(self, n: int, n_features: int, n_classes: int = 2, *, shares: Mapping[Any, float] | None = None) -> Plan:
        """Noise and standard errors of a fit with these settings, from one to simulated rows of equal classes; needs no data.

        ``shares``, with ``x_range``: of the rows at the upper end, for columns of zeros and ones, by number or name.
        """
        return self._planned(n, n_features, n_classes, shares=column_shares(self.x_range, n_features, shares or {}))

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence intervals of log odds, one row per coefficient, the intercept last, class after class."""
        return self.summary(level).intervals

    def summary(self, level: float = 0.95) -> OddsSummary:
        """Coefficients, standard errors, p-values and odds ratios with intervals."""
        check_is_fitted(self, "release_")
        names = [
            str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        ]
        names = [*names, "(Intercept)"] if self.fit_intercept else names
        if len(self.classes_) > 2:
            names = [f"{label}: {name}" for label in self.classes_[1:] for name in names]
        return summarise(names, self.classes_, self.fitted_, level, self.release_)
