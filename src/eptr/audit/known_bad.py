"""Small mechanisms with one known fault each, beside an honest original: what the attacks on draws and rows must convict.

Faults that were real: 0.1 read labels through one array for all rows, and drew points of a box as low + (high - low) u.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..errors import NotPrivateWarning
from ..privacy.claim import Cost, Release
from ..privacy.gaussian import gaussian_mu
from ..privacy.noise import noise_source

__all__ = ["BoxDraw", "CommonTypeCounts", "NoisyCounts", "TalkativeCounts", "WarningCounts", "float_lattice_point"]

Array = NDArray[np.float64]


class NoisyCounts(BaseEstimator):
    """The honest original: how many rows carry each declared label, with Gaussian noise; each label is read by itself.

    Parameters
    ----------
    epsilon, delta : float
    classes : sequence of labels
    invalid : "drop"
        An undeclared label counts nowhere.
    random_state : None, seed or noise source
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        classes: Any = (0, 1),
        invalid: str = "drop",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.invalid = invalid
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> NoisyCounts:
        """Count and release; ``X`` is not used, but a table may hold the labels under the name ``y``."""
        noise, mu = noise_source(self.random_state), gaussian_mu(self.epsilon, self.delta)
        if not noise.private:
            warnings.warn("a seed protects nobody", NotPrivateWarning, stacklevel=2)
        counts = self._counts(X[y] if isinstance(y, str) else y)
        # One row moves two counts by one each.
        value = noise.gaussian(counts, math.sqrt(2.0) / mu)
        cost = Cost(self.epsilon, self.delta, "gaussian", mu)
        self.release_ = Release(
            True, value, math.sqrt(2.0) / mu, self.epsilon, self.delta, noise.private, "counts", cost
        )
        return self

    def _counts(self, y: Any) -> Array:
        return np.array([float(sum(_is(v, label) for v in y)) for label in self.classes])


def _is(value: Any, label: Any) -> bool:
    """Plain labels alone: anything else equals nothing, and is asked nothing."""
    plain = isinstance(value, (bool, int, float, str, np.integer, np.floating, np.str_))
    return plain and bool(value == label)


class CommonTypeCounts(NoisyCounts):
    """Bad: labels are made one array first, as 0.1 did; one text among whole numbers makes them all text."""

    def _counts(self, y: Any) -> Array:
        labels, classes = np.asarray(y), np.asarray(list(self.classes))
        if labels.dtype == object:
            position = {label: k for k, label in enumerate(classes.tolist())}
            codes = np.array([position.get(v, -1) for v in labels.tolist()])
        else:
            found = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
            codes = np.where(classes[found] == labels, found, -1)
        return np.array([float(np.sum(codes == k)) for k in range(len(classes))])


class TalkativeCounts(NoisyCounts):
    """Bad: the counts themselves stay in an attribute, and travel with every pickle."""

    def _counts(self, y: Any) -> Array:
        self.seen_ = super()._counts(y)
        return self.seen_


class WarningCounts(NoisyCounts):
    """Bad: a warning says how many labels were not declared."""

    def _counts(self, y: Any) -> Array:
        counts = super()._counts(y)
        if counts.sum() < len(y):
            warnings.warn(f"{len(y) - counts.sum():g} labels are not among the classes", UserWarning, stacklevel=3)
        return counts


def float_lattice_point(low: Any, high: Any, uniform: Any) -> Array:
    """Bad: a "uniform" point of a box in floats, ``uniform`` in 2**-53 {0, ..., 2**53 - 1}.

    The outputs lie on a lattice that the corners of the box, hence the rows, determine: one output can tell which box it
    is from. With low = -4 and high = 4 every output is a multiple of 2**-50; with other corners hardly any is.
    """
    return np.asarray(low + (high - low) * uniform)


class BoxDraw:
    """Bad: a uniform point of a box around the middle of many small fits, drawn as low + (high - low) u.

    The law is that of an exponential mechanism over depths (`eptr.rivals.TukeyEM` in 0.1), but u has 53 bits: the points
    lie on lattices that the fits determine.

    Parameters
    ----------
    fits : array of shape (m,)
        One estimate from each of m disjoint batches of rows.
    epsilon : float
    """

    def __init__(self, fits: Any, epsilon: float = 1.0) -> None:
        self.fits, half = np.sort(np.asarray(fits, dtype=float)), len(fits) // 2
        depths = np.arange(max(1, len(fits) // 4), half + 1)
        self.low, self.high = self.fits[depths - 1], self.fits[len(fits) - depths]
        width = self.high - self.low
        shells = width - np.append(width[1:], 0.0)
        weights = shells * np.exp(0.5 * epsilon * (depths - half))
        self.cumulative = np.cumsum(weights / weights.sum())

    def __call__(self, size: int, rng: np.random.Generator) -> Array:
        """So many points."""
        return np.array([self._point(rng) for _ in range(size)])

    def _point(self, rng: np.random.Generator) -> float:
        i = min(int(np.searchsorted(self.cumulative, rng.random(), side="right")), len(self.low) - 1)
        inner = (self.low[i + 1], self.high[i + 1]) if i + 1 < len(self.low) else (math.inf, -math.inf)
        while True:
            point = float(float_lattice_point(self.low[i], self.high[i], rng.random()))
            if not inner[0] <= point <= inner[1]:
                return point

    def possible(self, points: Array) -> NDArray[np.bool_]:
        """Which points some u of 53 bits gives, in some box."""
        found = np.zeros(len(points), dtype=bool)
        flat = np.reshape(points, len(points))
        for low, high in {*zip(self.low.tolist(), self.high.tolist(), strict=True)}:
            if high > low:
                nearest = np.rint((flat - low) / (high - low) * 2.0**53)
                for step in range(-4, 5):  # a quotient of two roundings: a few units off at most
                    u = np.clip(nearest + step, 0.0, 2.0**53 - 1.0) * 2.0**-53
                    found |= float_lattice_point(low, high, u) == flat
        return found
