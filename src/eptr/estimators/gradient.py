"""Whitened gradients of one row, and the bounded sums of them that a descent may ask for.  Proof: gradient.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Ball, Cell, Contribution, Interval, Outer, Together, WeightedOuter
from ..rows.engine import Rows
from ..rows.exact import product_grid, sum_grid, toward_zero
from ..rows.namespace import (
    at_least,
    at_most,
    clipped,
    inner,
    is_foreign,
    like,
    namespace,
    product,
    squares,
    times,
    to_numpy,
    whole,
    zero_unless,
)

__all__ = [
    "Bands",
    "Beyond",
    "Block",
    "Curvature",
    "Gradient",
    "Likelihood",
    "Norms",
    "Parts",
    "Residuals",
    "Slope",
    "Spread",
    "round_public",
]

Array = NDArray[np.float64]
ROW_BITS = 26
FEW = 4  # a band that less than one row in so many reaches is summed over these rows alone
LEAST = 1e-300  # instead of a length of zero, where something that is zero then is divided by it
REACH = 16.0  # rows are seen up to this multiple of their bound; clipping gradients is what bounds a row's influence


class Likelihood(Protocol):
    """What a model adds to the engine: how a row's residual follows from y and its linear predictor."""

    def mean(self, predictor: Any) -> Any:
        """Of y, as the model has it."""

    def residual(self, y: Any, mean: Any) -> Any:
        """The derivative r of the log likelihood; one row for each of several parameters a column has."""

    def roots(self, mean: Any) -> list[Any] | None:
        """Minus the second derivative, as arrays shaped like r whose outer products f f' add up to it; None means 1."""


class Block(NamedTuple):
    """Some rows: z (one *column* per row, so that what follows is contiguous), |z|, |z r|, r, and roots if asked for.

    Where r is a vector the gradient is the matrix r z', read row by row.
    """

    z: Any
    size: Any
    norm: Any
    residual: Any
    roots: list[Any] | None
    keep: Any | None


class Ask(Protocol):
    """A sum over rows, and what one row can contribute to each of its parts."""

    def __call__(self, block: Block, n: int) -> Any:
        """The exact sum over a block of rows."""

    def contributions(self, p: int) -> Sequence[Contribution]:
        """Of one row, part by part."""


@dataclass(frozen=True, slots=True)
class Bands:
    """z r, cut at the last of ``levels`` and split at the others: one vector a band, in a ball of the band's width."""

    levels: tuple[float, ...]

    def __call__(self, block: Block, n: int) -> Any:
        xp, rows = namespace(block.z), []
        low = 0.0
        for high in self.levels:
            z, norm, residual = block.z, block.norm, block.residual
            inside = xp.nonzero(norm > low)[0] if low > 0.0 else norm
            if FEW * inside.shape[0] < norm.shape[0]:  # few rows reach a higher band
                z, norm, residual = (
                    xp.take(z, inside, axis=1),
                    xp.take(norm, inside),
                    xp.take(residual, inside, axis=-1),
                )
            width = high - low
            # Less than the width by more than the roundings of a clipped gradient. proof: band
            safe, grid = width - _roundings(block) * high, sum_grid(n, width)
            factor = _band(norm, low, safe) / at_least(norm, LEAST)
            rows.append(grid * (whole(_gradients(z, residual * factor * (1.0 / grid))) @ xp.ones_like(norm)))
            low = high
        return xp.stack(rows)

    def contributions(self, p: int) -> list[Ball]:
        return [Ball(high - low) for low, high in zip((0.0, *self.levels), self.levels, strict=False)]


@dataclass(frozen=True, slots=True)
class Beyond:
    """How many rows have a gradient longer than ``level``. proof: counts"""

    level: float

    def __call__(self, block: Block, n: int) -> Any:
        xp = namespace(block.z)
        return xp.sum(
            xp.astype(block.norm > self.level, xp.float64) if is_foreign(block.z) else block.norm > self.level
        )

    def contributions(self, p: int) -> list[Contribution]:
        return [Interval(0.0, 1.0)]


@dataclass(frozen=True, slots=True)
class Slope:
    """How much a step cut at ``level`` moves with its parameters: min(|z|^2/2p, 1) over the rows that are not cut."""

    level: float

    def __call__(self, block: Block, n: int) -> Any:
        p, grid = block.z.shape[0], sum_grid(n, 1.0)
        share = at_most(block.size * block.size / (2.0 * p), 1.0)
        counts = block.norm <= self.level
        share = zero_unless(counts if block.keep is None else counts & block.keep, share)
        return namespace(block.z).sum(toward_zero(share, grid))

    def contributions(self, p: int) -> list[Contribution]:
        return [Interval(0.0, 1.0)]


