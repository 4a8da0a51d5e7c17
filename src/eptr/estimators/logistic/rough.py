"""Where noise rules: a direction, or a few, then Newton's steps along them alone.  Proof: rough.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball
from ..descent import Solution
from ..gradient import ROW_BITS, Bands, Curvature, Gradient, Spread, round_public
from ..shrinking import posterior, posterior_mean
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
CORNER_LINES = 15.0  # the same of all lines from a corner
WITHIN = 0.35, 0.65  # of what steps along lines have, on each of them
FROM_NULL = 0.3, 0.7  # where they begin at the model without slopes
WIDE = 2.0, 1.0  # where they are cut, and where all is loud
START_DOUBT = 0.6  # of its length: what a start may be off ...
TYPICAL = 0.5  # ... and at most; in coordinates in which log odds of the model without slopes have curvature 1
LEFT_OVER, LEFT_OVER_CUT = 0.45, 1.5  # share of a second look, of both; where it is cut, in lengths of other steps
FIRST_LINES = 0.2  # of what steps along lines have, on those before it
FADING = 0.5  # curvature by which a step is taken to undo the noise of earlier ones
STEEPEST = 2.0  # steps are no shorter than one over this
# Clipped steps stop short of log odds of standard deviation s by (s/STEEP)^4 of their length; where that is known roughly.
STEEP, STEEPER = 6.0, 3.3


class Rough(Newton):
    """Too few rows for bands."""

    least, wide = 1.0, WIDE[0]
    unsure = START_DOUBT
    corner: Corner | None = None  # of columns with ranges

    def solve(self, phi: Array) -> Solution:
        """A direction, from discriminant analysis and steps that are cut short; Newton's along it say how far to go."""
        total = math.fsum(self.plan.steps)
        loud = CLIP[0] * self.p * self.spending.scale(Ball(1.0), total) / self.n > LOUD
        self.touched |= loud or self.columns > 1  # how much was shrunk no interval counts
        if loud and self.corner is not None:
            return self.from_corner(self.corner, total)
        within = 1.0 / (1.0 + self.p / (2.0 * LINES))
        shares = [(1.0 - within) * share for share in self.plan.steps]
        if loud:
            phi, path = self.discriminate(phi, math.fsum(shares))
        else:
            phi, _ = self.discriminate(phi, math.fsum(shares[:ARRIVING]))
            phi, path = self.go_on(phi, shares[ARRIVING:])
        # Where steps went too far, nothing of their length is to be trusted.
        start, parts = (self.start, FROM_NULL) if self.learnt.overshot else (phi, WITHIN)
        found = self.along(self.matrix(phi), start, total * within, parts, WIDE[loud])
        doubt, slopes = self.doubt(phi, path), self.slopes(found)
        steep = self.odds(slopes)
        self.touched |= steep > STEEPER
        short = (steep / STEEP) ** 8 * np.outer(slopes, slopes)  # proof: steep
        return replace(doubt, phi=found, covariance=doubt.covariance + short)

    def from_corner(self, corner: Corner, total: float) -> Solution:
        """Along what the sums of each class show, then along what that leaves unexplained, too. proof: left

        Every time from the model without slopes: where columns tell the same, the sums of each say it again and again, and
        nothing of the length of such a direction is to be trusted.
        """
        within = 1.0 / (1.0 + self.p / CORNER_LINES)
        look, along = total * (1.0 - within), total * within
        seen = corner.look(self.rows, self.likelihood, self.spending, look * (1.0 - LEFT_OVER))
        lines = np.column_stack([np.concatenate(seen.slopes), np.zeros(2 * self.columns)])
        lines = np.asarray(np.linalg.solve(self.whitening.matrix, lines.T).T)
        phi = self.along(lines, self.start, along * FIRST_LINES, FROM_NULL, WIDE[1])
        lines = np.vstack([lines, self.left_over(phi, seen.spread, look * LEFT_OVER)])
        phi = self.along(lines, self.start, along * (1.0 - FIRST_LINES), FROM_NULL, WIDE[1])
        noise = math.sqrt(seen.variance) / float(np.mean(np.diag(self.whitening.matrix)))
        # As log odds are steeper than discriminant analysis, their noise is larger.
        size = float(np.linalg.norm(np.sum(lines[: 2 * self.columns], axis=0)))
        steeper = max(float(np.linalg.norm(self.slopes(phi))) / max(size, 1e-300), 1.0)
        return replace(self.doubt(phi, [steeper * noise / self.length]), phi=phi)

    def left_over(self, phi: Array, spread: Array, share: float) -> Array:
        """A step of discriminant analysis for what is not explained there, shrunk: a direction. proof: left"""
        ball, slopes = Ball(LEFT_OVER_CUT * self.short()), len(spread)
        (total,) = self.at(phi).sums(self.rows, Bands((ball.radius,)))
        found = self.matrix(self.spending.noisy(total[0], ball, share) / self.n)[:, :slopes]
        size = np.sqrt(spread @ self.whitening.matrix[:slopes, :slopes] ** 2)  # of rows, coordinate by coordinate
        noise = np.tile(self.spending.scale(ball, share) / (self.n * size), (self.columns, 1))
        effects, _ = posterior(found / size, noise**2)
        return np.column_stack([effects / size, np.zeros(self.columns)])

    def discriminate(self, phi: Array, share: float) -> tuple[Array, Path]:
        """From the model without slopes by least squares, which has the same curvature everywhere. proof: linear

        So every step points to where all of them end, and they are averaged.
        """
        found, steps, ball, each = np.zeros_like(phi), list[tuple[Array, Array]](), Ball(self.short()), share / ARRIVING
        noise = self.spending.scale(ball, each) / self.n
        for _ in range(ARRIVING):
            theta = self.whitening.matrix @ self.matrix(found).T
            at = theta[:, 0] if self.columns == 1 else theta
            gradient = Gradient(Linear(self.likelihood), self.x_bound, self.constant, self.whitening.matrix, at)
            (total,) = gradient.sums(self.rows, Bands((ball.radius,)))
            move = self.spending.noisy(total[0], ball, each) / self.n  # proof: step
            if steps:
                self.learnt.from_move(
                    found - steps[-1][0], steps[-1][1], move, (noise**2, noise**2), noise**2 / len(steps)
                )
            steps.append((found, move))
            start, way = np.mean(steps, axis=0)
            found = self.shrunk(start + self.learnt.inverse @ way, noise**2 / len(steps))
        found = self.slopes(found)
        steep = self.steeper(self.matrix(found))
        return self.inside(steep * (phi + found)), [steep * noise / math.sqrt(ARRIVING) / self.length]

    def go_on(self, phi: Array, shares: list[float]) -> tuple[Array, Path]:
        """Clipped steps for log odds; what they add to where they began is shrunk as far as it is noise. proof: step"""
        start, ball, path, before = phi, Ball(self.short()), Path(), None
        for share in shares:
            (total,) = self.at(phi).sums(self.rows, Bands((ball.radius,)))
            path.append(self.spending.scale(ball, share) / self.n)
            move, variance = (
                self.length * self.spending.noisy(total[0], ball, share) / self.n,
                (self.length * path[-1]) ** 2,
            )
            if before is not None:
                self.learnt.from_move(phi - before[0], before[1], move, (before[2], variance), before[2])
            before = phi, move, variance
            phi = self.inside(phi + self.learnt.inverse @ move)
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

    def along(self, lines: Array, start: Array, share: float, parts: tuple[float, float], wide: float) -> Array:
        """Newton's steps in the space of some lines and the constant. proof: within

        Rows are seen through it, so their gradients are shorter. From the model without slopes the first step is discriminant
        analysis; else both begin near their end, and are averaged by what was spent on them.
        """
        basis = self.spanned(lines)
        bits = ROW_BITS - math.ceil(math.log2(len(basis) + 1))
        seen = replace(self.whitening, matrix=round_public(self.whitening.matrix @ basis, bits))
        plan = replace(self.plan, leverage=LEVERAGE * basis.shape[1] * self.columns)
        spending = self.spending.within(share)
        few = Rough(self.likelihood, self.rows, self.x_bound, self.constant, seen, spending, plan, self.largest)
        few.wide, far = wide, start is self.start
        few.unsure = math.inf if far else START_DOUBT
        first, _ = few.step((self.matrix(start) @ basis).ravel(), parts[0])
        few.unsure = START_DOUBT
        second, _ = few.step(first, parts[1])
        self.touched |= few.touched
        found = second if far else np.average([first, second], axis=0, weights=parts)
        return np.asarray((few.matrix(found) @ basis.T).ravel())

    @property
    def length(self) -> float:
        """Of a step."""
        return 1.0 / min(max(self.steepest, 1.0), STEEPEST)

    def moved(self, phi: Array, curvature: Array, gradient: Array, noise: float) -> Array:
        """Newton's step, if where it begins is known up to a share of its length: the mean given both. proof: within"""
        way = TYPICAL if math.isinf(self.unsure) else min(self.unsure * float(np.linalg.norm(phi)), TYPICAL)
        doubt = noise * self.p / max(way**2, 1e-300)
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
