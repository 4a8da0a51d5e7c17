"""Additive regression as a scikit-learn estimator: smooth terms, plain terms, and what they say."""

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
from ...rows.namespace import dots
from ..planning import Plan
from ..predicting import Regressing, predictions
from ..ranges import column_keys, column_ranges, one_range
from .effects import AdditiveSummary, effect, summarise, term_names
from .problem import Additive, AdditiveFitted, read_categories, read_terms
from .refined import Refined

__all__ = ["AdditiveRegressor"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class AdditiveRegressor(Regressing):
    """Differentially private smooth functions of columns and of pairs of them, added up; there is no bandwidth to choose.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit.
    x_range : pair, list of pairs or dict of pairs by name
        Public ranges of raw columns; values beyond are moved to the edge. A generous range costs little: axes are stretched,
        inside the budget, to where the rows are.
    y_range : pair
        Public range of y. What lies beyond by more than half of its length is moved there.
    terms : {"additive", "full"} or list of tuples of columns
        One smooth term for each column, one of all columns (at most three), or a list such as ``[(0,), (1, 2)]``.
    categories : dict of levels by column, optional
        Columns whose numbers are levels; they enter as plain terms. A value between two levels counts as the nearer one.
    strategy : {"refined"}
        There is one.

    Attributes
    ----------
    terms_, counts_, categories_ : the terms as columns, the number of functions of each, the columns with levels and these
    coef_, kept_ : coefficients of these functions, term after term, and what shrinkage left of each, as a share
    intercept_ : the mean over the rows
    marginals_, seen_ : released densities of columns on their ranges, shares of levels; where rows stand out from the noise
    centre_, covariance_, privacy_ : coefficients before they were shrunk (the intercept last), their covariance, and the part
        of it that is privacy noise and what that may hide; the bands are made of them
    beyond_, rough_ : of each term, the mean square of what may be rougher than its functions, and whether that stands out from
        the noise (a jump, say)
    middles_, offsets_ : means of the functions over the rows, which effects are told against, and of each term the variance of
        the mean of its effect
    few_ : below how many rows there are too few to say

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(20, 80, size=(4000, 1))
    >>> y = np.sin(x[:, 0] / 10) + 0.2 * rng.normal(size=4000)
    >>> fit = eptr.AdditiveRegressor(epsilon=1.0, delta=1e-6, x_range=(0, 100), y_range=(-2, 2)).fit(x, y)
    >>> value, low, high = fit.partial_effect(0, [30, 50, 70], centred=False)
    >>> bool(np.all(np.abs(value - np.sin([3, 5, 7])) < 0.5) and np.all((low <= value) & (value <= high)))
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    x_range: Any = None
    y_range: Any = None
    terms: Any = "additive"
    _: KW_ONLY
    categories: Any = None
    strategy: str = "refined"
    rows_per_person: int = 1

    strategies = MappingProxyType({"refined": Refined()})
    _fitted = AdditiveFitted

    def _public(self, n: int, n_features: int, n_classes: int) -> Additive:
        for name, example in (("x_range", "{'age': (0, 110)}"), ("y_range", "(0, 250_000)")):
            if getattr(self, name) is None:
                raise BoundError(
                    f"{name} is missing. Pass the range that is plausible from general knowledge, such as {name}={example}; "
                    "it must come from what is known before seeing the data."
                )
        names = getattr(self, "feature_names_in_", None)
        columns = None if names is None else list(names)
        if columns is None and isinstance(self.x_range, Mapping) and len(self.x_range) == n_features:
            columns = column_keys(self.x_range)
        categories = read_categories(self.categories, n_features, columns)
        terms = read_terms(self.terms, n_features, columns, categories)
        ranges = self.x_range
        if isinstance(ranges, Mapping) and columns is not None:
            ranges = {columns[j]: (levels[0], levels[-1]) for j, levels in categories.items()} | dict(ranges)
        return Additive(
            Budget(self.epsilon, self.delta),
            self._unit(),
            n,
            n_features,
            column_ranges(ranges, n_features, columns),
            one_range("y_range", self.y_range),
            terms,
            categories,
        )

    def plan(self, n: int, n_features: int) -> Plan:
        """Noise of a fit with these settings, from a fit to simulated rows; needs no data."""
        return self._planned(n, n_features)

    def predict(self, X: Any) -> Any:
        """The released function, anywhere, at no further cost; within ``y_range``."""
        return predictions(self, X)

    def _predict(self, x: Array) -> Array:
        fitted: AdditiveFitted = self.fitted_
        expansion, size = fitted.expansion, 20_000
        parts = [dots(expansion.anywhere(x[i : i + size]), fitted.coef) for i in range(0, len(x), size)]
        return np.clip(np.concatenate(parts) + fitted.intercept, *fitted.y_range)

    def partial_effect(
        self, term: Any, grid: Any, *, level: float = 0.95, centred: bool = True
    ) -> tuple[Array, Array, Array]:
        """What a term adds to the mean where its columns are ``grid``, and the ends of a pointwise band.

        What one column adds averages to zero over the rows; the noise of that mean, which is released, is in the band.

        ``term``: its number, a column, or a tuple of columns. ``grid``: one value, or one row of values, for each point. With
        ``centred=False`` the mean is added, and its uncertainty.
        """
        check_is_fitted(self, "release_")
        place = self._term(term)
        columns = len(self.fitted_.terms[place])
        points = np.asarray(grid, dtype=float)
        points = points[:, None] if points.ndim == 1 and columns == 1 else points
        if points.ndim != 2 or points.shape[1] != columns or not np.all(np.isfinite(points)):
            raise InputError(
                f"grid must be finite, one row of {columns} values for each point, got shape {points.shape}."
            )
        return effect(self.fitted_, place, points, level, centred=centred)[:3]

    def plot(self, *, level: float = 0.95) -> Any:
        """A figure with one panel for each term; from the release alone."""
        check_is_fitted(self, "release_")
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError:
            raise InputError("plot needs matplotlib; install it with: pip install 'eptr[figures]'.") from None
        from .drawing import CLIPPED, draw_term

        count = len(self.fitted_.terms)
        across = min(count, 3)
        down = -(-count // across)
        figure, axes = pyplot.subplots(
            down, across, figsize=(4.2 * across, 3.2 * down), squeeze=False, layout="constrained"
        )
        for place, axis in enumerate(axes.flat):
            if place < count:
                draw_term(self.fitted_, place, self._columns(), axis, level)
            else:
                axis.set_visible(False)
        if not self.fitted_.corrected:
            figure.supxlabel(CLIPPED, fontsize="small")
        return figure

    def summary(self, level: float = 0.95) -> AdditiveSummary:
        """Effective degrees of freedom and a test of no effect for each term, and the plain coefficients."""
        check_is_fitted(self, "release_")
        return summarise(term_names(self.fitted_, self._columns()), self.fitted_, level, self.release_)

    def conf_int(self, level: float = 0.95) -> Array:
        """Intervals of the plain coefficients: levels against their first one, and the mean last; terms have bands."""
        return self.summary(level).intervals

    def _columns(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])]

    def _term(self, term: Any) -> int:
        terms, names = [tuple(t) for t in self.fitted_.terms], self._columns()
        if isinstance(term, (int, np.integer)) and not isinstance(term, bool) and 0 <= term < len(terms):
            return int(term)
        asked = term if isinstance(term, (tuple, list)) else (term,)
        columns = tuple(names.index(c) if isinstance(c, str) and c in names else c for c in asked)
        if columns not in terms:
            raise InputError(
                f"term must be a number from 0 to {len(terms) - 1} or the columns of a term, got {term!r}."
            )
        return terms.index(columns)
