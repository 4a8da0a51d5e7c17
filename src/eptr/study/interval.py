"""Interval arithmetic with exact ends, rounded outwards: the range of a formula's column from those of its inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ..errors import BoundError

__all__ = ["Interval"]

# A function of the mathematical library is right to a unit in the last place; ends move by twice that.
_ULPS = 2
_MOST_POWER = 16


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from ``low`` to ``high``."""

    low: float
    high: float

    @classmethod
    def _around(cls, ends: list[Fraction], what: str) -> Interval:
        try:
            return cls(_down(min(ends)), -_down(-max(ends)))
        except OverflowError:
            raise BoundError(f"{what} is too large on the declared ranges; rescale it.") from None

    def __add__(self, other: Interval) -> Interval:
        (a, b), (c, d) = self._exact(), other._exact()
        return self._around([a + c, b + d], "a sum")

    def __sub__(self, other: Interval) -> Interval:
        (a, b), (c, d) = self._exact(), other._exact()
        return self._around([a - d, b - c], "a difference")

    def __mul__(self, other: Interval) -> Interval:
        return self._around([a * c for a in self._exact() for c in other._exact()], "a product")

    def __truediv__(self, other: Interval) -> Interval:
        if other.low <= 0.0 <= other.high:
            raise BoundError(
                "the formula divides by a column whose declared range holds 0; narrow the range, or add to it."
            )
        return self._around([a / c for a in self._exact() for c in other._exact()], "a quotient")

    def __pow__(self, power: float) -> Interval:
        if power != int(power):
            if self.low < 0.0 or power < 0.0:
                raise BoundError(
                    "a power that is no whole number needs a declared range from 0 on, and must be above 0."
                )
            return self._by(lambda x: x**power)
        if not 0 <= power <= _MOST_POWER:
            raise BoundError(f"powers must be numbers from 0 to {_MOST_POWER}, got {power:g}.")
        ends = [end ** int(power) for end in self._exact()]
        if power and int(power) % 2 == 0 and self.low < 0.0 < self.high:
            ends.append(Fraction(0))
        return self._around(ends, "a power")

    def abs(self) -> Interval:
        ends = [abs(end) for end in self._exact()]
        return self._around([*ends, Fraction(0)] if self.low < 0.0 < self.high else ends, "a size")

    def log(self, name: str, function: Callable[[float], float], least: float = 0.0) -> Interval:
        """Of a logarithm that exists above ``least``."""
        if self.low <= least:
            raise BoundError(
                f"{name} needs values above {least:g}, and the declared range reaches {self.low:g}; declare a larger low end, or "
                f"write {name}(column + 1)."
            )
        return self._by(function)

    def sqrt(self) -> Interval:
        if self.low < 0.0:
            raise BoundError(
                f"sqrt needs values from 0 on, and the declared range reaches {self.low:g}; declare low = 0."
            )
        return self._by(math.sqrt)

    def exp(self) -> Interval:
        return self._by(math.exp)

    def _by(self, rising: Callable[[float], float]) -> Interval:
        """Of a function that rises."""
        try:
            low, high = rising(self.low), rising(self.high)
        except OverflowError:
            raise BoundError("a function in the formula is too large on the declared ranges; rescale it.") from None
        for _ in range(_ULPS):
            # What a function has as 0 is 0: log(1), sqrt(0).
            low, high = low and math.nextafter(low, -math.inf), high and math.nextafter(high, math.inf)
        return Interval(low, high)

    def _exact(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.low), Fraction(self.high)


def _down(value: Fraction) -> float:
    """The largest float that is not above."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)
