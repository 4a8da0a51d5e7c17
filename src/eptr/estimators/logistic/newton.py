"""The descent for class probabilities, whose curvature is released where it is used.  Proof: newton.md."""

from __future__ import annotations

import functools
import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball
from ..descent import CURVATURE_DOUBT, Descent, Solution
from ..ends import levels
from ..gradient import REACH, Bands, Beyond, Curvature, Norms
from ..learning import Learnt
from ..schedule import CURVATURE_FINE, Schedule, schedule
from ..tail import RATIO, Tail
from ..whitening import repaired
from .lengths import ending, knee
from .likelihood import Classes

__all__ = ["Newton", "course"]

Array = NDArray[np.float64]

# By trial on simulated data alone; benchmarks/logistic.py measures what they give. Shares are of mu^2.
ROOM = 0.007  # bands are worth their price if fewer rows than this share lie beyond them
SUMS_SHARE = 0.03  # on the sums of each class, to start from
STEPS, BEND = (0.05,) * 4, 0.2  # as many if the curvature is mostly noise; how much of one goes to its curvature
NOISE = 2.5  # times the noise of a step on log odds if it had the whole budget: its share, if that is more
BLURRED, OVERSHOT = 0.5, 1.3  # noise of a curvature from which steps may go too far; by how much they clearly do
CHANCE = 3.0  # standard deviations of noise by which a gradient must turn back where the curvature is clear
QUIET = 0.25  # noise of the first step, in log odds, with which it reaches out to long rows
OVER = 1.0  # log odds by which a band may move the rows that it is made of
CLOSE = 1.9  # log odds that moved by less than this over n^(1/8) need but one step more. proof: passes
CHEAP = 0.1  # noise of a step, in log odds, with which it is cut where the last pass is
PART = 0.3  # of the way from the model without slopes: the first step is no longer, or another follows
CONTRACTING = 0.5  # times the square of one step: the next one is no longer, if they arrive
# If they moved by less than this over n^(1/6) the curvature is kept, unless its noise exceeds that in each number.
SAME, CLEAR = 1.0, 0.015
# Where noise rules: steps to discriminant analysis and their share, steps from there, and how these grow.
ARRIVING, ARRIVING_SHARE, LATER, GROWTH = 3, 0.25, 8, 1.3
CURVATURE_SHARE, LEVERAGE = 0.02, 3.0  # of the last curvature; least multiple of p at which one row's is cut
NORMAL, FLAT = (
    math.pi / 8.0,
    0.5,
)  # a logistic curve is about a normal one of variance 1/NORMAL; at most 1/FLAT is made of it
ARRIVED = 0.1  # of the way from the start, at most, may be left for the last step; or what its noise allows
# If the rarest class has less than so many times the rows that may lie beyond bands, and less than this is seen of what
# gradients' squares add up to without slopes, its rows are not seen.
RARE, SPIKE = 4.0, 0.8
FURTHER = round(2.0 * math.log2(2.0 * REACH))  # cells of a histogram beyond the longest gradient of a shortened row
# On rows beyond the last level; standard deviations by which they are clearly more than the curve has, for intervals.
BEYOND_SHARE, DOUBTED = 0.03, 1.5
BEYOND = 2.5  # what they may lose, in units of the last band, if they are
IMAGINED = 2**14  # rows that were drawn, to know what a curvature should be
LEAST = 0.1  # eigenvalue of the curvature, where rows and noise allow that much
FARTHER = 1.5  # the same of one step: farther away the curvature is another one
WHOLE = 1.0 - 1e-9
UNSURE = 0.75  # noise of the log odds of a class from which a last move says nothing of whether steps have arrived
FARTHEST = 8.0  # standard deviation of log odds over the rows: beyond it, classes are told apart without error


