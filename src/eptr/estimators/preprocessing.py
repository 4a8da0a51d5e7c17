"""Preprocessing with public constants: nothing is learned from the rows, so nothing leaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from .base import validated

__all__ = ["PublicEncoder", "PublicScaler"]

Array = NDArray[np.float64]


class PublicScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """(x - center)/scale with public constants. Costs no privacy: ``fit`` only checks shapes.

    Parameters
    ----------
    center, scale : float or array
        One for all columns or one per column, from what is known before seeing the data.

    Examples
    --------
    >>> PublicScaler.from_ranges([(18, 90), (0, 200_000)]).fit_transform([[54.0, 50_000.0]])
    array([[ 0. , -0.5]])
    """

    def __init__(self, center: Any = 0.0, scale: Any = 1.0) -> None:
        self.center = center
        self.scale = scale

    @classmethod
    def from_ranges(cls, ranges: Sequence[tuple[float, float]]) -> PublicScaler:
        """Map every public range (low, high) to [-1, 1]; then |x| <= sqrt(p) is a bound for all rows inside."""
        try:
            pairs = np.asarray(ranges, dtype=float).reshape(-1, 2)
        except (TypeError, ValueError):
            raise InputError("ranges must be a list of (low, high) pairs, one per column.") from None
        if not np.all(np.isfinite(pairs)) or not np.all(pairs[:, 0] < pairs[:, 1]):
            raise InputError("ranges must have low < high, both finite, in every pair.")
        return cls(center=pairs.mean(axis=1), scale=0.5 * (pairs[:, 1] - pairs[:, 0]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> PublicScaler:
        """Check that the constants fit the number of columns."""
        X = validated(self, X, dtype=np.float64, ensure_all_finite=False)
        for name in ("center", "scale"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.ndim > 1 or value.size not in (1, X.shape[1]) or not np.all(np.isfinite(value)):
                raise InputError(
                    f"{name} must be one finite number or one per column: X has {X.shape[1]}, {name} has {value.size}."
                )
        if not np.all(np.asarray(self.scale, dtype=float) > 0):
            raise InputError("scale must be above 0 in every column.")
        return self

    def transform(self, X: Any) -> Array:
        """Scale; non-finite values pass through for the estimator to judge."""
        check_is_fitted(self, "n_features_in_")
        X = validated(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        with np.errstate(all="ignore"):  # a warning would depend on private values
            return np.asarray((X - np.asarray(self.center, dtype=float)) / np.asarray(self.scale, dtype=float))

    def inverse_transform(self, X: Any) -> Array:
        """Undo :meth:`transform`."""
        return np.asarray(np.asarray(X) * np.asarray(self.scale, dtype=float) + np.asarray(self.center, dtype=float))


class PublicEncoder(TransformerMixin, BaseEstimator):
    """One-hot columns for *declared* category levels; a level that was not declared becomes all zeros.

    Levels found in the data would leak which rare categories occur; declared ones cannot.

    Parameters
    ----------
    levels : list of lists
        The public levels of every column.
    drop_first : bool, default False
        Leave out the first level of every column (its rows are all zeros), to avoid collinearity with an intercept.

    Examples
    --------
    >>> PublicEncoder([["no", "yes"], ["red", "white"]]).fit_transform([["yes", "red"], ["no", "blue"]])
    array([[0., 1., 1., 0.],
           [1., 0., 0., 0.]])
    """

    def __init__(self, levels: Any, drop_first: bool = False) -> None:
        self.levels = levels
        self.drop_first = drop_first

    def fit(self, X: Any, y: Any = None) -> PublicEncoder:
        """Check that there is a list of levels for every column."""
        width = len(self._columns(X))
        if isinstance(self.levels, (str, dict)) or not hasattr(self.levels, "__len__"):
            raise InputError("levels must be a list with one list of levels per column, in the order of the columns.")
        if len(self.levels) != width:
            raise InputError(f"levels must hold one list per column ({width}), got {len(self.levels)}.")
        for declared in self.levels:
            if len(declared) < 1 or len(set(declared)) != len(declared):
                raise InputError("levels must hold distinct values, at least one per column.")
        self.n_features_in_ = width
        return self

    def transform(self, X: Any) -> Array:
        """One column of 0 and 1 per declared level."""
        check_is_fitted(self, "n_features_in_")
        columns = self._columns(X)
        if len(columns) != self.n_features_in_:
            raise InputError(f"X has {len(columns)} columns, but the encoder was fitted with {self.n_features_in_}.")
        start = int(self.drop_first)
        parts = [
            c == level for c, declared in zip(columns, self.levels, strict=True) for level in list(declared)[start:]
        ]
        return np.column_stack(parts).astype(float)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``column=level`` for every output column."""
        check_is_fitted(self, "n_features_in_")
        names = [f"x{j}" for j in range(self.n_features_in_)] if input_features is None else list(input_features)
        start = int(self.drop_first)
        pairs = [
            f"{n}={level}" for n, declared in zip(names, self.levels, strict=True) for level in list(declared)[start:]
        ]
        return np.array(pairs, dtype=object)

    @staticmethod
    def _columns(X: Any) -> list[NDArray[Any]]:
        if hasattr(X, "columns"):
            return [np.asarray(X[c]) for c in X.columns]
        table = np.asarray(X, dtype=object)
        if table.ndim != 2 or table.shape[0] == 0:
            raise InputError(f"X must be a table with rows and columns, got shape {table.shape}.")
        return list(table.T)
