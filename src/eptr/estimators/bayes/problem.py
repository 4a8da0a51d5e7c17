"""Gaussian classes before a row is read, and what is known afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..fitted import Fitted
from ..shrinking import firm
from ..strategy import Public

__all__ = [
    "BayesFitted",
    "Classes",
    "MeansFitted",
    "TestedClasses",
    "drawn_together",
    "into_ball",
    "least_count",
    "shrunk",
]

Array = NDArray[np.float64]
COUNT_FLOOR = 0.005  # no class is given less than this share of the rows ...
RAREST = 2.0  # ... nor less than so many standard deviations of its count's noise, up to half an average class


@dataclass(frozen=True, slots=True)
class Classes(Public):
    """So many classes of rows of norm at most ``x_bound``."""

    n_classes: int
    x_bound: Any  # a number, or "private"

    @property
    def to_buy(self) -> list[str]:
        return ["x_bound"] if self.x_bound == "private" else []

    @property
    def numbers(self) -> int:
        """Of the means."""
        return self.n_classes * self.n_features


@dataclass(frozen=True, slots=True)
class TestedClasses(Classes):
    """Classes with what the tests and a shared covariance need to know."""

    c0: float
    fallback: str | None
    shared: bool = False  # a covariance that is estimated; else it is known to be the identity
    x_range: tuple[Array, Array] | None = None  # ends of every column, instead of x_bound


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeansFitted(Fitted):
    """A mean for every class, and its share of the rows; as released, or the fallback."""

    means: Array
    priors: Array

    @classmethod
    def of(cls, means: Array, priors: Array, noise: float, **more: Any) -> Self:
        """Released ones."""
        return cls(value=np.column_stack([means, priors]), noise=noise, means=means, priors=priors, **more)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BayesFitted(MeansFitted):
    """Means and priors, with the bound they were fitted with, perhaps a bought one; the rest with a shared covariance alone."""

    x_bound: Any
    x_range: Any = None  # one row for each column
    covariance: Any = None  # within classes
    coef: Any = None  # of the scores of every class, which are linear in x
    intercept: Any = None
    outside: Any = None  # share of rows beyond a range


def into_ball(means: Array, radius: float) -> Array:
    """Means outside the ball of possible means are moved to its edge."""
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means * np.minimum(1.0, radius / np.maximum(norms, 1e-300)))


def least_count(n: int, classes: int, noise: float) -> float:
    """What a class is taken to have at least, if its count has such noise: sums are divided by no number that noise made."""
    return max(COUNT_FLOOR * n, min(RAREST * noise, n / (2.0 * classes)))


def shrunk(means: Array, noise: Array) -> Array:
    """Class by class: a mean that is clear stays, one that noise could be is zero."""
    return np.array([mean * firm(mean, each**2) for mean, each in zip(means, noise, strict=True)])


def drawn_together(means: Array, counts: Array, noise: Array) -> Array:
    """Means drawn towards the mean of all rows, as far as noise rules."""
    middle = counts @ means / counts.sum()
    return np.asarray(middle + shrunk(means - middle, noise))
