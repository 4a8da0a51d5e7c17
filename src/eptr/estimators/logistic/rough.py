"""Where noise rules: steps among all columns, then among those that stand out, then along what was found.  Proof: rough.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball
from ...privacy.spending import Portion
from ..descent import Solution
from ..gradient import ROW_BITS, Bands, Curvature, Spread, round_public
from .newton import ARRIVING, LEVERAGE, WITHIN_SHARE, Newton

__all__ = ["Rough"]

Array = NDArray[np.float64]

# By trial on simulated data alone; benchmarks/logistic.py measures what they give. Shares are of mu^2.
CLIP, RATE = (0.7, 2.0), 0.2  # cut between these multiples of sqrt(p), at this over the root of the rows beyond bands
FADING = 0.5  # curvature by which a step is taken to undo the noise of earlier ones
WITHIN = 0.35, 0.65  # of what is spent along the lines found, on each step
STEEPEST = 2.0  # steps are no shorter than one over this


class Rough(Newton):
    """Too few rows for bands."""

    cautious = False
    wide = 2.0

    def solve(self, phi: Array) -> Solution:
        """Steps cut short find coordinates and a direction; Newton's along that direction say how far to go. proof: within"""
        first, then = self.plan.steps[:ARRIVING], self.plan.steps[ARRIVING:]
        phi, noise = self.climb(phi, first)
        basis = self.standing_out(self.matrix(phi), noise, sum(first) / sum(then))
        some = self.along(basis, self.spending)
        found, more = some.climb((self.matrix(phi) @ basis).ravel(), then)
        phi = (some.matrix(found) @ basis.T).ravel()
        lines = self.spanned(self.matrix(phi))
        last = self.along(lines, self.spending.within(WITHIN_SHARE))
        found = last.settle((self.matrix(phi) @ lines).ravel())
        self.touched |= some.touched or last.touched
        path = [(scale, np.eye(len(basis))) for scale in noise] + [(scale, basis @ basis.T) for scale in more]
        return replace(self.doubt(phi, path), phi=(last.matrix(found) @ lines.T).ravel())

    def short(self) -> float:
        """Where gradients are cut: the shorter the fewer rows there are for each number."""
        few = self.plan.outside / self.n
        return min(max(RATE / math.sqrt(few), CLIP[0]), CLIP[1]) * math.sqrt(self.p)

    def along(self, basis: Array, spending: Portion) -> Rough:
        """The same model in few directions; rows are seen through them, so their gradients are shorter."""
        bits = ROW_BITS - math.ceil(math.log2(len(basis) + 1))
        seen = replace(self.whitening, matrix=round_public(self.whitening.matrix @ basis, bits))
        outside = self.plan.outside * math.sqrt(basis.shape[1] / len(basis))
        plan = replace(self.plan, outside=outside, leverage=LEVERAGE * basis.shape[1] * self.columns)
        return Rough(self.likelihood, self.rows, self.x_bound, self.constant, seen, spending, plan, self.largest)

    def spanned(self, *vectors: Array) -> Array:
        """An orthonormal basis of such rows and the constant."""
        constant = [] if self.constant is None else [self.direction]
        return np.asarray(np.linalg.qr(np.vstack([*constant, *vectors]).T)[0])

    def standing_out(self, found: Array, noise: list[float], ratio: float) -> Array:
        """A basis of the coordinates worth more steps, what was found in the others, and the constant. proof: within

        k of p coordinates have gradients sqrt(k/p) as long. Left alone, one costs its noise or what it is beyond that.
        """
        fade = (1.0 - FADING * self.length) ** 2
        each = self.length**2 * sum(scale**2 * fade**age for age, scale in enumerate(reversed(noise)))
        slopes, p = found, found.shape[1]
        if self.constant is not None:
            u = self.direction / float(np.linalg.norm(self.direction))
            slopes = found - np.outer(found @ u, u)
        sizes = np.mean(slopes**2, axis=0)
        order = np.argsort(-sizes)
        alone = np.minimum(each, np.maximum(sizes[order] - each, 0.0))
        left = np.append(np.cumsum(alone[::-1])[::-1], 0.0)
        count = np.arange(p + 1)
        again = each * ratio * (count + 1.0 + len(found)) / p
        k = int(np.argmin(left + count / (1.0 / each + 1.0 / again)))
        if k + 1 + len(found) >= p:
            return np.eye(p)
        others = slopes.copy()
        others[:, order[:k]] = 0.0
        return self.spanned(np.eye(p)[order[:k]], others)

    def climb(self, phi: Array, steps: tuple[float, ...]) -> tuple[Array, list[float]]:
        """Clipped steps with such shares: where they end, and the noise of each. proof: step"""
        clip, noise = self.short(), []
        for share in steps:
            (total,) = self.at(phi).sums(self.rows, Bands((clip,)))
            noise.append(self.spending.scale(Ball(clip), share) / self.n)
            phi = self.inside(phi + self.length * self.spending.noisy(total[0], Ball(clip), share) / self.n)
        return phi, noise

    @property
    def length(self) -> float:
        """Of a step."""
        return 1.0 / min(max(self.steepest, 1.0), STEEPEST)

    def settle(self, phi: Array) -> Array:
        """Newton's steps, averaged by what was spent on each. proof: within"""
        ends = []
        for share in WITHIN:
            phi, _ = self.step(phi, share)
            ends.append(phi)
        return np.asarray(np.average(ends, axis=0, weights=WITHIN))

    def doubt(self, phi: Array, path: list[tuple[float, Array]]) -> Solution:
        """What clipped steps leave behind of the noise of each of them, and of the sample. proof: curvature

        ``path``: the noise of each step, and the directions it went in.
        """
        spread, bend = Spread(self.short()), Curvature(self.plan.leverage, self.short())
        total, inside = self.at(phi).sums(self.rows, spread, bend)
        curvature = self.curvature(bend, inside, self.plan.curvature)
        moment = self.outer(spread, total) / self.n  # proof: spread
        inverse, whole = np.linalg.inv(curvature), np.eye(self.columns)
        variance: Array = np.zeros_like(curvature)
        for scale, directions in path:
            within = np.kron(whole, directions)
            kept = np.eye(self.p) - self.length * within @ curvature
            variance = kept @ variance @ kept.T + (self.length * scale) ** 2 * within
        covariance = inverse @ moment @ inverse.T / self.n + variance
        return Solution(phi, covariance, math.sqrt(float(np.trace(variance)) / self.p), 1.0, False)
