"""Where noise rules and columns have ranges: sums of each class, measured from a corner of the ranges.  Proof: corner.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Shape
from ...privacy.spending import Portion
from ...rows.engine import Rows
from ...rows.exact import product_grid, project, shrink_factors
from ...rows.namespace import like, namespace
from ..columns import Columns
from ..shrinking import posterior
from .likelihood import Classes

__all__ = ["Corner", "Directed"]

Array = NDArray[np.float64]
LOOKS = 0.5, 0.5  # share of each; the next is in proportion to what is left to learn
CHEAPER = 2.0 / 3.0  # squared noise of sums from the corner, in units of those of centred rows, at which they are made
CUT = 0.7  # rows are shortened to this multiple of their root mean square length ...
RULER, SHORTEST = 0.15, 0.3  # ... with a constant of so many of these lengths, which says by how much; at most to this
LEAST = 0.1  # of the squared length of a row: what centred columns may have at least


@dataclass(frozen=True, slots=True)
class Directed:
    """Slopes of discriminant analysis and the middle of the columns."""

    slopes: Array  # those that rise from the corner and those that fall, a row for each of the mixture
    middle: Array
    variance: float  # of their noise


@dataclass(frozen=True, slots=True)
class Corner:
    """Columns as they were standardised; each is measured from an end of its range if that makes rows cheaper. proof: corner"""

    sign: Array  # 1 from the lower end, -1 from the upper one, 0 from its centre
    offset: Array  # added to a column times its sign
    square: Array  # mean square, as it is measured
    variance: Array
    width: Array  # of the range
    two: NDArray[np.bool_]  # columns of two values, whose variance follows from their mean

    @classmethod
    def of(cls, columns: Columns) -> Corner:
        low, high = (columns.centre - columns.low) / columns.scale, (columns.high - columns.centre) / columns.scale
        nearer = np.minimum(low, high)
        known = np.where(np.isnan(columns.variance), 1.0, columns.variance)
        variance = np.where(columns.two, nearer * np.maximum(low, high), known)
        sign = np.where(nearer**2 <= variance, np.where(low <= high, 1.0, -1.0), 0.0)
        offset = np.where(sign == 0.0, 0.0, nearer)
        return cls(sign, offset, variance + offset**2, variance, low + high, columns.two)

    def if_cheap(self) -> Corner | None:
        """Itself, if sums from there are so much cheaper than centred ones that steps are not missed. proof: worth"""
        price = np.sum(self.square * np.where(self.sign == 0.0, 2.0, 1.0))
        return self if price < CHEAPER * 2.0 * np.sum(self.variance) else None

    def direction(self, rows: Rows, model: Classes, spending: Portion, share: float) -> Directed:
        """Looks at the sums of every class, each longest where the ones before leave most to be learnt. proof: looks"""
        n, weights = rows.n, np.ones(len(self.sign))
        apart = model.mix @ (np.eye(len(model.shares)) - model.shares[:, None])[-model.mix.shape[1] :]
        told, precision, square = np.zeros((len(model.shares), len(weights))), np.zeros(len(weights)), self.square
        for part in LOOKS:
            noisy, noise = self.sums(rows, weights, square, len(model.shares), spending, share * part)
            told, precision = told + noisy * weights / noise**2, precision + (weights / noise) ** 2
            means = told / (n * precision)
            mean, doubt = np.sum(means, axis=0), len(means) / (n**2 * precision)
            spread = np.where(self.two, mean * (self.width - mean), self.variance)
            spread = np.maximum(spread, self.width * np.sqrt(doubt))  # what is less cannot be told from it
            square = np.where(self.two, spread + mean**2, square)
            each = np.outer(np.sum(apart**2, axis=1), 1.0 / (n**2 * precision)) / spread
            effect, left = posterior((apart @ means) / np.sqrt(spread), each)
            price = np.sum(apart**2) * (noise / n) ** 2 / np.sum(weights**2 * square)
            weights = np.sqrt(filled(np.sum(left, axis=0), price) / spread)
        slopes = effect / np.sqrt(spread)
        sides = np.where(self.sign == 0.0, 1.0, self.sign)
        halves = np.stack([np.maximum(slopes, 0.0), np.minimum(slopes, 0.0)])
        return Directed(halves * sides, sides * (mean - self.offset), float(np.mean(each / spread)))

    def sums(
        self, rows: Rows, weights: Array, square: Array, classes: int, spending: Portion, share: float
    ) -> tuple[Array, float]:
        """Noisy sums of weighted rows, by class, as long as if none had been shortened; and the noise. proof: corner"""
        loose, long = self.sign == 0.0, weights**2 * square
        radius = CUT * math.sqrt(np.sum(long))
        inner = CUT * math.sqrt(max(np.sum(long[loose]), LEAST * np.sum(long))) if loose.any() else 0.0
        slope, offset = np.where(loose, 1.0, self.sign) * weights, self.offset * weights
        ruler, grid = RULER * radius, product_grid(rows.n, radius)

        def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp = namespace(x)
            x = x * like(slope, x) + like(offset, x)
            x = xp.where(like(loose, x), x, xp.clip(x, 0.0, None))
            centred = shrink_factors(xp.where(like(loose, x), x, 0.0), inner, grid) if 0.0 < inner < radius else None
            x = x if centred is None else xp.where(like(loose, x), x * centred[:, None], x)
            x = (np.concatenate if xp is np else xp.concat)([x, ruler * xp.ones_like(x[:, :1])], axis=1)
            x = x if keep is None else xp.where(keep[:, None], x, 0.0)
            z = project(x, shrink_factors(x, radius, grid), grid, nearest=True)
            mine = [xp.where(y == float(k), xp.ones_like(y), 0.0) for k in range(classes)]
            return (xp.stack(mine) @ z,)  # a row that is dropped is zero, whatever its class

        (found,) = rows.sum(block)
        shape = Shape(math.sqrt(2.0 * (radius**2 + inner**2)) * (1.0 + 1e-15), radius)
        noisy, noise = spending.noisy(found * grid, shape, share), spending.scale(shape, share)  # proof: corner
        short = min(max(float(np.sum(noisy[:, -1])) / (rows.n * ruler), SHORTEST), 1.0)
        return noisy[:, :-1] / short, noise / short


def filled(left: Array, price: float) -> Array:
    """Precision for numbers of such variances, 1/price in all, so that what is left of them is least. proof: looks"""
    known = np.sort(1.0 / np.maximum(left, 1e-300))
    levels = (1.0 / price + np.cumsum(known)) / np.arange(1, len(known) + 1)
    level = levels[max(int(np.sum(levels > known)) - 1, 0)]
    return np.asarray(np.maximum(level - 1.0 / np.maximum(left, 1e-300), 0.0))