@dataclass(frozen=True, slots=True)
class Residuals:
    """r itself, one number, moved between ``low`` <= 0 and ``high`` >= 0. proof: counts"""

    low: float
    high: float

    def __call__(self, block: Block, n: int) -> Any:
        grid = sum_grid(n, max(-self.low, self.high))
        cut = namespace(block.z).clip(block.residual, self.low, self.high)
        return namespace(block.z).sum(toward_zero(cut, grid))

    def contributions(self, p: int) -> list[Contribution]:
        return [Interval(self.low, self.high)]


@dataclass(frozen=True, slots=True)
class Norms:
    """How many rows have a gradient of each size: one of the cells that end at ``edges``, and those beyond in the last.

    ``rooted``: of a row of a curvature instead, sqrt(w) z.
    """

    edges: tuple[float, ...]
    rooted: bool = False

    def __call__(self, block: Block, n: int) -> Any:
        norm = block.norm
        if self.rooted:
            norm = block.size if block.roots is None else block.size * _lengths(*block.roots)
        norm = norm if block.keep is None else norm[block.keep]
        xp = namespace(norm)  # how many are at most so large, from sorted values; then differences
        below = to_numpy(xp.searchsorted(xp.sort(norm), like(np.array(self.edges[:-1]), norm), side="right"))
        return np.diff(below.astype(float), prepend=0.0, append=float(norm.shape[0]))

    def contributions(self, p: int) -> list[Contribution]:
        return [Cell()]


@dataclass(frozen=True, slots=True)
class Curvature:
    """w z z' over the rows whose gradient is no longer than ``below``, shortened so that w z'z is at most ``bound``."""

    bound: float
    below: float = math.inf

    def __call__(self, block: Block, n: int) -> Any:
        roots = block.roots
        radius = math.sqrt(self.bound) * (1.0 - _roundings(block))
        with np.errstate(divide="ignore"):
            factor = at_most(radius / (block.size if roots is None else block.size * _lengths(*roots)), 1.0)
        counts = None if math.isinf(self.below) else block.norm <= self.below
        if counts is None or block.keep is not None:
            counts = block.keep if counts is None else counts & block.keep
        factor = factor if counts is None else zero_unless(counts, factor)
        factors = [factor] if roots is None else [factor * root for root in roots]
        # So many rows for the grid: each of a row's factors adds an outer product. proof: outer
        return sum(_outer(block.z, each, math.sqrt(self.bound), n * len(factors)) for each in factors)

    def contributions(self, p: int) -> list[Contribution]:
        return [WeightedOuter(self.bound, p)]


@dataclass(frozen=True, slots=True)
class Spread:
    """v v' of gradients v = z r cut at ``level``; added up over the ``each`` rows of one person first, if that is not 1."""

    level: float
    each: int = 1

    def __call__(self, block: Block, n: int) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = at_most(self.level * (1.0 - _roundings(block)) / block.norm, 1.0)
        return _outer(block.z, zero_unless(block.norm > 0.0, block.residual * cut), self.level, n, self.each)

    def contributions(self, p: int) -> list[Contribution]:
        return [Outer(self.level, p) if self.each == 1 else Together(self.level * self.each, p)]  # proof: persons


@dataclass(frozen=True, slots=True)
class Parts:
    """Both :class:`Bands`, the first rows of what is returned, and :class:`Spread`, from the same whole numbers. proof: parts"""

    bands: Bands
    spread: Spread

    def __call__(self, block: Block, n: int) -> Any:
        xp, norm, columns = namespace(block.z), block.norm, 1 if block.residual.ndim == 1 else block.residual.shape[0]
        grid = product_grid(n, self.spread.level * self.spread.each)
        off = 0.5 * grid * math.sqrt(block.z.shape[0] * columns) * (1.0 + 1e-9)  # what rounding may add to a length
        longest = max(self.spread.level - off, 0.0) * (1.0 - _roundings(block))
        length = at_most(norm, longest)
        # Vectors end with the line they are made in: they are what memory there is beside z and the units.
        factor = block.residual * (length / at_least(norm, LEAST)) * (1.0 / grid)
        units = whole(_gradients(block.z, factor), nearest=True)
        length = at_least(length, LEAST)
        low, shares, most = 0.0, [], max(1.0, self.bands.levels[-1] / max(longest, LEAST))
        for high in self.bands.levels:
            width = high - low
            safe = max(width - off * most - _roundings(block) * high, 0.0)  # 0 if ``longest`` is
            shares.append(toward_zero(_band(norm, low, safe) / length, sum_grid(n, width) / grid))
            low = high
        found = (inner(xp.stack(shares), units) * grid, _products(units, self.spread.each) * grid**2)
        return (np.concatenate if xp is np else xp.concat)(found, axis=0)

    def contributions(self, p: int) -> list[Contribution]:
        return [*self.bands.contributions(p), *self.spread.contributions(p)]


