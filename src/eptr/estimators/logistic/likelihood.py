"""The likelihoods of two and of several classes, with the same bits on every machine.  Proof: likelihood.md.

Classes are scaled by their shares pi: the score and the information of the model without slopes are then those of least
squares with errors of variance 1, whatever the shares are, and so is all that follows from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...rows.namespace import namespace
from ..gradient import Likelihood
from ..sigmoid import decay, sigmoid

__all__ = ["Classes", "Linear", "Several", "Two", "likelihood"]

Array = NDArray[np.float64]


class Classes(Likelihood, Protocol):
    """A likelihood of class codes. Log odds are (x' theta) mix, one column of theta for each row of ``mix``."""

    @property
    def mix(self) -> Array: ...

    @property
    def shares(self) -> Array:
        """Of the classes."""

    @property
    def start(self) -> Array:
        """Coefficients of the constant in the model without slopes, before they are mixed."""

    @property
    def rarest(self) -> float:
        """|r| of a row of the rarest class, in the model without slopes."""

    def roots(self, mean: Any) -> list[Any]: ...

    def information(self, residual: Array) -> float:
        """Of the model without slopes, a mean over its directions, where the mean residual is such; 1 where it is zero."""


class Two:
    """y is 0 or 1; ``mix`` is one number, 1/sqrt(pi (1 - pi))."""

    def __init__(self, share: float) -> None:
        self.share, self.shares = share, np.array([1.0 - share, share])
        self.mix = np.full((1, 1), share * (1.0 - share)) ** -0.5

    @property
    def rarest(self) -> float:
        return math.sqrt(1.0 / min(self.share, 1.0 - self.share) - 1.0)

    def information(self, residual: Array) -> float:
        share = min(max(self.share - float(residual[0] / self.mix[0, 0]), 0.0), 1.0)
        return share * (1.0 - share) * float(self.mix[0, 0]) ** 2

    @property
    def start(self) -> Array:
        return np.asarray(math.log(self.share / (1.0 - self.share)) / self.mix[0])

    def mean(self, predictor: Any) -> Any:
        return sigmoid(predictor)

    def residual(self, y: Any, mean: Any) -> Any:
        return (y - mean) * float(self.mix[0, 0])

    def roots(self, mean: Any) -> list[Any]:
        return [namespace(mean).sqrt(mean * (1.0 - mean)) * float(self.mix[0, 0])]


class Several:
    """y is one of the codes of ``shares``; scores of all classes are mixed so that no direction is left over. proof: mix"""

    def __init__(self, shares: Array) -> None:
        self.shares, roots = shares, np.sqrt(shares)
        # Rows orthonormal, and orthogonal to the roots of the shares.
        vectors = np.linalg.svd(roots[None, :])[2][1:]
        self.rarest = math.sqrt(1.0 / float(np.min(shares)) - 1.0)
        self.mix, self.start = vectors / roots, vectors @ (roots * np.log(shares))

    def information(self, residual: Array) -> float:
        shares = np.clip(self.shares * (1.0 - self.mix.T @ residual), 0.0, 1.0)
        spread = np.diag(shares) - np.outer(shares, shares)
        return float(np.trace(self.mix @ spread @ self.mix.T)) / len(self.mix)

    def mean(self, predictor: Any) -> list[Any]:
        """The share of every class, added up in the order of the classes."""
        top = namespace(predictor).max(predictor, axis=0)
        powers = [decay(top - predictor[k, :]) for k in range(predictor.shape[0])]
        total = sum(powers[1:], powers[0])
        return [power / total for power in powers]

    def residual(self, y: Any, mean: list[Any]) -> Any:
        xp = namespace(y)
        left = [xp.where(y == float(k), 1.0 - share, -share) for k, share in enumerate(mean)]
        return xp.stack([_mixed(row, left) for row in self.mix])

    def roots(self, mean: list[Any]) -> list[Any]:
        xp, middle = namespace(mean[0]), [_mixed(row, mean) for row in self.mix]
        return [
            xp.stack([(float(row[k]) - here) * xp.sqrt(share) for row, here in zip(self.mix, middle, strict=True)])
            for k, share in enumerate(mean)
        ]


@dataclass(frozen=True, slots=True)
class Linear:
    """Least squares for the residual of the model without slopes: discriminant analysis."""

    classes: Classes

    def mean(self, predictor: Any) -> Any:
        return predictor

    def residual(self, y: Any, mean: Any) -> Any:
        each = [float(share) * namespace(y).ones_like(y) for share in self.classes.shares]
        return self.classes.residual(y, each[1] if len(each) == 2 else each) - mean

    def roots(self, mean: Any) -> None:
        return None


def likelihood(shares: Array) -> Classes:
    """Of two or more classes with about such shares of the rows."""
    return Two(float(shares[1])) if len(shares) == 2 else Several(shares)


def _mixed(weights: Array, values: list[Any]) -> Any:
    parts = [float(weight) * value for weight, value in zip(weights, values, strict=True)]
    return sum(parts[1:], parts[0])
