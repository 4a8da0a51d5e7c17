"""What one row can add to a sum, and what that costs under each neighbour relation.  Proof: contribution.md.

A contribution is a set K that holds f(row) for every row, and 0, which is what a dropped row adds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .unit import Unit

__all__ = [
    "Absolute",
    "Ball",
    "Box",
    "Cell",
    "Contribution",
    "Interval",
    "LabelledBall",
    "Outer",
    "Shape",
    "Together",
    "WeightedOuter",
    "contribution_of",
]

Array = NDArray[np.float64]
Gaussian = Callable[[Any, float], Array]


class Contribution(ABC):
    """A set K with 0 in it: its diameter (replace-one) and its largest distance from 0 (zero-out)."""

    @abstractmethod
    def reach(self, relation: str) -> float:
        """How far the sum moves, in Euclidean norm, if one row changes."""

    def sensitivity(self, unit: Unit) -> float:
        """For all rows of one person: the triangle inequality. proof: group"""
        return self.reach(unit.relation) * unit.rows

    def scale(self, unit: Unit, mu: float) -> float:
        """Standard deviation of the noise that makes the sum mu-GDP."""
        return self.sensitivity(unit) / mu

    def draw(self, values: Any, unit: Unit, mu: float, gaussian: Gaussian) -> Any:
        """The sum with its noise, the same on every number unless a subclass says otherwise."""
        return gaussian(values, self.scale(unit, mu))


@dataclass(frozen=True, slots=True)
class Ball(Contribution):
    """Vectors of norm at most ``radius``. proof: ball"""

    radius: float

    def reach(self, relation: str) -> float:
        return 2.0 * self.radius if relation == "replace-one" else self.radius


@dataclass(frozen=True, slots=True)
class Interval(Contribution):
    """Numbers between ``low`` and ``high``; a dropped row adds 0, wherever that lies. proof: interval"""

    low: float
    high: float

    def reach(self, relation: str) -> float:
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        return high - low if relation == "replace-one" else max(high, -low)


@dataclass(frozen=True, slots=True)
class Box(Contribution):
    """[0, 1]^k. proof: box"""

    dimension: int

    def reach(self, relation: str) -> float:
        return math.sqrt(self.dimension)


@dataclass(frozen=True, slots=True)
class Cell(Contribution):
    """One of the cells of a histogram or table. proof: cell"""

    def reach(self, relation: str) -> float:
        return math.sqrt(2.0) if relation == "replace-one" else 1.0


@dataclass(frozen=True, slots=True)
class LabelledBall(Contribution):
    """A count in one cell and a vector of norm at most ``radius`` in the same cell: counts cost nothing extra. proof: labelled

    ``values`` are (counts, sums); the noise of the sums is ``radius`` times that of the counts.
    """

    radius: float

    def reach(self, relation: str) -> float:
        return 2.0 if relation == "replace-one" else math.sqrt(2.0)

    def scale(self, unit: Unit, mu: float) -> float:
        """Of a sum; of a count it is this divided by the radius."""
        return self.reach(unit.relation) * self.radius * unit.rows / mu

    def draw(self, values: Any, unit: Unit, mu: float, gaussian: Gaussian) -> Any:
        counts, sums = values
        return gaussian(counts, self.sensitivity(unit) / mu), gaussian(sums, self.scale(unit, mu))


@dataclass(frozen=True, slots=True)
class Outer(Contribution):
    """x x' with |x| at most ``radius``, as a symmetric matrix. proof: outer"""

    radius: float
    dimension: int

    def reach(self, relation: str) -> float:
        square = self.radius**2
        return math.sqrt(2.0) * square if relation == "replace-one" and self.dimension > 1 else square

    def draw(self, values: Any, unit: Unit, mu: float, gaussian: Gaussian) -> Any:
        """N(0, s^2) on the diagonal, N(0, s^2/2) off it: isotropic in the coordinates (A_ii, sqrt 2 A_ij). proof: outer"""
        scale, upper = self.scale(unit, mu), np.triu_indices(len(values), 1)
        noisy = np.diag(gaussian(np.diag(values).copy(), scale))
        noisy[upper] = gaussian(values[upper], scale / math.sqrt(2.0) * (1.0 + 1e-15))
        noisy.T[upper] = noisy[upper]
        return noisy


@dataclass(frozen=True, slots=True)
class WeightedOuter(Outer):
    """w x x' with w >= 0 and w x'x at most ``bound``. proof: weighted"""

    def __init__(self, bound: float, dimension: int) -> None:
        object.__setattr__(self, "radius", math.nextafter(math.sqrt(bound), math.inf))
        object.__setattr__(self, "dimension", dimension)


@dataclass(frozen=True, slots=True)
class Together(Outer):
    """v v', |v| at most ``radius``, of all rows of one person together, where a pass knows them. proof: together"""

    def sensitivity(self, unit: Unit) -> float:
        return self.reach(unit.relation)

    def draw(self, values: Any, unit: Unit, mu: float, gaussian: Gaussian) -> Any:
        """A vector is the diagonal alone."""
        if np.ndim(values) < 2:
            return gaussian(values, self.scale(unit, mu))
        return super(Together, self).draw(values, unit, mu, gaussian)


@dataclass(frozen=True, slots=True)
class Shape(Contribution):
    """Any other set, or a statistic that is no sum, with what is proven about it where it is named.

    ``distance`` is None where nothing is proven for rows that are dropped: zero-out is then refused.
    """

    diameter: float
    distance: float | None = None

    def reach(self, relation: str) -> float:
        if relation == "replace-one":
            return self.diameter
        if self.distance is None:
            raise InputError("neighbours='zero-out' is not proven for this method; use neighbours='replace-one'.")
        return self.distance


def contribution_of(what: str, shape: dict[str, Any]) -> Contribution | None:
    """The set that a record names, from its numbers; None if there is no such set."""
    kind = next((k for k in (*Contribution.__subclasses__(), *Outer.__subclasses__()) if k.__name__ == what), None)
    if kind is None:
        return None
    found: Contribution = object.__new__(kind)  # a weighted one is made from its bound, and recorded by its radius
    for name, number in shape.items():
        object.__setattr__(found, name, number)
    return found


@dataclass(frozen=True, slots=True)
class Absolute:
    """Vectors in the sum of absolute values: at most ``diameter`` apart, ``distance`` from nothing; for Laplace noise.

    ``margin`` widens the noise a little, for the rounding of whoever computed the two. proof: absolute
    """

    diameter: float
    distance: float | None = None
    margin: float = 1e-12

    def sensitivity(self, unit: Unit) -> float:
        return Shape(self.diameter, self.distance).sensitivity(unit)

    def scale(self, unit: Unit, epsilon: float) -> float:
        """Of the noise that makes the sum epsilon-DP."""
        return self.sensitivity(unit) / epsilon * (1.0 + self.margin)
