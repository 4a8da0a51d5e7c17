"""Linear discriminant analysis: class shares, means and their common covariance in one Gaussian budget.  Proof: shared.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball, Cell, Gaussian, Outer
from ...privacy.spending import Portion, Spending
from ...privacy.unit import Unit
from ...rows.engine import Rows
from ...rows.exact import product_grid, project, shrink_factors
from ...rows.namespace import namespace
from ..columns import Columns, Standardised, standardise
from ..mapped import Mapped
from ..quantile import RADIUS_SHARE, private_quantile, row_norms
from ..ranges import buy_ranges
from ..whitening import whiten
from .bounds import from_centres, members
from .problem import BayesFitted, TestedClasses, drawn_together, into_ball, least_count, shrunk

__all__ = ["ClassProducts", "class_products", "discriminant", "planned_noise"]

Array = NDArray[np.float64]
# Shares are of mu^2. BEYOND and OUTSIDE: the least mean error on simulated rows, normal and with three degrees of freedom.
COLUMNS_SHARE = 0.04  # on means and second moments of raw columns
ROUGH_SHARE = 0.2  # on the first look, around which and in whose coordinates the second one is
ROUGH_LENGTH, BEYOND = 1.5, 0.8  # rows are shortened at ROUGH_LENGTH sqrt(p), then at sqrt(p) + BEYOND
# Little noise needs little cutting: OUTSIDE/(sqrt(n) mu) of the rows, by a private quantile of their lengths.
SPREAD_SHARE, OUTSIDE = 0.03, 2.5
NEAREST, FURTHEST, RATIO = 0.5, 64.0, 2.0**0.25  # in sqrt(p), and the ends of its cells
SHORTENED = 1.5  # times as much of a column as is left in rows that are cut, and that is put back
# Weights of sums and counts beside products: with COUNT = MEAN^2/2 counts cost nothing.
MEAN = 0.75
COUNT = MEAN**2 / 2.0


@dataclass(frozen=True, slots=True)
class ClassProducts(Outer):
    """COUNT and MEAN u in the cell of a row's class, and u u' for all classes together; |u| <= 1. proof: products"""

    def reach(self, relation: str) -> float:
        if relation == "replace-one":
            return math.sqrt(2.0) * (1.0 + COUNT) * (1.0 + 1e-15)
        return math.hypot(1.0, MEAN, COUNT) * (1.0 + 1e-15)

    def draw(self, values: Any, unit: Unit, mu: float, gaussian: Gaussian) -> Any:
        """The matrix has less noise off the diagonal; see :class:`Outer`."""
        scale, (counts, sums, square) = self.scale(unit, mu), values
        return (
            gaussian(counts, scale),
            gaussian(sums, scale),
            super(ClassProducts, self).draw(square, unit, mu, gaussian),
        )


@dataclass(frozen=True, slots=True)
class Look:
    """Released: sizes of classes, their means around given centres, all second moments there; and the noise of the last two."""

    counts: Array
    means: Array
    square: Array
    noise_means: Array  # by class
    noise: float  # on the diagonal

    @property
    def shares(self) -> Array:
        return np.asarray(self.counts / self.counts.sum())

    def within(self, means: Array) -> Array:
        """Second moments around the means."""
        return np.asarray(self.square - (means.T * self.shares) @ means)


def class_products(
    rows: Rows, classes: int, mapped: Mapped, centres: Array, radius: float
) -> tuple[Array, Array, Array]:
    """Counts, sums and products of mapped rows around the centre of their class, in units of the radius. proof: products"""
    grid = product_grid(rows.n, 1.0)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp, member = namespace(x), members(y, classes)
        u = from_centres(mapped(x), y, centres) * (1.0 / radius)
        if keep is not None:
            member, u = xp.where(keep, member, 0.0), xp.where(keep[:, None], u, xp.zeros_like(u))
        units = project(u, shrink_factors(u, 1.0, grid), grid, nearest=True)
        return xp.sum(member, axis=1), member @ units * grid, units.T @ units * grid**2

    counts, sums, square = rows.sum(block)
    return COUNT * counts, MEAN * sums, square


def look(
    rows: Rows, classes: int, mapped: Mapped, centres: Array, radius: float, spending: Portion, share: float
) -> Look:
    """Rows around the centre of their class, cut at ``radius``."""
    n, one = rows.n, ClassProducts(1.0, rows.n_features)
    counts, sums, square = spending.noisy(class_products(rows, classes, mapped, centres, radius), one, share)
    noise = spending.scale(one, share)
    counts = np.maximum(counts / COUNT, least_count(n, classes, noise / COUNT))
    total = min(max(float(counts.sum()), 0.1 * n), n)
    each = radius / (MEAN * counts)
    return Look(counts, sums * each[:, None], square * radius**2 / total, noise * each, noise * radius**2 / total)


def discriminant(rows: Rows, public: TestedClasses, spending: Spending) -> BayesFitted:
    """Two looks, the second in coordinates in which the first has covariance 1."""
    K, p, n, left = public.n_classes, public.n_features, rows.n, spending.within(1.0)
    if public.to_buy:
        public = replace(public, x_bound=None, x_range=buy_ranges(rows, spending, RADIUS_SHARE))
        left = spending.within(1.0 - RADIUS_SHARE)
    seen, columns, left = _seen(rows, public, left)
    unit = 1.0 if columns is not None else public.x_bound / math.sqrt(p)
    scale, centre = (columns.scale, columns.centre) if columns is not None else (np.full(p, unit), np.zeros(p))
    plain, zeros = Mapped(np.zeros(p), np.full(p, unit), np.eye(p), np.zeros(p)), np.zeros((K, p))
    radius = ROUGH_LENGTH * math.sqrt(p) if columns is not None else math.sqrt(p)
    first = look(seen, K, plain, zeros, radius, left, ROUGH_SHARE)
    centres = into_ball(drawn_together(first.means, first.counts, first.noise_means), radius)
    matrix = whiten(n * first.within(centres), n * first.noise, n).matrix

    whitened = replace(plain, matrix=matrix)
    matrix = whitened.matrix
    centres = centres @ matrix
    radius, spent = _radius(seen, whitened, centres, left)
    second = look(seen, K, whitened, centres, radius, left, 1.0 - ROUGH_SHARE - spent)
    root = whiten(n * second.within(shrunk(second.means, second.noise_means)), n * second.noise, n).matrix
    means = drawn_together(centres + second.means, second.counts, second.noise_means)
    if columns is not None:
        root = _put_back(root, matrix, means, second.shares, columns.variance)
    return _report(means, matrix, root, second, scale, centre, public, columns)


def _put_back(root: Array, matrix: Array, means: Array, shares: Array, variance: Array) -> Array:
    """The root of the precision, with what shortening took from columns of known variance. Post-processing. proof: lost"""
    back = np.linalg.inv(matrix)
    apart, deviation = (means - shares @ means) @ back.T, back @ np.linalg.inv(root)
    left = np.sum(deviation**2, axis=1) + shares @ apart**2
    lost = np.where(
        variance > SHORTENED * left, variance - left, 0.0
    )  # what all columns lose alike changes no direction
    if not np.any(lost):
        return root
    values, vectors = np.linalg.eigh(np.linalg.inv(root @ root) + (matrix.T * lost) @ matrix)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def _seen(rows: Rows, public: TestedClasses, spending: Portion) -> tuple[Rows, Columns | None, Portion]:
    """Rows in units of their columns, where ranges are known, and what is left of the budget."""
    if public.x_range is None:
        return rows, None, spending
    mu = _effective(spending)
    columns, left = standardise(rows, *public.x_range, None, None, spending, COLUMNS_SHARE, centred=True, mu=mu)
    return Standardised(rows, columns, 0.0), columns, left


def _effective(spending: Portion) -> float:
    """The mu at which replacing one row would need the same noise."""
    return 1.0 / spending.scale(Ball(0.5), 1.0)


def _radius(rows: Rows, whitened: Mapped, centres: Array, spending: Portion) -> tuple[float, float]:
    """Where the second look cuts rows, and the share it costs to know: that of normal rows, where rows are too few to ask."""
    p, n = rows.n_features, rows.n
    outside = min(OUTSIDE / (math.sqrt(n) * _effective(spending)), 0.5)
    count = math.log(FURTHEST / NEAREST) / math.log(RATIO)
    if outside * n < 2.0 * spending.scale(Cell(), SPREAD_SHARE) * math.sqrt(count):
        return math.sqrt(p) + BEYOND, 0.0
    norms = lambda x, y: row_norms(from_centres(whitened(x), y, centres), y)  # noqa: E731
    low, high = NEAREST * math.sqrt(p), FURTHEST * math.sqrt(p)
    found = private_quantile(
        rows, norms, 1.0 - outside, low=low, high=high, spending=spending, share=SPREAD_SHARE, ratio=RATIO
    )
    return found, SPREAD_SHARE


def _report(
    means: Array,
    matrix: Array,
    root: Array,
    found: Look,
    scale: Array,
    centre: Array,
    public: TestedClasses,
    columns: Columns | None,
) -> BayesFitted:
    """In the user's units, all of it post-processing: rows are ``matrix`` (x - centre)/scale, their precision is root^2."""
    back = scale[:, None] * np.linalg.inv(matrix)
    half = means @ root
    coef = (half @ root @ matrix) / scale
    deviation = back @ np.linalg.inv(root)
    noise = float(np.mean(found.noise_means)) * math.sqrt(float(np.mean(np.sum(back**2, axis=1))))
    return BayesFitted.of(
        centre + means @ back.T,
        found.shares,
        noise,
        x_bound=public.x_bound,
        x_range=None if public.x_range is None else np.column_stack(public.x_range),
        covariance=deviation @ deviation.T,
        coef=coef,
        intercept=np.log(found.shares) - 0.5 * (half**2).sum(axis=1) - coef @ centre,
        outside=None if columns is None else columns.outside,
    )


def planned_noise(public: TestedClasses) -> float:
    """On a mean of a class of average size, for columns that use a third of their range, or of norm x_bound together."""
    p, sizes = public.n_features, None if public.x_range is None else np.diff(public.x_range, axis=0) / 6.0
    column = public.x_bound / math.sqrt(p) if sizes is None else math.sqrt(float(np.mean(sizes**2)))
    mu = public.budget.mu * math.sqrt((1.0 - COLUMNS_SHARE) * (1.0 - ROUGH_SHARE))
    reach = ClassProducts(1.0, p).scale(public.unit, mu) / MEAN
    return float(reach * (math.sqrt(p) + BEYOND) * column * public.n_classes / public.n)
