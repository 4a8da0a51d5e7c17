"""Boxes of points by depth, in exact arithmetic: volumes, the distance to unsafe points, a deep point.  Proof: tukey_boxes.md."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..privacy.draws import FIRST_BITS, below, exponential_choice, exponentials, rounded_uniform
from ..privacy.noise import NoiseSource

__all__ = ["DepthBoxes"]

Array = NDArray[np.float64]
Interval = tuple[int, int]


class DepthBoxes:
    """Box i = 1, ..., m/2 of m points: between the i-th smallest and the i-th largest value of every coordinate.

    Parameters
    ----------
    points : array of shape (m, p)
        Finite floats; from here on whole numbers times a power of two, one for each coordinate.
    """

    def __init__(self, points: Array) -> None:
        ratios = [[v.as_integer_ratio() for v in column] for column in np.sort(points, axis=0).T.tolist()]
        self.units = [max(unit for _, unit in column) for column in ratios]
        self._edges = [
            [value * (unit // own) for value, own in column] for column, unit in zip(ratios, self.units, strict=True)
        ]
        self.deepest = len(points) // 2
        self._volumes = [math.prod(b - a for a, b in self.box(i)) for i in range(1, self.deepest + 1)]

    def box(self, i: int) -> list[Interval]:
        """The sides of box ``i``, in units of the coordinates."""
        return [(column[i - 1], column[-i]) for column in self._edges]

    def volume(self, i: int) -> int:
        """V_i for i >= 1, in units; points deeper than ``deepest`` have no volume."""
        return self._volumes[i - 1] if i <= self.deepest else 0

    def distance(self, t: int, rate: Fraction, level: Fraction) -> int:
        """Largest k with V_{t-k-1} exp(-rate g) <= level exp(-2 rate) V_{t+k+g+1} > 0 for a g >= 1, or -1. proof: distance"""
        holds, fails = -1, max(0, t - 1)  # V_0 is infinite; what holds for k holds for smaller ones
        while fails - holds > 1:
            k = (holds + fails) // 2
            if self._stable(t - k - 1, t + k + 4, rate, level):
                holds = k
            else:
                fails = k
        return holds

    def _stable(self, outer: int, first: int, rate: Fraction, level: Fraction) -> bool:
        """Whether V_outer exp(-rate j) <= level V_{first + j - 1} > 0 for a j >= 1. proof: decision"""
        inner = [v for v in (self.volume(i) for i in range(first, self.deepest + 1)) if v]
        left = self.volume(outer) * level.denominator
        bits = FIRST_BITS
        while True:
            table = exponentials(rate, len(inner) + 1, bits)[1:]
            open_ = False
            for volume, (low, high) in zip(inner, table, strict=True):
                right = level.numerator * volume << bits
                if left * high <= right:
                    return True
                open_ = open_ or left * low <= right
            if not open_:
                return False
            bits *= 2

    def deep_point(self, t: int, rate: Fraction, noise: NoiseSource) -> Array:
        """A point of depth at least ``t``, density proportional to exp(rate depth), rounded to floats; V_t > 0. proof: point"""
        shells = [self.volume(i) - self.volume(i + 1) for i in range(t, self.deepest + 1)]
        sides = self._slab(t + exponential_choice(shells, rate, noise), noise)
        return np.array(
            [
                rounded_uniform(Fraction(a, unit), Fraction(b, unit), noise)
                for (a, b), unit in zip(sides, self.units, strict=True)
            ]
        )

    def _slab(self, i: int, noise: NoiseSource) -> list[Interval]:
        """One of the 2 p boxes into which box i without box i + 1 falls, by volume. proof: slab"""
        outer = self.box(i)
        if i == self.deepest:
            return outer
        inner = self.box(i + 1)
        rest = below(self.volume(i) - self.volume(i + 1), noise)
        for j, ((a, b), (c, d)) in enumerate(zip(outer, inner, strict=True)):
            for side in ((a, c), (d, b)):
                slab = [*inner[:j], side, *outer[j + 1 :]]
                rest -= math.prod(high - low for low, high in slab)
                if rest < 0:
                    return slab
        raise AssertionError("the slabs do not fill the shell")
