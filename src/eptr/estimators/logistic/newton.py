"""The descent for class probabilities, whose curvature is released where it is used.  Proof: newton.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball
from ..descent import CURVATURE_DOUBT, CURVATURE_FINE, FIRST, Descent, Schedule, Solution, levels, schedule
from ..gradient import Bands, Curvature, Spread
from ..whitening import repaired
from .likelihood import Classes

__all__ = ["Newton", "course"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only.
STEP_CLIP, RARE_CLIP, STEEPEST = 2.0, 1.2, 2.0
ROUGH_CLIP, ROUGH_LENGTH, ROUGH_STEPS, ROUGH_GROWTH = 1.5, 1.0, 8, 1.2
CURVATURE_SHARE, LEVERAGE = 0.02, 3.0  # of each of two curvatures; least multiple of p at which one row's is cut
LEAST = 0.1  # eigenvalue of the curvature, where rows and noise allow that much
FARTHEST = 8.0  # standard deviation of log odds over the rows: beyond it, classes are told apart without error


class Newton(Descent):
    """phi holds one vector for each row of the mixture, in coordinates in which the model without slopes has curvature 1."""

    likelihood: Classes

    def __init__(self, likelihood: Classes, *arguments: object) -> None:
        super().__init__(likelihood, *arguments)  # type: ignore[arg-type]
        self.columns = len(likelihood.mix)
        self.p *= self.columns
        self.steepest = float(np.linalg.norm(likelihood.mix, 2)) ** 2 / (4.0 if self.columns == 1 else 2.0)
        self.start = self.null()
        self.touched = False

    def null(self) -> Array:
        """The model without slopes."""
        size = len(self.whitening.matrix)
        if self.constant is None:
            return np.zeros(self.p)
        constant = np.linalg.solve(self.whitening.matrix, np.eye(size)[-1] / self.constant)
        return np.outer(self.likelihood.start, constant).ravel()

    def theta(self, phi: Array) -> Array:
        mixed = self.whitening.matrix @ phi.reshape(self.columns, -1).T @ self.likelihood.mix
        return np.asarray(mixed[:, 0] if self.columns == 1 else mixed)

    def inside(self, phi: Array) -> Array:
        """No further from the start than where log odds differ by FARTHEST from row to row."""
        away = (phi - self.start).reshape(self.columns, -1).T @ self.likelihood.mix
        factor = min(1.0, FARTHEST / max(float(np.linalg.norm(away)), 1e-300))
        self.touched |= factor < 1.0
        return self.start + factor * (phi - self.start)

    def climb(self) -> tuple[Array, list[float], float, float]:
        """Clipped steps from the start: where they end, the noise of each, the clip and the length of a step."""
        banded = self.plan.banded
        clip = max(STEP_CLIP if banded else ROUGH_CLIP, RARE_CLIP * self.likelihood.rarest) * math.sqrt(self.p)
        length = (1.0 if banded else ROUGH_LENGTH) / min(max(self.steepest, 1.0), STEEPEST)
        phi, noise = self.start, []
        for share in self.plan.steps:
            (total,) = self.at(phi).sums(self.rows, Bands((clip,)))
            noise.append(self.spending.scale(Ball(clip), share) / self.n)
            phi = self.inside(phi + length * self.spending.noisy(total[0], Ball(clip), share) / self.n)  # proof: step
        return phi, noise, clip, length

    def finish(self, phi: Array) -> Solution:
        """Two Newton steps in bands, with the curvature at both points. proof: passes"""
        plan, bend = self.plan, Curvature(self.plan.leverage)
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

    def noisy_end(self, phi: Array, noise: list[float], clip: float, length: float) -> Solution:
        """Too few rows for bands: what the steps found, with the noise that is left of each of them. proof: curvature"""
        spread, bend = Spread(clip), Curvature(self.plan.leverage, clip)
        total, inside = self.at(phi).sums(self.rows, spread, bend)
        curvature = self.curvature(bend, inside, self.plan.curvature)
        moment = self.outer(spread, total) / self.n  # proof: spread
        inverse, left = np.linalg.inv(curvature), np.eye(self.p) - length * curvature
        variance, fading = np.zeros_like(left), np.eye(self.p)
        for scale in reversed(noise):
            variance = variance + (length * scale) ** 2 * (fading @ fading.T)
            fading = fading @ left
        covariance = inverse @ moment @ inverse.T / self.n + variance
        each = math.sqrt(float(np.trace(variance)) / self.p)
        return Solution(phi, covariance, each, 1.0, False)


def course(n: int, p: int, mu: float, share: float) -> Schedule:
    """What to spend on what, for p numbers in all: as in least squares, with a curvature at both passes. proof: composition"""
    plan = schedule(n, p, mu, share)
    clear = mu * math.sqrt(CURVATURE_SHARE) * n / math.sqrt(2.0 * p)
    plan = replace(plan, curvature=CURVATURE_SHARE, track=0.0, leverage=max(LEVERAGE * p, CURVATURE_FINE * clear))
    if plan.banded:
        final = share - math.fsum(plan.steps) - plan.norms - plan.spread - 2.0 * CURVATURE_SHARE
        return replace(plan, passes=(FIRST * final, (1.0 - FIRST) * final))
    weights = ROUGH_GROWTH ** np.arange(ROUGH_STEPS)
    rest = share - plan.spread - CURVATURE_SHARE
    return replace(plan, steps=tuple(map(float, rest * weights / np.sum(weights))))
