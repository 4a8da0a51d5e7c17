"""Where noise rules and there is no room for bands: clipped steps, all of which point to one end.  Proof: rough.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ..privacy.contribution import Ball
from .descent import EVEN, SLOPE, Descent, Solution
from .gradient import Bands, Beyond, Slope, Spread
from .schedule import CURVATURE_NOISE
from .shrinking import firm, james_stein
from .whitening import repaired

__all__ = ["Rough"]

Array = NDArray[np.float64]

# Chosen on simulated data only.
TRACK_RATE = 2.0  # how fast the length at which rows are clipped follows the share of them that is (Andrew et al. 2021)
HEAVY = 2.0  # times the mean square that normal errors would have: more than that is hidden beyond the clip
WIDE = 5.0  # the look ends at this multiple of sqrt(p) and the size of errors
REST = 0.5  # of what the look shows, as much again may lie beyond its end


@dataclass(frozen=True, slots=True)
class Step:
    """Where a clipped step began, and the way from there to where it says all of them end."""

    start: Array
    move: Array
    clip: float
    slope: float  # mean derivative of clipped gradients, as the share of rows beyond the clip has it
    variance: float  # of the noise of the move
    size: float  # of errors, were they normal


class Rough(Descent):
    """Too few rows for bands."""

    def solve(self, scale: float, limit: float) -> Solution:
        """``scale``: mean square of y that is sure. ``limit``: on the length of the estimate."""
        phi, steps = np.zeros(self.p), list[Step]()
        clip = min(math.sqrt(self.p) * max(limit, math.sqrt(scale)), self.largest / 2.0)  # no gradient at 0 is longer
        for share in self.plan.steps:
            total, count = self.at(phi).sums(self.rows, Bands((clip,)), Beyond(clip))
            beyond = self.beyond(Beyond(clip), count)
            slope = max((1.0 - beyond) * self.p / (self.p + 1.0), SLOPE)
            move = self.spending.noisy(total[0], Ball(clip), share) / (self.n * slope)  # proof: step
            variance = (self.spending.scale(Ball(clip), share) / (self.n * slope)) ** 2
            size = clip / (math.sqrt(self.p) * float(norm.isf(beyond / 2.0)))
            if steps:
                last, common = steps[-1], averaged(steps).variance
                self.learnt.from_move(phi - last.start, last.move, move, (last.variance, variance), common)
            steps.append(Step(phi, move, clip, slope, variance, size))
            found = averaged(steps)
            end = found.start + self.learnt.inverse @ found.move
            phi = james_stein(end, found.variance * np.eye(self.p)) * end
            phi = phi * min(1.0, limit / max(float(np.linalg.norm(phi)), 1e-300))
            clip *= math.exp(TRACK_RATE * (beyond - self.plan.target))
        return self.doubt(phi, found, scale)

    def beyond(self, ask: Beyond, count: Array) -> float:
        """The share of rows that were clipped, or what was meant, as far as noise does not let see. proof: track"""
        (contribution,), each = ask.contributions(self.p), self.plan.track / len(self.plan.steps)
        found = float(self.spending.noisy(count, contribution, each)) / self.n
        sure = min(1.0, CURVATURE_NOISE * self.n / self.spending.scale(contribution, each))
        return min(max(self.plan.target + sure * min(max(found - self.plan.target, -0.5), 0.5), 0.02), 0.98)

    def doubt(self, phi: Array, found: Step, scale: float) -> Solution:
        """One more pass, for the spread and slope of clipped gradients, and all that an interval counts. proof: sandwich

        Where most rows are alike the clip is about their errors, and says nothing of the others': no direction is taken to have
        less spread than ``scale`` leaves, and what it leaves beyond normal errors may be hidden. proof: hidden
        """
        p, spread, bend, way = self.p, Spread(found.clip), Slope(found.clip), self.learnt.inverse @ found.move
        end = found.start + way
        left = max(scale - max(float(end @ end) - p * found.variance, 0.0), 0.0)
        size = max(found.size, math.sqrt(left)) if self.plan.passes[1] else found.size
        level = max(min(WIDE * math.sqrt(p) * size, self.largest), 1.1 * found.clip)
        total, inside, beyond = self.at(phi).sums(self.rows, spread, bend, Bands((found.clip, level)))
        slope, moment = self.slope(bend, inside), self.outer(spread, total) / self.n
        least = EVEN * max(scale - float(phi @ phi), 0.05 * scale)
        moment = repaired(moment / slope**2, least, math.inf)
        variance = found.variance * max(found.slope / slope, 1.0) ** 2
        sampling, vectors = moment / self.n, self.whitening.vectors
        # Steps leave the part of their way by which slope and Gram matrix were wrong. proof: way
        off, missed = way * (slope / found.slope - 1.0), np.minimum(self.whitening.doubt / 2.0, 1.0)
        hidden = 0.0 if self.plan.symmetric else max(left - HEAVY * size**2, 0.0)
        unsure = variance + (hidden + missed**2 * float(way @ way)) / p
        covariance = sampling + np.outer(off, off) + (vectors * unsure) @ vectors.T
        noise = variance
        if share := self.plan.passes[1]:
            ball = Ball(level - found.clip)
            seen = (self.spending.scale(ball, share) / self.n) ** 2
            # What rows beyond the clip add, less what they would by the clipped ones' account. proof: look, proof: shift
            shift = self.spending.noisy(beyond[1], ball, share) / self.n - (1.0 - slope) * (end - phi)
            sure = firm(shift, seen + (1.0 - slope) ** 2 * variance)
            covariance = covariance + seen * np.eye(p) + REST**2 * np.outer(shift, shift)
            end, noise = end + sure * shift, variance + sure**2 * seen
        square = float(np.trace(moment)) / (p * self.spending.unit.rows)
        return Solution(end, covariance, math.sqrt(noise), square, False, sampling)


def averaged(steps: list[Step]) -> Step:
    """All of them by precision, cut as the last."""
    weights = np.array([1.0 / step.variance for step in steps])

    def mean(name: str) -> Any:
        return np.average([getattr(step, name) for step in steps], axis=0, weights=weights)

    start, move, slope, size = map(mean, ("start", "move", "slope", "size"))
    return Step(start, move, steps[-1].clip, float(slope), 1.0 / float(np.sum(weights)), float(size))
