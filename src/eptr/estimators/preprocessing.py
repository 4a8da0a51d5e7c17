"""Preprocessing with public constants: nothing is learned from the rows, so nothing leaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..errors import DomainError, InputError
from ..rows.ingest import frame_columns, label, matrix
from ..rows.labels import Labels
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
        tags.input_tags.string = True  # text that reads as a number is that number
        return tags

    def fit(self, X: Any, y: Any = None) -> PublicScaler:
        """Check that the constants fit the number of columns."""
        X = self._read(X)
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
        X = self._read(X, reset=False)
        with np.errstate(all="ignore"):  # a warning would depend on private values
            return np.asarray((X - np.asarray(self.center, dtype=float)) / np.asarray(self.scale, dtype=float))

    def _read(self, X: Any, reset: bool = True) -> Array:
        """Each cell by itself; names of columns as scikit-learn keeps them."""
        ready = matrix(X) if getattr(getattr(X, "dtype", None), "kind", "") != "c" else None
        if ready is not None and hasattr(X, "columns"):
            validated(self, X, reset=reset, skip_check_array=True)
            return np.asarray(check_array(ready, dtype=np.float64, ensure_all_finite=False))
        options = {"reset": reset, "dtype": np.float64, "ensure_all_finite": False}
        return np.asarray(validated(self, X if ready is None else ready, **options))

    def inverse_transform(self, X: Any) -> Array:
        """Undo :meth:`transform`."""
        return np.asarray(np.asarray(X) * np.asarray(self.scale, dtype=float) + np.asarray(self.center, dtype=float))


class PublicEncoder(TransformerMixin, BaseEstimator):
    """One-hot columns for *declared* category levels, each value read by itself: 1, 1.0 and "1" are the same level.

    Levels found in the data would leak which rare categories occur; declared ones cannot.

    Parameters
    ----------
    levels : list of lists
        The public levels of every column.
    drop_first : bool, default False
        Leave out the first level of every column (its rows are all zeros), to avoid collinearity with an intercept.
    missing : {"raise", "level", "drop"}
        What a missing value or a level that was not declared becomes. "raise": an error, outside the guarantee like every
        check of the domain. "level": a level of its own, the last of its column. "drop": NaN, so that an estimator with
        ``invalid="drop"`` gives the row no weight, inside the guarantee. It never becomes the reference level.

    Examples
    --------
    >>> rows = [["yes", "red"], ["no", "blue"]]
    >>> PublicEncoder([["no", "yes"], ["red", "white"]], missing="level").fit_transform(rows)
    array([[0., 1., 0., 1., 0., 0.],
           [1., 0., 0., 0., 0., 1.]])
    """

    def __init__(self, levels: Any, drop_first: bool = False, missing: str = "raise") -> None:
        self.levels = levels
        self.drop_first = drop_first
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> PublicEncoder:
        """Check that there is a list of levels for every column."""
        width = len(_columns(X))
        if isinstance(self.levels, (str, dict)) or not hasattr(self.levels, "__len__"):
            raise InputError("levels must be a list with one list of levels per column, in the order of the columns.")
        if len(self.levels) != width:
            raise InputError(f"levels must hold one list per column ({width}), got {len(self.levels)}.")
        if self.missing not in ("raise", "level", "drop"):
            raise InputError(f"missing must be 'raise', 'level' or 'drop', got {self.missing!r}.")
        for declared in self.levels:
            keys = [label(level) for level in declared]
            if not keys or None in keys or len(set(keys)) != len(keys):
                raise InputError(
                    "levels must hold distinct numbers or texts, at least one per column ('1' is 1.0 is 1)."
                )
            if len({isinstance(level, str) for level in declared}) > 1:
                raise InputError("levels must be of one kind in every column: all numbers or all strings.")
        self.n_features_in_ = width
        return self

    def transform(self, X: Any) -> Array:
        """One column of 0 and 1 per declared level, and one for all others with ``missing="level"``."""
        check_is_fitted(self, "n_features_in_")
        columns = _columns(X)
        if len(columns) != self.n_features_in_:
            raise InputError(f"X has {len(columns)} columns, but the encoder was fitted with {self.n_features_in_}.")
        parts = []
        for place, (column, declared) in enumerate(zip(columns, self.levels, strict=True), start=1):
            codes = Labels(np.array(list(declared), dtype=object)).codes(column)
            known = codes >= 0
            if self.missing == "raise" and not known.all():
                raise DomainError(
                    f"column {place} of X holds a level that is not declared, or none; declare it in levels, or pass "
                    "missing='level' or missing='drop'."
                )
            if self.missing == "level":
                codes, known = np.where(known, codes, len(declared)), np.ones(len(codes), dtype=bool)
            parts += [np.where(known, codes == k, np.nan) for k in self._shown(declared)]
        return np.column_stack(parts).astype(float) if parts else np.zeros((len(columns[0]), 0))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``column=level`` for every output column; ``column=(other)`` for what was not declared."""
        check_is_fitted(self, "n_features_in_")
        names = [f"x{j}" for j in range(self.n_features_in_)] if input_features is None else list(input_features)
        pairs = [
            f"{name}={[*declared, '(other)'][k]}"
            for name, declared in zip(names, self.levels, strict=True)
            for k in self._shown(declared)
        ]
        return np.array(pairs, dtype=object)

    def _shown(self, declared: Any) -> range:
        """Positions of the levels that get a column."""
        return range(int(self.drop_first), len(declared) + (self.missing == "level"))


def _columns(X: Any) -> list[Any]:
    """The columns of a table, whose values are still as they came."""
    if hasattr(X, "columns"):
        return frame_columns(X)
    rows = list(X) if isinstance(X, Sequence) else np.asarray(X)
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2 or rows.shape[0] == 0:
            raise InputError(f"X must be a table with rows and columns, got shape {rows.shape}.")
        return list(rows.T)
    if not rows or any(isinstance(r, (str, bytes, dict)) or not hasattr(r, "__len__") for r in rows):
        raise InputError("X must be a table with rows and columns.")
    if len({len(r) for r in rows}) != 1:
        raise InputError("X must have as many values in every row.")
    return [list(column) for column in zip(*rows, strict=True)]