def _band(norm: Any, low: float, width: float) -> Any:
    """How much of a length lies in a band."""
    return namespace(norm).clip(norm - low, 0.0, width) if low > 0.0 else at_most(norm, width)


def _outer(z: Any, factor: Any, radius: float, n: int, each: int = 1) -> Any:
    """Exact sum of f^2 z z' where |f z| <= radius: whole numbers on a grid, toward zero. proof: outer"""
    grid = product_grid(n, radius * each)
    return _products(whole(_gradients(z, factor * (1.0 / grid))), each) * grid**2


def _products(units: Any, each: int) -> Any:
    """Outer products of columns, added up by groups of so many first."""
    if each > 1:
        units = namespace(units).sum(namespace(units).reshape(units, (units.shape[0], -1, each)), axis=2)
    return inner(units)


def _gradients(z: Any, factor: Any) -> Any:
    """f z of every row; f z' read row by row where f is a vector."""
    if factor.ndim == 1:
        return times(z, factor)
    each = factor[:, None, :] * z[None, :, :]
    return namespace(z).reshape(each, (factor.shape[0] * z.shape[0], z.shape[1]))


def _lengths(*factors: Any) -> Any:
    """Of all factors of a row together: added in this order on every machine. proof: bits"""
    if len(factors) == 1 and factors[0].ndim == 1:
        return abs(factors[0])
    squared = [row * row for factor in factors for row in (factor[j, :] for j in range(factor.shape[0]))]
    return namespace(factors[0]).sqrt(sum(squared[1:], squared[0]))


def _roundings(block: Block) -> float:
    """More than the relative error of the computed length of a gradient, and of a cut one. proof: band"""
    columns = 1 if block.residual.ndim == 1 else block.residual.shape[0]
    roots = len(block.roots or ())
    return float((block.z.shape[0] + 15 + columns * max(roots, 1)) * 2.0**-52)


class Gradient:
    """z r at released parameters: z = W'(x, constant), r the residual at the predictor (x, constant)'theta.

    Dot products are of whole numbers, so they are exact on every machine; the rest is element by element. proof: bits
    """

    def __init__(
        self, likelihood: Likelihood, x_bound: float, constant: float | None, whitening: Array, theta: Array
    ) -> None:
        self.likelihood = likelihood
        self.grid = 2.0 ** (math.frexp(max(REACH * x_bound, constant or 0.0))[1] - ROW_BITS)
        # Rows and the constant enter as whole numbers, so the grid is folded in here.
        self.column = None if constant is None else float(math.trunc(constant / self.grid))
        bits, slopes = ROW_BITS - math.ceil(math.log2(len(theta) + 1)), theta.T if theta.ndim == 2 else theta[None, :]
        # To z and, below it, to predictors: one product of matrices for both.
        self.map = np.vstack([whitening.T, round_public(slopes, bits)]) * self.grid
        self.size, self.several = whitening.shape[1], theta.ndim == 2
        self.far = True  # whether a value may lie beyond REACH times the bound

    def block(self, x: Any, y: Any, keep: Any, *, rooted: bool = True) -> Block:
        """Whitened rows and their residuals; a value beyond REACH times the bound is moved to that edge."""
        xp, p = namespace(x), x.shape[1]
        units = times(x, 1.0 / self.grid)
        units = whole(clipped(units, 2.0**ROW_BITS) if self.far else units, nearest=True)
        found = product(like(self.map[:, :p], x), units.T)
        del units  # memory that z times a factor takes next
        if self.column is not None:
            found += like(self.map[:, p:] * self.column, x)
        z = found[: self.size, :]
        mean = self.likelihood.mean(found[self.size :, :] if self.several else found[self.size, :])
        roots, residual = self.likelihood.roots(mean) if rooted else None, self.likelihood.residual(y, mean)
        if keep is not None:
            residual = xp.where(keep, residual, 0.0)
        size = xp.sqrt(squares(z, 0))
        return Block(z, size, size * _lengths(residual), residual, roots, keep)

    def sums(self, rows: Rows, *asks: Ask) -> tuple[Array, ...]:
        """One pass over the rows for all that is asked."""
        n = rows.n  # what travels to the rows must not hold them
        self.far = getattr(rows, "largest", math.inf) > self.grid * 2.0**ROW_BITS
        rooted = any(isinstance(ask, Curvature) or (isinstance(ask, Norms) and ask.rooted) for ask in asks)

        def pass_(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            block = self.block(x, y, keep, rooted=rooted)
            return tuple(ask(block, n) for ask in asks)

        return rows.sum(pass_)


def round_public(values: Array, bits: int) -> Array:
    """A released number on a grid so coarse that products with quantised rows add without rounding. proof: bits"""
    top = float(np.max(np.abs(values), initial=0.0))
    grid = 2.0 ** (math.frexp(top)[1] - bits) if top > 0.0 else 1.0
    return np.asarray(np.rint(values / grid) * grid)
