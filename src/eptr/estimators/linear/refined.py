"""Least squares by private preconditioned steps: near non-private accuracy, no refusal.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball, Box, Interval, Outer
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ...rows.exact import shrink_factors, sum_grid, toward_zero
from ...rows.namespace import like, namespace, squares, whole
from ..quantile import RADIUS_SHARE, private_quantile, private_radius, row_norms, target_sizes
from ..strategy import NoisySums
from .bounds import moments
from .inference import RefinedFit, dominated, standard_errors
from .problem import LeastSquares, RegressionFitted

__all__ = ["Refined", "refined_fit"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
STEPS = ((120.0, 4), (220.0, 3), (math.inf, 1))  # steps while sqrt(n) mu is below; the last from a warm start
GRAM_SHARE = 0.20
SQUARE_SHARE = 0.02  # on y'y, which sets the clipping of the first step
CROSS_SHARE = 0.10  # on X'y for a warm start
WARM_CLIP = 3.0  # its one step clips at this multiple of sqrt(p sigma^2)
QUANTILE_SHARE = 0.06  # on a quantile of the gradient norms, which sets that of the others
SPREAD_SHARE = 0.02
GROWTH = 2.0  # each step has this much more budget than the one before
LEVEL = 0.70  # quantile of the gradient norms at which they are clipped ...
LEVEL_RATE = 6.0  # ... or 1 - LEVEL_RATE/(sqrt(n) mu), whichever is larger: little noise needs little clipping
FIRST_CLIP = (2.0, 5.0, 40.0)  # the first step clips at sqrt(n) mu/40, within [2, 5], times sqrt(p mean(y^2))
FLOOR = 1.5  # eigenvalues of the noisy Gram matrix are floored at FLOOR sd sqrt(p)
REACH = 16.0  # the steps see y up to this multiple of its bound; clipping gradients is what bounds a row's influence
_ROW_BITS = 26


class Refined(NoisySums):
    """Steps of private gradient descent on the noisy normal equations, with standard errors from the same release."""

    def planned_noise(self, public: LeastSquares) -> float:
        """On a coefficient of a column of unit size, if residuals are a third of y_bound and clipped at 1.5 times that."""
        clip = Ball(1.5 * math.sqrt(public.numbers) * public.y_bound / 3.0)
        mu = public.budget.mu
        return clip.scale(public.unit, mu * math.sqrt(_step_shares(math.sqrt(public.n) * mu)[-1])) / public.n

    def fit(self, rows: Rows, public: LeastSquares, spending: Spending) -> RegressionFitted:
        """Buy the bounds that are to be bought, then spend the rest on the steps."""
        statistics = {"x_bound": row_norms, "y_bound": target_sizes}
        bought: dict[str, Any] = {name: private_radius(rows, statistics[name], spending) for name in public.to_buy}
        public, left = replace(public, **bought), spending.within(1.0 - RADIUS_SHARE * len(bought))
        found = refined_fit(rows, public.x_bound, public.y_bound, public.constant, left)
        scaling = public.scaling
        spread = math.sqrt(float(np.mean(np.sum(found.whitening**2, axis=1))))  # of a coefficient per whitened unit
        beta = found.coefficients * scaling
        return RegressionFitted(
            value=beta,
            noise=found.noise[-1] * spread,
            covariance=scaling[:, None] * standard_errors(found, rows.n) * scaling,
            residual_scale=math.sqrt(found.spread) / found.slope,
            noisy_directions=int(dominated(found).sum()),
            **public.named(beta),
            **public.stated,
        )


def refined_fit(rows: Rows, x_bound: float, y_bound: float, constant: float | None, spending: Portion) -> RefinedFit:
    """T passes over the rows; every pass releases one bounded sum. The whole costs the portion. proof: composition"""
    n, p = rows.n, rows.n_features + (constant is not None)
    norm = math.hypot(x_bound, constant or 0.0)
    clarity = math.sqrt(n) * spending.mu
    step_shares = _step_shares(clarity)
    steps = len(step_shares)
    warm = steps == 1

    outer, square_of_y = Outer(norm, p), Interval(0.0, y_bound**2)
    gram_noise, square_noise = spending.scale(outer, GRAM_SHARE), spending.scale(square_of_y, SQUARE_SHARE)
    sums = moments(rows, x_bound, y_bound, constant)
    gram = spending.noisy(sums.gram, outer, GRAM_SHARE)  # proof: gram
    square = float(spending.noisy(sums.square, square_of_y, SQUARE_SHARE))  # proof: square
    eigenvalues, vectors = np.linalg.eigh(gram)
    floored = np.maximum(eigenvalues, FLOOR * gram_noise * math.sqrt(p))
    bits = _ROW_BITS - math.ceil(math.log2(p + 1))
    whitening = _round_public((vectors * np.sqrt(n / floored)) @ vectors.T, bits)
    shrink = np.clip(eigenvalues / floored, 0.05, 1.0)

    largest = math.sqrt(n / float(floored[0])) * norm * y_bound
    level = 1.0 - min(1.0 - LEVEL, LEVEL_RATE / clarity)
    phi, scales = np.zeros(p), []
    least, most, rate = FIRST_CLIP
    clip = min(max(clarity / rate, least), most) * math.sqrt(p * max(square / n, 1e-4 * y_bound**2))
    if warm:
        # Clear data: solve the noisy normal equations and improve on them once, instead of starting from zero.
        products = Ball(norm * y_bound)
        cross_noise = spending.scale(products, CROSS_SHARE)
        phi = whitening.T @ spending.noisy(sums.cross, products, CROSS_SHARE) / n  # proof: cross
        rest = square - n * float(phi @ phi)  # the residual sum of squares of that solution, up to noise
        doubt = square_noise + float(np.linalg.norm(whitening @ phi)) * cross_noise
        clip = WARM_CLIP * math.sqrt(p * max(rest, 2.0 * doubt) / n)
        scales.append(cross_noise * math.sqrt(float(np.mean(n / floored))) / n)
    spread = slope = 1.0
    for t, share in enumerate(step_shares):
        gradient = _Gradient(x_bound, y_bound, constant, whitening, _round_public(whitening @ phi, bits))
        if t == 1:
            clip = private_quantile(
                rows,
                gradient.norm,
                level,
                low=largest * 2.0**-20,
                high=largest,
                spending=spending,
                share=QUANTILE_SHARE,
            )
        total, shape = gradient.clipped_sum(rows, clip, with_shape=t == steps - 1)
        if t == steps - 1:
            # Both summands of `shape` lie in [0, 1]. proof: spread
            noisy = spending.noisy(shape, Box(2), SPREAD_SHARE) / n
            spread = max(float(noisy[0]), 1.0 / n) * clip**2 / p
            slope = float(np.clip(2.0 * noisy[1], 0.3, 1.0))
        scales.append(spending.scale(Ball(clip), float(share)) / n)
        phi = phi + spending.noisy(total, Ball(clip), float(share)) / n  # proof: gradient
    mean_square = max(square + 2.0 * square_noise, 0.0) / n
    return RefinedFit(
        whitening @ phi, gram, whitening, tuple(scales), spread, slope, shrink, floored, gram_noise, mean_square
    )


def _step_shares(clarity: float) -> Array:
    """What each step costs; their number follows from sqrt(n) mu alone."""
    steps = next(count for below, count in STEPS if clarity < below)
    start_share = CROSS_SHARE if steps == 1 else QUANTILE_SHARE
    weights = GROWTH ** np.arange(steps)
    return np.asarray((1.0 - GRAM_SHARE - SQUARE_SHARE - start_share - SPREAD_SHARE) * weights / weights.sum())


def _round_public(values: Array, bits: int) -> Array:
    """A released number on a grid so coarse that products with quantised rows add without rounding. proof: bits"""
    top = float(np.max(np.abs(values), initial=0.0))
    grid = 2.0 ** (math.frexp(top)[1] - bits) if top > 0.0 else 1.0
    return np.asarray(np.rint(values / grid) * grid)


class _Gradient:
    """Whitened gradients z (y - z'phi) at released parameters, clipped jointly to a norm."""

    def __init__(self, x_bound: float, y_bound: float, constant: float | None, whitening: Array, theta: Array) -> None:
        self.grid = 2.0 ** (math.frexp(max(x_bound, constant or 0.0))[1] - _ROW_BITS)
        self.x_bound, self.y_limit = x_bound, REACH * y_bound
        self.p = len(whitening)
        # Rows and the constant enter as integers, so the grid is folded in here.
        self.column = None if constant is None else float(math.trunc(constant / self.grid))
        self.map, self.slopes = whitening.T * self.grid, theta * self.grid

    def _parts(self, x: Any, y: Any, keep: Any = None) -> tuple[Any, Any, Any]:
        """z (one *column* per row, so that what follows is contiguous), the residual and |z|.

        A row beyond the bound is shortened together with its y and its constant: weighted least squares, whose
        weights depend on x alone, so nothing is biased. The dot products are exact, the rest is element-wise. proof: bits
        """
        xp, p, shorten = namespace(x), x.shape[1], shrink_factors(x, self.x_bound)
        units = whole(x * (1.0 / self.grid if shorten is None else (shorten / self.grid)[:, None]), nearest=True)
        fitted, z = units @ like(self.slopes[:p], x), like(self.map[:, :p], x) @ units.T
        if self.column is not None:
            constant = self.column if shorten is None else whole(shorten * self.column, nearest=True)
            fitted += constant * float(self.slopes[p])
            z += like(self.map[:, p:], x) * constant
        residual = xp.clip(y, -self.y_limit, self.y_limit)
        if shorten is not None:
            residual *= shorten
        residual -= fitted
        if keep is not None:
            residual = xp.where(keep, residual, 0.0)
        return z, residual, xp.sqrt(squares(z, 0))

    def norm(self, x: Any, y: Any) -> Any:
        _, residual, size = self._parts(x, y)
        return size * abs(residual)

    def clipped_sum(self, rows: Rows, clip: float, *, with_shape: bool = True) -> tuple[Array, Array]:
        """Sum of clipped gradients, and of (|gradient|^2/clip^2, min(|z|^2/2p, 1) if unclipped) if asked for."""
        grid, unit = sum_grid(rows.n, clip), sum_grid(rows.n, 1.0)
        safe = clip * (1.0 - (self.p + 16) * 2.0**-52)

        def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            xp = namespace(x)
            z, residual, size = self._parts(x, y, keep)
            norm = size * abs(residual)
            with np.errstate(divide="ignore"):
                factor = xp.clip(safe / norm, None, 1.0)
            z *= residual * factor / grid  # in units of the grid, a power of two
            total = grid * xp.sum(whole(z), axis=1)
            if not with_shape:
                return (total,)
            share = xp.clip(norm / safe, None, 1.0)
            inside = xp.where(norm < safe, xp.clip(size * size / (2.0 * self.p), None, 1.0), 0.0)
            if keep is not None:
                inside = xp.where(keep, inside, 0.0)
            return total, xp.sum(xp.stack([toward_zero(share * share, unit), toward_zero(inside, unit)]), axis=1)

        total, *shape = rows.sum(block)
        return total, shape[0] if shape else np.zeros(2)