@functools.lru_cache(maxsize=16)
def imagined(directions: int, free: int) -> tuple[Array, Array]:
    """Normal rows, the same for everybody: coordinates in some directions, and squared lengths in those that are ``free``."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(directions, IMAGINED)), rng.chisquare(max(free, 1), IMAGINED) * (free > 0)


class Newton(Descent):
    """phi holds one vector for each row of the mixture, in coordinates in which the model without slopes has curvature 1."""

    likelihood: Classes
    blurred = False  # whether the curvature is mostly noise
    ahead: Array | None = None  # the curvature where the last step ended, if it was short
    # Where the last step began, its gradient, the variance of that, and what noise has in common with its move.
    before: tuple[Array, Array, float, float] | None = None
    stride = blur = 0.0  # log odds of the last step, and noise of each number of the last curvature
    top = 0.0  # where the last steps are cut, if that is known
    growing = 1.0  # how much longer gradients may be in the end than where their lengths are seen
    farthest = 0.0  # what no number of a row exceeds then, by public ranges and released columns
    blind = False  # whether how far some column's values reach is not known
    least, wide = 2.0, 1.4  # steps are cut at so many lengths of a row of the rarest class

    def __init__(self, likelihood: Classes, *arguments: object) -> None:
        super().__init__(likelihood, *arguments)  # type: ignore[arg-type]
        self.columns = len(likelihood.mix)
        self.p = self.whitening.matrix.shape[1] * self.columns
        self.learnt = Learnt(self.p, known=self.known)
        self.steepest = float(np.linalg.norm(likelihood.mix, 2)) ** 2 / (4.0 if self.columns == 1 else 2.0)
        self.start = self.null()
        self.touched = np.zeros(likelihood.mix.shape[1], dtype=bool)  # classes whose log odds have not arrived

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
        """No further from the start than where log odds of a class differ by FARTHEST from row to row."""
        self.touched |= self.each(phi - self.start) > FARTHEST
        return self.start + self.cut(phi - self.start, FARTHEST)

    def each(self, phi: Array) -> Array:
        """Standard deviation over rows of the log odds of each class against all of them; of two, of their log odds."""
        return np.asarray(np.linalg.norm(self.matrix(phi).T @ self.likelihood.mix, axis=0))

    def cut(self, phi: Array, most: float) -> Array:
        """With log odds of each class that differ by so much from row to row, at most. proof: each"""
        factor = np.minimum(1.0, most / np.maximum(self.each(phi), 1e-300))
        if np.all(factor == factor[0]):
            return np.asarray(factor[0] * phi)
        mix = self.likelihood.mix
        return np.asarray(((mix * self.likelihood.shares * factor) @ (self.matrix(phi).T @ mix).T).ravel())

    def begun(self, sums: Array, noise: float) -> Array:
        """From the released sums of each class: discriminant analysis, made steeper by how well it does. proof: passes

        ``noise``: on each of the sums; by as much as that explains, it is shrunk.
        """
        shares, mix = self.likelihood.shares, self.likelihood.mix
        apart = mix @ (np.eye(len(shares)) - shares[:, None])[-mix.shape[1] :]
        found = apart @ sums @ self.whitening.matrix / self.n
        chance = (noise / self.n * float(np.linalg.norm(apart)) * float(np.linalg.norm(self.whitening.matrix))) ** 2
        chance *= 1.0 + CHANCE * math.sqrt(2.0 / self.p)  # a start that is noise is worse than none
        found = found * max(0.0, 1.0 - chance / max(float(np.sum(found**2)), 1e-300))
        if self.constant is not None:
            u = self.direction / float(np.linalg.norm(self.direction))
            found = found - np.outer(found @ u, u)
        return self.inside((self.start + found.ravel()) * self.steeper(found))

    def steeper(self, found: Array) -> float:
        """What discriminant analysis has to be multiplied with, for log odds. proof: passes"""
        return 1.0 / math.sqrt(max(1.0 - NORMAL * float(np.sum((found.T @ self.likelihood.mix) ** 2)), FLAT))

    @property
    def clip(self) -> float:
        """So long that hardly a gradient is cut, be its class rare."""
        usual = max(self.least, self.wide * self.likelihood.rarest) * math.sqrt(self.p)
        return max(usual, self.longest * self.seen_to, self.top)  # proof: long, tails

    def norms(self) -> Norms:
        """Cells up to the longest gradient of a row that is not shortened: those are for the Gram matrix alone. proof: cells"""
        if self.growing == 1.0:
            return super().norms()
        edges, reach = super().norms().edges, math.sqrt(len(self.whitening.matrix)) * self.farthest
        longest = float(np.linalg.norm(self.whitening.matrix, 2)) * math.hypot(reach, self.constant or 0.0)
        longest *= math.sqrt(2.0) * float(np.linalg.norm(self.likelihood.mix, 2))
        further = min(max(math.ceil(math.log(longest / edges[-1], RATIO)), 0), FURTHER)
        return Norms((*edges, *(edges[-1] * RATIO**k for k in range(1, 1 + further))))

    def longer(self, tail: Tail) -> Tail:
        """As long as its cells show, and as gradients may become. proof: cells"""
        told = copy(knee(tail))
        told.edges, told.middle = self.growing * told.edges, self.growing * told.middle
        return told

    @property
    def seen_to(self) -> float:
        return self.wide * max(1.0, self.likelihood.rarest)

    def reach(self, phi: Array, weak: Array) -> None:
        """Not where the first steps would be led by noise. proof: long"""
        plan = self.plan
        super().reach(phi, weak)
        if self.longest and self.loud(self.longest * self.seen_to) > QUIET * math.sqrt(plan.steps[0]):
            self.plan, self.longest, self.lost, self.out_of_reach = plan, 0.0, 0.0, True

    def loud(self, clip: float) -> float:
        """Noise of a step that is cut there, in log odds, if it had the whole budget."""
        noise = self.spending.scale(Ball(clip), 1.0) / self.n
        return noise * math.sqrt(self.p / self.columns) * float(np.linalg.norm(self.likelihood.mix))

    def step(self, phi: Array, share: float, *asks: Any) -> tuple[Array, list[Array]]:
        """One of Newton's, and what else is asked of the same pass. proof: step"""
        cut, bend = Bands((self.clip,)), Curvature(self.plan.leverage)
        total, bent, *others = self.at(phi).sums(self.rows, cut, bend, *asks)
        ball, most = Ball(self.clip), share * (1.0 - BEND)
        released = self.spending.noisy(total[0], ball, most) / self.n
        curvature = self.curvature(bend, bent, share * BEND, phi)
        self.ahead = curvature / self.change(released)
        curvature = self.stiffer(self.halfway(curvature, released), phi, released)
        noise = (self.spending.scale(ball, most) / self.n) ** 2
        self.before = phi, released, noise, noise * float(np.trace(np.linalg.inv(curvature)))
        return self.inside(phi + self.at_most(self.moved(phi, curvature, released, noise))), others

    def at_most(self, move: Array) -> Array:
        """No farther than the curvature here says anything about: beyond, steps would go to and fro. proof: far"""
        return self.cut(move, FARTHER)

    def moved(self, phi: Array, curvature: Array, gradient: Array, noise: float) -> Array:
        """Newton's step by what is more than noise, as James and Stein have it. ``noise``: variance of the gradient."""
        move = np.linalg.solve(curvature, gradient)
        size = noise * float(np.trace(np.linalg.inv(curvature)))
        return np.asarray(move * max(0.0, 1.0 - size / max(float(move @ gradient), 1e-300)))

    def stiffer(self, curvature: Array, phi: Array, gradient: Array) -> Array:
        """No step goes too far along the one before again: there the change of the gradient is the curvature. proof: secant"""
        if self.before is None:
            return curvature
        move, (_, there, noise, common) = phi - self.before[0], self.before
        bent = curvature @ move
        here, seen = float(move @ bent), float(move @ (there - gradient)) - common
        most = OVERSHOT * here
        if not self.blurred:  # it has to turn back, and not by chance
            turned = OVERSHOT * float(move @ there) + CHANCE * math.sqrt(2.0 * noise * float(move @ move))
            most = max(most, turned)
        return curvature + (seen / here - 1.0) * np.outer(bent, bent) / here if seen > most else curvature

    def halfway(self, curvature: Array, gradient: Array) -> Array:
        """The mean curvature on the way from here: where it ends, the shares of the classes are those counted. proof: passes"""
        return curvature * (1.0 + 1.0 / self.change(gradient)) / 2.0

    def change(self, gradient: Array) -> float:
        """The curvature here, in units of that where the shares of the classes are those counted. proof: passes"""
        if self.constant is None:
            return 1.0
        return min(max(self.likelihood.information(self.matrix(gradient) @ self.direction), 0.25), 4.0)

    def odds(self, phi: Array) -> float:
        """Standard deviation over rows of the log odds, all of them together."""
        return float(np.linalg.norm(self.matrix(phi).T @ self.likelihood.mix))

    def arrive(self, phi: Array) -> tuple[Array, Tail, float, float]:
        """Newton's steps until they are short: their end, how long gradients are, a step's variance, the share not used."""
        shares, norms, bend = self.plan.steps, self.norms(), Curvature(self.plan.leverage)
        noise = self.spending.scale(Ball(self.clip), 1.0) / self.n
        loud = self.loud(self.clip)
        blur = self.spending.scale(bend.contributions(self.p)[0], BEND * shares[0]) * math.sqrt(2.0 * self.p) / self.n
        self.blurred = blur > BLURRED
        clear = blur < CLEAR * math.sqrt(2.0 * self.p)
        least, left = 1 + round((len(shares) - 1) * min(1.0, blur)), math.fsum(shares)
        each = min(max(shares[0], NOISE * loud), left / least)
        near = max(CLOSE * self.n**-0.125, 3.0 * loud / math.sqrt(each))
        after, (counts,) = self.step(phi, each, norms)
        tail, left, least = self.longer(self.read(norms, counts, self.plan.norms)), left - each, least - 1
        last = after - phi
        moved, top = self.odds(last), tail.level(self.plan.outside)
        if top > self.clip and loud * top < CHEAP * self.clip * math.sqrt(each):  # proof: tails
            self.top, loud, least = top, loud * top / self.clip, max(least, 1)
        enough = min(
            near, max(PART * self.odds(after - self.start), 3.0 * loud / math.sqrt(each))
        )  # proof: contracting
        while least > 0 or moved > enough:
            if left < 0.99 * each:
                # Where as many as were meant go on as the one before, the classes are apart.
                self.touched |= (self.each(last) > near) & (
                    (each == shares[0]) | ((self.columns > 1) & (self.each(last) >= WHOLE * FARTHER))
                )
                break
            phi, (after, _) = after, self.step(after, min(each, left))
            left, least = max(left - each, 0.0), least - 1
            enough = min(near, max(CONTRACTING * moved**2, 3.0 * loud / math.sqrt(each)))  # proof: contracting
            last = after - phi
            moved = self.odds(last)
        self.stride = max(moved, loud / math.sqrt(each))
        if not clear or moved > SAME * self.n ** (-1.0 / 6.0):
            self.ahead = None
        return after, tail, noise**2 / each, left

    def solve(self, phi: Array) -> Solution:
        """Newton's steps, the last of them in bands. proof: passes"""
        plan, (phi, tail, doubt, left) = self.plan, self.arrive(phi)
        tail = self.reaching(tail)
        bands, share = Bands(levels(tail, plan.outside, self.n)), plan.passes[1] + left
        spread, bends, beyond = self.spread(tail, bands.levels), [Curvature(plan.leverage)], Beyond(bands.levels[-1])
        if self.ahead is not None:  # the step before was short: its curvature is still the one here. proof: passes
            bends, share = [], share + plan.curvature
        (found, noise), outer, count, *totals = self.parts(phi, bands, spread, share, beyond, *bends)
        curvature = self.ahead
        if curvature is None:
            curvature = self.curvature(bends[0], totals[0], plan.curvature, phi)
        curvature = self.halfway(curvature, np.sum(found, axis=0))
        curvature = self.stiffer(curvature, phi, np.sum(found, axis=0))
        inverse = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
        self.touched |= self.going_on(np.sum(found, axis=0), phi, curvature, inverse, doubt + float(np.sum(noise)))
        found, over = self.not_over(found, bands.levels, inverse)
        feared, more = self.feared(tail, beyond, count)
        kept, moment = self.worth_keeping(found, noise), self.moment(feared, spread, outer, inverse)
        fading = tail if self.growing == 1.0 else ending(tail, bands.levels[-1])
        result = self.solution(fading, bands.levels, found, noise, kept, phi, inverse, moment, feared=feared)
        move, scale = result.phi - phi, result.noise * float(np.linalg.norm(inverse)) / math.sqrt(self.p)
        covariance = result.covariance + self.left_by(inverse, move, float(np.sum(noise[:kept]))) + over
        rest = move - self.at_most(move)
        self.touched |= (self.columns > 1) & (self.each(move) > FARTHER)
        top = np.outer(found[-1], found[-1]) + float(noise[-1]) * np.eye(self.p)
        lost = BEYOND**2 * (more and self.blind)
        covariance = covariance + lost * inverse @ top @ inverse.T + np.outer(rest, rest)
        return replace(result, phi=phi + self.at_most(move), covariance=covariance, noise=scale)

    def going_on(self, gradient: Array, phi: Array, curvature: Array, inverse: Array, noise: float) -> Array:
        """Which classes' log odds go on by more than a part of their way and than noise does. proof: each

        Where classes are apart every step of Newton's goes on by about as much as the one before. ``noise``: variance of the
        gradient.
        """
        mix, shares = self.likelihood.mix, self.likelihood.shares
        parts = (
            [np.ones((1, 1))] if self.columns == 1 else [np.outer(m, m) * s for m, s in zip(mix.T, shares, strict=True)]
        )
        found = []
        for part in parts:
            one = np.kron(part, np.eye(self.p // self.columns))
            root = np.linalg.cholesky(curvature).T @ one
            move, way, noisy = root @ inverse @ gradient, root @ (phi - self.start), root @ inverse
            most = max(ARRIVED**2 * float(way @ way), 9.0 * noise * float(np.sum(noisy**2)))
            found.append(float(move @ move) > most)
        wide = [self.each(column) for column in math.sqrt(noise) * inverse.T]
        unsure = (self.columns > 1) & (np.linalg.norm(wide, axis=0) > UNSURE)
        return np.asarray(np.array(found) | unsure)

    def feared(self, tail: Tail, ask: Beyond, count: Array) -> tuple[Tail, bool]:
        """With more rows beyond the last level, if a count there has more than the curve, and whether it has. proof: beyond"""
        number, noise = self.count(ask, count, self.plan.checks[1])
        more = number > tail.beyond(ask.level) + DOUBTED * noise
        return tail.counted(ask.level, number + noise, noise) if more else tail, more

    def not_over(self, bands: Array, levels: tuple[float, ...], inverse: Array) -> tuple[Array, Array]:
        """Bands that move their own rows no farther than a curvature is good for, and the square of the rest. proof: over"""
        most = OVER * self.likelihood.rarest / float(np.linalg.norm(self.likelihood.mix, 2))
        moves = np.linalg.norm(bands @ inverse, axis=1)
        moves = np.minimum(moves, float(np.linalg.norm(np.sum(bands, axis=0) @ inverse)))  # some undo others
        kept = np.minimum(1.0, most / np.maximum(moves * np.append(0.0, levels[:-1]), 1e-300))
        rest = inverse @ np.sum((1.0 - kept)[:, None] * bands, axis=0)
        return kept[:, None] * bands, np.outer(rest, rest)

    def reaching(self, tail: Tail) -> Tail:
        """If nothing but a spike of the common classes is seen, with rows as long as the rarest class has them. proof: spike"""
        if self.longest:
            tail = tail.holding(self.longest * self.seen_to, self.plan.outside)
        whole, rare = self.p * self.n, self.n * float(np.min(self.likelihood.shares)) < RARE * self.plan.outside
        if not rare or tail.square() > SPIKE * whole:
            return tail
        return tail.holding(min(self.clip, math.sqrt(whole / self.plan.outside)), self.plan.outside)

    def left_by(self, inverse: Array, move: Array, noise: float) -> Array:
        """Square of what the last move may leave: it was long, and its curvature has noise. proof: arrived"""
        size = float(move @ move)
        signal = max(0.0, 1.0 - noise * float(np.sum(inverse**2)) / max(size, 1e-300))
        way = self.odds(move)
        rest = min(1.0, way * max(0.25, signal * (way / self.stride) ** 2) + self.lost)
        blur = self.blur**2 * inverse @ (size * np.eye(self.p) + np.outer(move, move)) @ inverse / 2.0
        return np.asarray(signal * rest**2 * np.outer(move, move) + blur)

    def spanned(self, *vectors: Array) -> Array:
        """An orthonormal basis of the constant, which comes first, and such rows."""
        constant = [] if self.constant is None else [self.direction]
        return np.asarray(np.linalg.qr(np.vstack([*constant, *vectors]).T)[0])

    def expected(self, phi: Array, bound: float) -> tuple[Array, Array]:
        """The curvature there if whitened rows were normal, and that of rows cut at ``bound``. proof: curvature

        In the few directions that matter, and by the length in all others.
        """
        found, m = self.matrix(phi), self.columns
        basis = self.spanned(found)
        free = len(basis) - basis.shape[1]
        z, others = imagined(basis.shape[1], free)
        if self.constant is not None:
            z = np.vstack([np.full(IMAGINED, basis[:, 0] @ self.direction / (self.direction @ self.direction)), z[1:]])
        odds = self.likelihood.mix.T @ found @ basis @ z
        mean = self.likelihood.mean(odds if m > 1 else odds[0])
        roots = [np.atleast_2d(root) for root in self.likelihood.roots(mean)]
        trace = (np.sum(z**2, axis=0) + others) * sum(np.sum(root**2, axis=0) for root in roots)
        along, across = np.kron(np.eye(m), basis), np.eye(len(basis)) - basis @ basis.T

        def mean_of(cut: Array) -> Array:
            each = [(root[:, None, :] * z * np.sqrt(cut)).reshape(-1, IMAGINED) for root in roots]
            apart = sum((root * cut * others / max(free, 1)) @ root.T for root in roots)
            return np.asarray(np.kron(apart, across) + along @ sum(v @ v.T for v in each) @ along.T) / IMAGINED

        return mean_of(np.ones(IMAGINED)), mean_of(np.minimum(1.0, bound / np.maximum(trace, 1e-300)))

    def curvature(self, bend: Curvature, total: Array, share: float, phi: Array) -> Array:
        """Released, and shrunk towards a multiple of what is expected as far as it is noise. proof: curvature"""
        (contribution,) = bend.contributions(self.p)
        self.blur = noise = self.spending.scale(contribution, share) / self.n
        released = self.spending.noisy(total, contribution, share) / self.n
        (whole, cut), p = self.expected(phi, bend.bound), self.p
        mean = max(float(np.trace(cut)) / p, 1e-9)
        more = float(np.trace(released)) / (p * mean) - 1.0
        more *= max(0.0, 1.0 - (noise / mean) ** 2 / (p * max(more**2, 1e-300)))
        scale = max(1.0 + more, LEAST / mean)
        rest = released - scale * cut
        rho = min(1.0, noise**2 * (p * (p + 1) / 2) / max(float(np.sum(rest**2)), 1e-300))
        doubt = CURVATURE_DOUBT * math.sqrt(2.0 * p) * noise * (1.0 - rho)
        low = max(LEAST * self.whitening.weakest, min(doubt / (scale * mean), 0.5))
        # As shares of what is expected: steep log odds have next to no curvature in their own direction.
        root = np.linalg.cholesky(scale * whole + 1e-9 * np.eye(p))
        inner = np.linalg.solve(root, np.linalg.solve(root, scale * whole + (1.0 - rho) * rest).T)
        return repaired(root @ repaired(inner, low, math.inf) @ root.T, 1e-9, 3.0 * max(self.steepest, 1.0))


def course(n: int, p: int, mu: float, share: float) -> Schedule:
    """What to spend on what, for p numbers in all: as in least squares, with a curvature at every step. proof: composition"""
    plan = schedule(n, p, mu, share)
    plan = replace(plan, banded=plan.outside < ROOM * n)
    clear = mu * math.sqrt(CURVATURE_SHARE) * n / math.sqrt(2.0 * p)
    plan = replace(plan, checks=(0.0, BEYOND_SHARE * plan.banded))
    plan = replace(plan, curvature=CURVATURE_SHARE, track=0.0, leverage=max(LEVERAGE * p, CURVATURE_FINE * clear))
    if plan.banded:
        final = share - SUMS_SHARE - math.fsum(STEPS) - plan.norms - plan.spread - CURVATURE_SHARE - BEYOND_SHARE
        return replace(plan, steps=STEPS, passes=(SUMS_SHARE, final))
    rest = share - plan.spread - CURVATURE_SHARE
    weights = GROWTH ** np.arange(LATER)
    later = rest * (1.0 - ARRIVING_SHARE) * weights / np.sum(weights)
    steps = (rest * ARRIVING_SHARE / ARRIVING,) * ARRIVING + tuple(map(float, later))
    return replace(plan, steps=steps, norms=0.0, passes=(0.0, 0.0))
