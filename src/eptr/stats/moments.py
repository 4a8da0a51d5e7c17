"""Counts and power sums of clipped rows, by group, in one release.  Proof: moments.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Shape
from ..privacy.spending import Portion
from ..rows.engine import Rows
from ..rows.exact import project, shrink_factors, sum_grid
from ..rows.namespace import doubles, like, namespace, whole, widened

__all__ = ["Moments", "Weights", "members", "moments", "within"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """What a row adds to its group: count, and weighted powers of u, |u| <= 1; count = 0 where it is public.

    Whole multiples of 1/32, so that weighted sums are as exact as the sums.
    """

    count: float
    mean: float
    square: float
    third: float = 0.0
    fourth: float = 0.0

    def powers(self) -> dict[int, float]:
        """Those that are asked for, and their weights."""
        listed = enumerate((self.mean, self.square, self.third, self.fourth), start=1)
        return {power: weight for power, weight in listed if weight}

    def contribution(self, columns: int, n: int) -> Shape:
        """The set of all these points, for n rows. proof: weights"""
        apart = 1.0 if columns == 1 else 2.0  # of two points p = u^2 with sum at most 1, squared
        distance = math.hypot(self.count, *self.powers().values())
        diameter = 2.0 * self.mean
        if self.square > 0.5 * self.mean or self.third or self.fourth:
            odd, even = self.mean**2 + self.third**2, self.square**2 + self.fourth**2
            diameter = math.sqrt(4.0 * odd + apart * even)
        diameter = max(diameter, math.sqrt(2.0) * distance) if self.count else diameter
        slack = 12.0 * (sum_grid(n, 1.0) + 2.0**-50) * math.sqrt(columns)  # powers on their grid. proof: rounding
        return Shape(diameter + slack, distance + slack)


@dataclass(frozen=True, slots=True)
class Moments:
    """Released for every group: its count (exact where it is public) and the means of the powers of u, with their noise."""

    counts: Array  # (groups, 1)
    powers: dict[int, Array]  # (groups, columns) each
    noise: dict[int, Array]  # standard deviations, the uncertain count included
    few: NDArray[np.bool_]  # (groups, 1): whether noise hides that there are any rows, so that nothing is known


def moments(
    rows: Rows,
    groups: int,
    centre: Array,
    scale: Array,
    bounds: Array,
    weights: Weights,
    spending: Portion,
    share: float,
) -> Moments:
    """u = (x - centre)/scale, x within the bounds, brought into the unit ball. proof: moments"""
    d, grid = rows.n_features, sum_grid(rows.n, 1.0)
    chosen = weights.powers()

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp, u = namespace(x), within(x, keep, bounds, centre, scale)
        units = {1: project(u, shrink_factors(u, 1.0), grid)}
        for power in range(2, max(chosen) + 1):
            units[power] = whole(units[power - 1] * units[1] * grid)
        member = members(u, y, keep, groups)
        sums = [member @ units[power] * grid for power in chosen]
        return (*sums, xp.sum(member, axis=1)[:, None]) if weights.count else tuple(sums)

    sums = rows.sum(block)
    parts = [weight * total for weight, total in zip(chosen.values(), sums, strict=False)]
    parts += [weights.count * sums[-1]] if weights.count else []
    contribution = weights.contribution(d, rows.n)
    released = spending.noisy(np.concatenate(parts, axis=1), contribution, share)
    sd = spending.scale(contribution, share)
    counts, least = np.full((groups, 1), float(rows.n)), 1.0
    if weights.count:
        counts, least = released[:, -1:] / weights.count, max(2.0 * sd / weights.count, 1.0)
    few, counts = counts < least, np.maximum(counts, least)
    means = {p: released[:, k * d : (k + 1) * d] / w / counts for k, (p, w) in enumerate(chosen.items())}
    blur = sd / weights.count if weights.count else 0.0
    noise = {p: np.hypot(sd / w, blur * np.clip(means[p], -1.0, 1.0)) / counts for p, w in chosen.items()}
    return Moments(counts, means, noise, few)


def within(x: Any, keep: Any, bounds: Array, centre: Array, scale: Array) -> Any:
    """u = (x - centre)/scale, x within the bounds, and 0 for a row that is dropped."""
    xp, (low, high, middle, factor) = namespace(x), (like(v, x) for v in (*bounds.T, centre, 1.0 / scale))
    wide, low, high, middle, factor = widened(x, low, high, middle, factor)
    u = xp.minimum(xp.maximum(wide, low), high)
    u -= middle
    u *= factor
    u = xp.reshape(u, x.shape)
    return u if keep is None else xp.where(keep[:, None], u, xp.zeros_like(u))


def members(u: Any, y: Any, keep: Any, groups: int) -> Any:
    """One row of 0 and 1 per group."""
    xp = namespace(u)
    flags = [doubles(y == k) for k in range(groups)] if groups > 1 else [xp.ones_like(u[:, 0])]
    member = xp.stack(flags)
    return member if keep is None else xp.where(keep, member, xp.zeros_like(member))
