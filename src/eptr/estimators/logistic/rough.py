"""Where noise rules: discriminant analysis, steps from there as far as they stand out, then how far to go.  Proof: rough.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball
from ...privacy.spending import Portion
from ..descent import Solution
from ..gradient import ROW_BITS, Bands, Curvature, Gradient, Spread, round_public
from ..shrinking import posterior_mean
from .corner import Corner
from .likelihood import Linear
from .newton import ARRIVING, LEVERAGE, Newton

__all__ = ["Rough"]

Array = NDArray[np.float64]
Path = list[float]  # the noise of each step

# By trial on simulated data alone; benchmarks/logistic.py measures what they give. Shares are of mu^2.
CLIP, RATE = (0.7, 2.0), 0.2  # cut between these multiples of sqrt(p), at this over the root of the rows beyond bands
LOUD = 0.03  # noise of all steps together beyond which they add nothing to discriminant analysis
LINES = 2.5  # p over so many for each line found: noise of steps in all directions, in units of Newton's along them
WITHIN = (0.35, 0.65), (1.0,)  # of that, on each of these; on one that begins at the sums of each class
WIDE = 2.0, 1.0  # where they are cut, and where all is loud
START_DOUBT = 0.6, 0.25  # of its length: what a start may be off; and that one
FADING = 0.5  # curvature by which a step is taken to undo the noise of earlier ones
STEEPEST = 2.0  # steps are no shorter than one over this


class Rough(Newton):
    """Too few rows for bands."""

    least, wide = 1.0, WIDE[0]
    within: tuple[float, ...] = WITHIN[0]
    unsure = START_DOUBT[0]
    corner: Corner | None = None  # of columns with ranges

    def solve(self, phi: Array) -> Solution:
        """A direction, from discriminant analysis and steps that are cut short; Newton's along it say how far to go."""
        total = math.fsum(self.plan.steps)
        loud = CLIP[0] * self.p * self.spending.scale(Ball(1.0), total) / self.n > LOUD
        cornered = loud and self.corner is not None
        within = 1.0 / (1.0 + self.p / (LINES * (2.0 + cornered)))
        shares, lines = [(1.0 - within) * share for share in self.plan.steps], None
        if cornered:
            phi, path, lines = self.from_corner(phi, math.fsum(shares))
        elif loud:
            phi, path = self.discriminate(phi, math.fsum(shares))
        else:
            phi, _ = self.discriminate(phi, math.fsum(shares[:ARRIVING]))
            phi, path = self.go_on(phi, shares[ARRIVING:])
        basis = self.spanned(self.matrix(phi) if lines is None else lines)
        last = self.along(basis, self.spending.within(total * within), loud, cornered)
        found = last.settle((self.matrix(phi) @ basis).ravel())
        self.touched |= last.touched
        return replace(self.doubt(phi, path), phi=(last.matrix(found) @ basis.T).ravel())

    def discriminate(self, phi: Array, share: float) -> tuple[Array, Path]:
        """From the model without slopes by least squares, which has the same curvature everywhere. proof: linear

        So every step points to where all of them end, and they are averaged.
        """
        found, ends, ball, each = np.zeros_like(phi), [], Ball(self.short()), share / ARRIVING
        noise = self.spending.scale(ball, each) / self.n
        for _ in range(ARRIVING):
            theta = self.whitening.matrix @ self.matrix(found).T
            at = theta[:, 0] if self.columns == 1 else theta
            gradient = Gradient(Linear(self.likelihood), self.x_bound, self.constant, self.whitening.matrix, at)
            (total,) = gradient.sums(self.rows, Bands((ball.radius,)))
            ends.append(found + self.spending.noisy(total[0], ball, each) / self.n)  # proof: step
            found = self.shrunk(np.mean(ends, axis=0), noise**2 / len(ends))
        found = self.slopes(found)
        steep = self.steeper(self.matrix(found))
        return self.inside(steep * (phi + found)), [steep * noise / math.sqrt(ARRIVING) / self.length]

    def from_corner(self, phi: Array, share: float) -> tuple[Array, Path, Array]:
        """The same from the sums of each class; also slopes that rise and slopes that fall, apart from one another."""
        assert self.corner is not None
        assert self.constant is not None
        found = self.corner.direction(self.rows, self.likelihood, self.spending, share)
        lines = np.concatenate([np.column_stack([part, -part @ found.middle / self.constant]) for part in found.slopes])
        lines = np.linalg.solve(self.whitening.matrix, lines.T).T
        inner = np.sum(lines.reshape(2, self.columns, -1), axis=0)
        steep = self.steeper(inner)
        noise = math.sqrt(found.variance) / float(np.mean(np.diag(self.whitening.matrix)))
        return self.inside(steep * (phi + inner.ravel())), [steep * noise / self.length], lines

    def go_on(self, phi: Array, shares: list[float]) -> tuple[Array, Path]:
        """Clipped steps for log odds; what they add to where they began is shrunk as far as it is noise. proof: step"""
        start, ball, path = phi, Ball(self.short()), []
        for share in shares:
            (total,) = self.at(phi).sums(self.rows, Bands((ball.radius,)))
            path.append(self.spending.scale(ball, share) / self.n)
            phi = self.inside(phi + self.length * self.spending.noisy(total[0], ball, share) / self.n)
        fade = (1.0 - FADING * self.length) ** 2
        variance = self.length**2 * sum(scale**2 * fade**age for age, scale in enumerate(reversed(path)))
        return start + self.shrunk(phi - start, variance), path

    def slopes(self, phi: Array) -> Array:
        """Without what lies along the constant."""
        if self.constant is None:
            return phi
        u = self.direction / float(np.linalg.norm(self.direction))
        return np.asarray(phi - np.outer(self.matrix(phi) @ u, u).ravel())

    def shrunk(self, phi: Array, variance: float) -> Array:
        """All but the constant, coordinate by coordinate."""
        slopes = self.slopes(phi)
        return phi - slopes + posterior_mean(slopes, variance)

    def short(self) -> float:
        """Where gradients are cut: the shorter the fewer rows there are for each number."""
        few = self.plan.outside / self.n
        return min(max(RATE / math.sqrt(few), CLIP[0]), CLIP[1]) * math.sqrt(self.p)

    def along(self, basis: Array, spending: Portion, loud: bool, cornered: bool) -> Rough:
        """The same model in few directions; rows are seen through them, so their gradients are shorter. proof: within"""
        bits = ROW_BITS - math.ceil(math.log2(len(basis) + 1))
        seen = replace(self.whitening, matrix=round_public(self.whitening.matrix @ basis, bits))
        plan = replace(self.plan, leverage=LEVERAGE * basis.shape[1] * self.columns)
        few = Rough(self.likelihood, self.rows, self.x_bound, self.constant, seen, spending, plan, self.largest)
        few.wide, few.within, few.unsure = WIDE[loud], WITHIN[cornered], START_DOUBT[cornered]
        return few

    @property
    def length(self) -> float:
        """Of a step."""
        return 1.0 / min(max(self.steepest, 1.0), STEEPEST)

    def settle(self, phi: Array) -> Array:
        """Newton's steps, averaged by what was spent on each. proof: within"""
        ends = []
        for share in self.within:
            phi, _ = self.step(phi, share)
            ends.append(phi)
        return np.asarray(np.average(ends, axis=0, weights=self.within))

    def moved(self, phi: Array, curvature: Array, gradient: Array, noise: float) -> Array:
        """Newton's step, if where it begins is known up to a share of its length: the mean given both. proof: within"""
        doubt = noise * self.p / max(self.unsure**2 * float(phi @ phi), 1e-300)
        return np.asarray(np.linalg.solve(curvature @ curvature + doubt * np.eye(self.p), curvature @ gradient))

    def doubt(self, phi: Array, path: Path) -> Solution:
        """What clipped steps leave behind of the noise of each of them, and of the sample. proof: curvature"""
        spread, bend = Spread(self.short()), Curvature(self.plan.leverage, self.short())
        total, inside = self.at(phi).sums(self.rows, spread, bend)
        curvature = self.curvature(bend, inside, self.plan.curvature, phi)
        moment = self.outer(spread, total) / self.n  # proof: spread
        inverse, kept = np.linalg.inv(curvature), np.eye(self.p) - self.length * curvature
        variance: Array = np.zeros_like(curvature)
        for scale in path:
            variance = kept @ variance @ kept.T + (self.length * scale) ** 2 * np.eye(self.p)
        sampling = inverse @ moment @ inverse.T / self.n
        noise = math.sqrt(float(np.trace(variance)) / self.p)
        return Solution(phi, sampling + variance, noise, 1.0, False, sampling)
