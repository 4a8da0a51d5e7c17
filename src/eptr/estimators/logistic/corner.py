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
CHEAPER = 2.0 / 3.0  # squared noise of sums from the corner, in units of those of centred rows, at which they are made
CUT = 0.7  # rows are shortened to this multiple of their root mean square length ...
RULER, SHORTEST = 0.15, 0.3  # ... with a constant of so many of these lengths, which says by how much; at most to this
LEAST = 0.1  # of the squared length of a row: what centred columns may have at least


@dataclass(frozen=True, slots=True)
class Directed:
    """Slopes of discriminant analysis, as if columns had nothing to do with one another."""

    slopes: Array  # those that rise from the corner and those that fall, a row for each of the mixture
    spread: Array  # variance of each column
    variance: float  # of the noise of slopes


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

    def look(self, rows: Rows, model: Classes, spending: Portion, share: float) -> Directed:
        """At the sums of every class. proof: look"""
        n, shares, mix = rows.n, model.shares, model.mix
        noisy, noise = self.sums(rows, len(shares), spending, share)
        means, noise = noisy / n, noise / n
        spread = np.where(self.two, np.sum(means, axis=0) * (self.width - np.sum(means, axis=0)), self.variance)
        # What is less than the noise cannot be told from it.
        spread = np.maximum(spread, self.width * noise * math.sqrt(len(shares)))
        apart = mix @ (np.eye(len(shares)) - shares[:, None])[-mix.shape[1] :]
        each = np.outer(np.sum(apart**2, axis=1), noise**2 / spread)
        effect, _ = posterior((apart @ means) / np.sqrt(spread), each)
        slopes = effect / np.sqrt(spread)
        halves = np.stack([np.maximum(slopes, 0.0), np.minimum(slopes, 0.0)])
        return Directed(halves * np.where(self.sign == 0.0, 1.0, self.sign), spread, float(np.mean(each / spread)))

    def sums(self, rows: Rows, classes: int, spending: Portion, share: float) -> tuple[Array, float]:
        """Noisy sums of rows, by class, as long as if none had been shortened; and the noise. proof: corner"""
        loose, total = self.sign == 0.0, float(np.sum(self.square))
        radius = CUT * math.sqrt(total)
        inner = CUT * math.sqrt(max(float(np.sum(self.square[loose])), LEAST * total)) if loose.any() else 0.0
        slope = np.where(loose, 1.0, self.sign)
        ruler, grid = RULER * radius, product_grid(rows.n, radius)

        def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp = namespace(x)
            x = x * like(slope, x) + like(self.offset, x)
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
