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

__all__ = ["Classes", "Several", "Two", "likelihood"]

Array = NDArray[np.float64]


class Classes(Likelihood, Protocol):
    """A likelihood of class codes. Log odds are (x' theta) mix, one column of theta for each row of ``mix``."""

    @property
    def mix(self) -> Array: ...

    @property
    def start(self) -> Array:
        """Coefficients of the constant in the model without slopes, before they are mixed."""

    @property
    def rarest(self) -> float:
        """|r| of a row of the rarest class, in the model without slopes."""


@dataclass(frozen=True, slots=True)
class Two:
    """y is 0 or 1; ``mix`` is one number, 1/sqrt(pi (1 - pi))."""

    share: float

    @property
    def mix(self) -> Array:
        return np.full((1, 1), self.share * (1.0 - self.share)) ** -0.5

    @property
    def rarest(self) -> float:
        return math.sqrt(1.0 / min(self.share, 1.0 - self.share) - 1.0)

    @property
    def start(self) -> Array:
        return np.asarray(math.log(self.share / (1.0 - self.share)) / self.mix[0])

    def residual(self, y: Any, predictor: Any) -> Any:
        return (y - sigmoid(predictor)) * float(self.mix[0, 0])

    def roots(self, predictor: Any) -> list[Any]:
        e = decay(abs(predictor))
        return [namespace(predictor).sqrt(e) / (1.0 + e) * float(self.mix[0, 0])]


class Several:
    """y is one of the codes of ``shares``; scores of all classes are mixed so that no direction is left over. proof: mix"""

    def __init__(self, shares: Array) -> None:
        roots = np.sqrt(shares)
        # Rows orthonormal, and orthogonal to the roots of the shares.
        vectors = np.linalg.svd(roots[None, :])[2][1:]
        self.rarest = math.sqrt(1.0 / float(np.min(shares)) - 1.0)
        self.mix, self.start = vectors / roots, vectors @ (roots * np.log(shares))

    def residual(self, y: Any, predictor: Any) -> Any:
        xp, q = namespace(predictor), _shares(predictor)
        left = [xp.where(y == float(k), 1.0 - share, -share) for k, share in enumerate(q)]
        return xp.stack([_mixed(row, left) for row in self.mix])

    def roots(self, predictor: Any) -> list[Any]:
        xp, q = namespace(predictor), _shares(predictor)
        means = [_mixed(row, q) for row in self.mix]
        return [
            xp.stack([(float(row[k]) - mean) * xp.sqrt(share) for row, mean in zip(self.mix, means, strict=True)])
            for k, share in enumerate(q)
        ]


def likelihood(shares: Array) -> Classes:
    """Of two or more classes with about such shares of the rows."""
    return Two(float(shares[1])) if len(shares) == 2 else Several(shares)


def _shares(predictor: Any) -> list[Any]:
    """Of every class, added up in the order of the classes."""
    top = namespace(predictor).max(predictor, axis=0)
    powers = [decay(top - predictor[k, :]) for k in range(predictor.shape[0])]
    total = sum(powers[1:], powers[0])
    return [power / total for power in powers]


def _mixed(weights: Array, values: list[Any]) -> Any:
    parts = [float(weight) * value for weight, value in zip(weights, values, strict=True)]
    return sum(parts[1:], parts[0])
