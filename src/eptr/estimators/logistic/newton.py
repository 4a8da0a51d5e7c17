"""The descent for class probabilities, whose curvature is released where it is used.  Proof: newton.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball
from ..descent import CURVATURE_DOUBT, CURVATURE_FINE, FIRST, Descent, Schedule, Solution, levels, schedule
from ..gradient import Bands, Curvature, Level, Spread
from ..whitening import repaired
from .likelihood import Classes

__all__ = ["Newton", "course"]

Array = NDArray[np.float64]

# By trial on simulated data alone; benchmarks/logistic.py measures what they give. Shares are of mu^2.
ROOM = 0.007  # bands are worth their price if fewer rows than this share lie beyond them
STEP_CLIP, STEEPEST = 2.0, 2.0  # steps are cut at this multiple of sqrt(p), and no shorter than one over this
LEVEL_SHARE = 0.1  # of a step, to the mean residual
# Where noise rules: steps among all columns, before those among some; their share; how both grow; what is spent along lines.
ARRIVING, ARRIVING_SHARE, LATER, GROWTH, WITHIN_SHARE = 5, 0.45, 8, 1.3, 0.12
CURVATURE_SHARE, LEVERAGE = 0.02, 3.0  # of each of two curvatures; least multiple of p at which one row's is cut
ARRIVED = 0.1  # of the way from the start, at most, may be left for the last step; or what its noise allows
LEAST = 0.1  # eigenvalue of the curvature, where rows and noise allow that much
FARTHEST = 8.0  # standard deviation of log odds over the rows: beyond it, classes are told apart without error


class Newton(Descent):
    """phi holds one vector for each row of the mixture, in coordinates in which the model without slopes has curvature 1."""

    likelihood: Classes

    def __init__(self, likelihood: Classes, *arguments: object) -> None:
        super().__init__(likelihood, *arguments)  # type: ignore[arg-type]
        self.columns = len(likelihood.mix)
        self.p = self.whitening.matrix.shape[1] * self.columns
        self.steepest = float(np.linalg.norm(likelihood.mix, 2)) ** 2 / (4.0 if self.columns == 1 else 2.0)
        self.start = self.null()
        self.touched = False

    def null(self) -> Array:
        """The model without slopes."""
        if self.constant is None:
            return np.zeros(self.p)
        constant = np.zeros(len(self.whitening.matrix))
        constant[-1] = 1.0 / self.constant
        self.direction = np.linalg.lstsq(self.whitening.matrix, constant, rcond=None)[0]
        return np.outer(self.likelihood.start, self.direction).ravel()

    def theta(self, phi: Array) -> Array:
        mixed = self.whitening.matrix @ self.matrix(phi).T @ self.likelihood.mix
        return np.asarray(mixed[:, 0] if self.columns == 1 else mixed)

    def matrix(self, phi: Array) -> Array:
        """A row for each of the mixture."""
        return phi.reshape(self.columns, -1)

    def inside(self, phi: Array) -> Array:
        """No further from the start than where log odds differ by FARTHEST from row to row."""
        away = self.matrix(phi - self.start).T @ self.likelihood.mix
        factor = min(1.0, FARTHEST / max(float(np.linalg.norm(away)), 1e-300))
        self.touched |= factor < 1.0
        return self.start + factor * (phi - self.start)

    def climb(self, phi: Array, clip: float, steps: tuple[float, ...], *, level: bool) -> tuple[Array, list[float]]:
        """Clipped steps with such shares: where they end, and the noise of each.

        ``level``: the mean residual is released apart. It is short, and cutting it would take the intercept away from a
        rare class.
        """
        cut, mean, noise = Bands((clip,)), Level(self.longest), []
        apart = LEVEL_SHARE if level and self.constant is not None else 0.0
        for share in steps:
            total, *middle = self.at(phi).sums(self.rows, cut, *([mean] if apart else []))
            most = share * (1.0 - apart)
            noise.append(self.spending.scale(Ball(clip), most) / self.n)
            released = self.spending.noisy(total[0], Ball(clip), most) / self.n  # proof: step
            step = self.length * self.matrix(released)
            if apart:
                found = self.spending.noisy(middle[0], Ball(mean.radius), share * apart) / self.n  # proof: level
                u = self.direction / float(np.linalg.norm(self.direction))
                step = step - np.outer(step @ u, u) + np.outer(found, self.direction)
            phi = self.inside(phi + step.ravel())
        return phi, noise

    @property
    def length(self) -> float:
        """Of a step."""
        return 1.0 / min(max(self.steepest, 1.0), STEEPEST)

    @property
    def longest(self) -> float:
        """No residual is longer: those of a row lie between the columns of the mixture, taken two at a time."""
        mix = self.likelihood.mix
        apart = np.linalg.norm(mix[:, :, None] - mix[:, None, :], axis=0)
        return float(np.max(np.abs(mix) if self.columns == 1 else apart)) * (1.0 + 1e-12)

    def solve(self) -> Solution:
        """Steps, then two of Newton's in bands with the curvature at both points. proof: passes"""
        plan, bend = self.plan, Curvature(self.plan.leverage)
        phi, _ = self.climb(self.start, STEP_CLIP * math.sqrt(self.p), plan.steps, level=True)
        tail, (total,) = self.tail(phi, bend)
        here = self.curvature(bend, total, plan.curvature)
        bands = Bands(levels(tail, plan.outside, self.n))
        spread = Spread(self.spread_level(tail, bands.levels))
        ((first, first_noise),) = self.bands(phi, bands, plan.passes[0])
        second_at = self.inside(phi + np.linalg.solve(here, np.sum(first, axis=0)))
        (second, second_noise), outer, total = self.bands(second_at, bands, plan.passes[1], spread, bend)
        there = self.curvature(bend, total, plan.curvature)
        # The first pass points to the solution, too, by the mean of the curvatures at both ends of its way.
        first = first @ np.linalg.inv(here + there) @ there * 2.0
        variance = 1.0 / (1.0 / first_noise + 1.0 / second_noise)
        together, centre = FIRST * first + (1.0 - FIRST) * second, FIRST * phi + (1.0 - FIRST) * second_at
        kept = self.worth_keeping(second, second_noise)
        inverse = np.asarray(np.linalg.inv(there), dtype=np.float64)
        # Where classes are apart every step of Newton's goes on by about as much as the one before.
        move, way = np.sum(second, axis=0), second_at - self.start
        doubt = float(np.sum(first_noise + second_noise) * np.trace(inverse))
        self.touched |= bool(move @ inverse @ move > max(ARRIVED**2 * (way @ there @ way), 9.0 * doubt))
        moment = self.moment(tail, spread, outer)
        found = self.solution(tail, bands.levels, together, variance, kept, centre, inverse, moment)
        return replace(found, noise=found.noise * float(np.linalg.norm(inverse)) / math.sqrt(self.p))

    def curvature(self, bend: Curvature, total: Array, share: float) -> Array:
        """Released, and shrunk towards a multiple of the identity as far as it is noise. proof: curvature"""
        (contribution,) = bend.contributions(self.p)
        noise = self.spending.scale(contribution, share) / self.n
        released = self.spending.noisy(total, contribution, share) / self.n
        p, mean = self.p, max(float(np.trace(released)) / self.p, LEAST)
        centred = released - mean * np.eye(p)
        rho = min(1.0, noise**2 * (p * (p + 1) / 2 - 1) / max(float(np.sum(centred**2)), 1e-300))
        doubt = CURVATURE_DOUBT * math.sqrt(2.0 * p) * noise * (1.0 - rho)
        low = max(LEAST * self.whitening.weakest, min(doubt, 0.5 * mean))
        return repaired(mean * np.eye(p) + (1.0 - rho) * centred, low, 3.0 * max(self.steepest, 1.0))


def course(n: int, p: int, mu: float, share: float) -> Schedule:
    """What to spend on what, for p numbers in all: as in least squares, with a curvature at both passes. proof: composition"""
    plan = schedule(n, p, mu, share)
    plan = replace(plan, banded=plan.outside < ROOM * n)
    clear = mu * math.sqrt(CURVATURE_SHARE) * n / math.sqrt(2.0 * p)
    plan = replace(plan, curvature=CURVATURE_SHARE, track=0.0, leverage=max(LEVERAGE * p, CURVATURE_FINE * clear))
    if plan.banded:
        final = share - math.fsum(plan.steps) - plan.norms - plan.spread - 2.0 * CURVATURE_SHARE
        return replace(plan, passes=(FIRST * final, (1.0 - FIRST) * final))
    rest = share - plan.spread - CURVATURE_SHARE - WITHIN_SHARE
    weights = GROWTH ** np.arange(LATER)
    later = rest * (1.0 - ARRIVING_SHARE) * weights / np.sum(weights)
    steps = (rest * ARRIVING_SHARE / ARRIVING,) * ARRIVING + tuple(map(float, later))
    return replace(plan, steps=steps, norms=0.0, passes=(0.0, 0.0))
