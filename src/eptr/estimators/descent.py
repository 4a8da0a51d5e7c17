"""The engine of refined fits: whitened steps, then two passes that undo the clipping of the steps.  Proof: descent.md.

A pass asks for the sum of gradients, each cut at a length. Cutting biases whatever is skewed, not cutting costs noise. So the
last passes split every gradient at a few lengths: the part below the first, what lies between the first and the second, and so
on up to a length that only about 1/mu rows exceed. Noise goes to the bands in proportion to their widths, and then all of
them together are as noisy as one sum cut at the top (descent.md, bands), while each can be left out if it is mostly noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Ball
from ..privacy.spending import Portion
from ..rows.engine import Rows
from .ends import lasting, levels, longer, ratio_beyond
from .gap import CLEAR as GAP_CLEAR
from .gap import PROBE, Gap
from .gradient import (
    ROW_BITS,
    Bands,
    Beyond,
    Curvature,
    Gradient,
    Likelihood,
    Norms,
    Parts,
    Slope,
    Spread,
    round_public,
)
from .learning import Learnt
from .long_rows import LongRows
from .schedule import SURE, Schedule
from .tail import RATIO, Tail
from .whitening import Whitening, repaired

__all__ = ["Descent", "Solution"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only.
NEAR = 9.0  # squared length of a move, in that of its noise, up to which it may be noise
# More rows are beyond a level than the curve says if a count is, by so many standard deviations. Intervals doubt the curve
# earlier: from as many standard deviations below as few rows allow.
CROWD, WARY = 3.0, (1.7, 0.0126)
KNOWN = 0.5  # share of the way by which a move may miss, and still go all of it
CROWDED = 0.01  # more rows than were meant may be beyond the last level: as many as the geometric mean of those and this share
LIMIT = 2.0  # on the length of the estimate, in root mean squares of y
STEP_CLIP = (
    2.0  # steps clip at this multiple of sqrt(p times the residual mean square); Schedule.target where noise rules
)
CURVATURES, CURVATURE_DOUBT = (0.7, 3.0), 3.0  # eigenvalues lie between these; the lower end falls with the noise
# Least spread of a direction, as a share of what it would be if errors were as large everywhere: all of it in directions of
# which there is less than this share of the mean in the Gram matrix.
EVEN, WEAK = 0.75, 1.0 / 3.0
SLOPE = 0.3  # least mean derivative of a step of symmetric errors
EXTRAPOLATE = 0.5  # of what the tail's curve says lies beyond the last level
UNSEEN = 0.25  # what may lie beyond it at least, in units of the last band, if outside/n = .002; growing as its root
MOST = 5.0  # what may lie beyond it at most
CLEAR = 0.5  # persons are added up if the noise of that is less than this much of what the bound would add
CELLS = 28
# Of the budget, on how long rows are in weak directions; the least of them, times p; and how many root mean squares of the
# residuals these rows' gradients are seen up to.
LONG_SHARE, LONG_LEAST, LONG_ERRORS = 0.03, 3.0, 2.0
LOUD = 2.0  # noise of the last pass, in standard errors of a coefficient, up to which bands reach out to them


@dataclass(frozen=True, slots=True)
class Solution:
    """In whitened coordinates: the estimate, its covariance, and the part of that which is privacy noise."""

    phi: Array
    covariance: Array
    noise: float
    residual_square: float
    banded: bool
    sampling: Array  # the part of the covariance that is not
    moves: tuple[Array, Array, float] | None = None  # whole moves that two passes asked for, and the noise of the last
    longest: float = math.inf  # that least squares can be, for y of such a size


class Descent:
    """A likelihood, rows, coordinates and a budget."""

    def __init__(
        self,
        likelihood: Likelihood,
        rows: Rows,
        x_bound: float,
        constant: float | None,
        whitening: Whitening,
        spending: Portion,
        plan: Schedule,
        largest: float,
        pace: float = 1.0,
        frugal: bool = False,
        even: bool = True,
    ) -> None:
        self.likelihood, self.rows, self.x_bound, self.constant = likelihood, rows, x_bound, constant
        self.whitening, self.spending, self.plan, self.largest = whitening, spending, plan, largest
        self.n, self.p, self.pace, self.frugal, self.even = rows.n, len(whitening.matrix), pace, frugal, even
        self.known = even and float(np.max(whitening.doubt)) < KNOWN  # whether a whole move will arrive
        self.learnt = Learnt(self.p, known=self.known)  # proof: overshoot
        # Row of a weak direction; of a curvature, by cutting such rows, at most; whether noise forbids to reach so far.
        self.longest, self.lost, self.out_of_reach = 0.0, 0.0, False
        self.counts: list[tuple[float, float, float]] = []  # level, number of rows beyond it, noise

    @property
    def seen_to(self) -> float:
        """How many times a long row its gradient is seen up to, in standard deviations of the errors."""
        return LONG_ERRORS

    def at(self, phi: Array) -> Gradient:
        """Gradients at a released point."""
        return Gradient(self.likelihood, self.x_bound, self.constant, self.whitening.matrix, self.theta(phi))

    def theta(self, phi: Array) -> Array:
        """Coefficients of rows as they are."""
        return np.asarray(self.whitening.matrix @ phi)

    def steps(self, phi: Array, scale: float, limit: float) -> Array:
        """Clipped steps of length ``pace``.

        ``scale``: mean square of y; the clip follows what phi leaves of it. ``limit``: on |phi|.
        """
        if self.plan.sizes:  # a wide range of y: its mean square is lost in noise, the cells of a histogram are not
            norms = self.norms()
            tail = self.read(norms, self.at(phi).sums(self.rows, norms)[0], self.plan.sizes)
            scale = max(scale, tail.square() / (self.n * self.p))
            limit = max(min(limit, LIMIT * math.sqrt(scale)), math.sqrt(scale))
        before = None
        for share in self.plan.steps:
            ball = Ball(STEP_CLIP * math.sqrt(self.p * max(scale - float(phi @ phi), 0.05 * scale)))
            (total,) = self.at(phi).sums(self.rows, Bands((ball.radius,)))
            variance = (self.spending.scale(ball, share) / self.n) ** 2
            gradient = self.spending.noisy(total[0], ball, share) / self.n  # proof: step
            if before is not None:
                self.learnt.from_move(phi - before[0], before[1], gradient, (before[2], variance), before[2])
            before = phi, gradient, variance
            phi = phi + self.pace * self.learnt.inverse @ gradient
            phi = phi * min(1.0, limit / max(float(np.linalg.norm(phi)), 1e-300))
        return phi

    def norms(self) -> Norms:
        """Cells up to the longest gradient there can be."""
        return Norms(tuple(float(self.largest * RATIO ** (k - (CELLS - 1.0))) for k in range(CELLS)))

    def read(self, norms: Norms, counts: Array, share: float) -> Tail:
        """How long gradients are."""
        (cell,) = norms.contributions(self.p)
        noisy = self.spending.noisy(counts, cell, share)  # proof: norms
        return Tail(np.array(norms.edges), noisy, self.spending.scale(cell, share))

    def tail(self, phi: Array, *asks: Curvature) -> tuple[Tail, list[Array]]:
        """How long gradients are, and what else is asked of the same pass."""
        norms = self.norms()
        counts, *others = self.at(phi).sums(self.rows, norms, *asks)
        return self.read(norms, counts, self.plan.norms), others

    def reach(self, phi: Array, weak: Array) -> None:
        """Out to long rows of ``weak`` directions, which a second look made as wide as others, if any are seen. proof: long"""
        rows = LongRows(max(self.plan.leverage, LONG_LEAST * self.p), self.p, self.n)
        seen_in = round_public(self.whitening.matrix @ weak, ROW_BITS - math.ceil(math.log2(len(weak) + 1)))
        at = Gradient(self.likelihood, self.x_bound, self.constant, seen_in, self.theta(phi))
        (cell,) = rows.ask.contributions(self.p)
        noisy = self.spending.noisy(at.sums(self.rows, rows.ask)[0], cell, LONG_SHARE)  # proof: long
        last = rows.last(noisy, self.spending.scale(cell, LONG_SHARE))
        if not last:
            return
        longest = rows.length(last)
        noise = self.spending.scale(Ball(longest * self.seen_to), self.plan.passes[1])
        self.out_of_reach = noise > LOUD * math.sqrt(self.n)
        if self.out_of_reach:
            return
        self.longest = longest
        if self.plan.curvature:
            (one,) = Curvature(1.0).contributions(self.p)
            leverage, self.lost = rows.cut(noisy, last, self.spending.scale(one, self.plan.curvature))
            self.plan = replace(self.plan, leverage=leverage)

    def reaching(self, tail: Tail) -> Tail:
        """With the gradients of long rows, if there are any. proof: long"""
        if not self.longest:
            return tail
        error = math.sqrt(max(tail.square(), 0.0) / (self.n * self.p))
        return tail.holding(min(self.longest * self.seen_to * error, self.largest), self.plan.outside)

    def finish(self, phi: Array, square: float = 0.0, doubt: float = math.inf) -> Solution:
        """Passes in bands up to a length that few rows exceed: two, or one where the start is good. proof: bands

        ``square``: y'y as it was released, with noise of standard deviation ``doubt``.
        """
        plan, once, left, moves = self.plan, self.plan.passes[0] == 0.0, np.zeros((self.p, self.p)), None
        bend = [Curvature(self.plan.leverage)] if plan.curvature else []
        pace = 1.0 if bend else self.pace  # without a curvature a whole move goes too far where a whole step does
        tail, curvature = self.tail(phi, *([] if once else bend))
        gap, lost = Gap(tail, phi, square, doubt, self.n, plan.outside), 0.0
        probes = gap.asks() if plan.checks[0] and plan.outside < SURE * self.n else []  # proof: gap
        if gap.clear > GAP_CLEAR and not probes:
            tail = gap.holding
        tail = self.reaching(tail)
        bands = Bands(levels(tail, plan.outside, self.n))
        spread, beyond = self.spread(tail, bands.levels), Beyond(bands.levels[-1])
        if once:
            (second, second_noise), outer, count, *curvature = self.parts(
                phi, bands, spread, plan.passes[1], beyond, *bend
            )
            inverse = self.inverse(bend, curvature)
            together, variance, centre, kept = second, second_noise, phi, self.worth_keeping(second, second_noise)
            left = self.left(inverse, inverse @ np.sum(second, axis=0))
        else:
            inverse = self.inverse(bend, curvature)
            asks = ([beyond] if plan.checks[0] else []) + probes
            (first, first_noise), *counts = self.bands(phi, bands, plan.passes[0], *asks)
            probing = PROBE * plan.passes[1] * len(probes)
            last = plan.passes[1] - probing
            way, noisy = np.sum(first, axis=0), float(np.sum(first_noise))
            signal = max(0.0, 1.0 - self.p * noisy / max(float(way @ way), 1e-300))
            # Where the curvature may be another than it seems, noise is not followed: no pass would undo it. proof: overshoot
            true = 1.0 if pace < 1.0 or self.known else signal
            move = pace * true * (inverse @ way)
            if counts:
                tail = self.counted(tail, beyond, counts[0], plan.checks[0])[0]
                for probe, count in zip(probes, counts[1:], strict=True):
                    hides, lost = gap.counted(probe.level, *self.count(probe, count, probing))
                    tail = gap.holding if hides else tail
                bands = longer(tail, bands, plan.outside, self.largest)  # proof: longer
            spread, beyond, low = self.spread(tail, bands.levels), Beyond(bands.levels[-1]), len(first)
            (second, second_noise), outer, count = self.parts(phi + move, bands, spread, last, beyond)
            noises = noisy, float(np.sum(second_noise))
            again = np.sum(second[:low], axis=0)
            self.learnt.inverse = inverse  # what the move was made with
            self.learnt.from_move(move, way, again, noises, true * noisy)
            inverse = self.learnt.inverse
            # Both passes point to the solution, and are averaged by precision, the same for every band. One that comes from afar
            # does so with its upper bands alone, and its noise is undone by those of the next: if they would be left out, the
            # next counts alone, and whole.
            kept, every = self.worth_keeping(second, second_noise), len(bands.levels)
            far = float(move @ move) > NEAR * self.p * noises[0]
            alone = far and kept < every and not self.learnt.overshot
            weight = 0.0 if alone else float(second_noise[0] / (first_noise[0] + second_noise[0]))
            kept, variance, together = every if alone else kept, second_noise.copy(), second.copy()
            together[:low] = weight * first + (1.0 - weight) * second[:low]
            variance[:low] = weight**2 * first_noise + (1.0 - weight) ** 2 * second_noise[:low]
            centre = phi + (1.0 - weight) * move
            if pace < 1.0 and not self.learnt.overshot:  # what short moves leave, the first pass showed. proof: short
                short = 1.0 - (1.0 - weight) * pace
                more = (1.0 - pace) * short * signal
                centre = centre + more * (inverse @ way)
                noise = ((1.0 - weight) * pace) ** 2 * second_noise
                noise[:low] += (pace * short + more) ** 2 * first_noise
                variance = np.maximum(variance, noise)
            moves = move / pace, inverse @ np.sum(second, axis=0), math.sqrt(noises[1])
            if far and pace == 1.0:  # with the right curvature nothing would be left to go but noise. proof: left
                rest = inverse @ again
                left = np.outer(rest, rest) * float(rest @ rest) / float(move @ move)
        checked = bool(plan.checks[1])
        tail, feared, few = self.counted(tail, beyond, count, plan.checks[1]) if checked else (tail, tail, False)
        moment = self.moment(feared, spread, outer, inverse)
        found = self.solution(tail, bands.levels, together, variance, kept, centre, inverse, moment, pace, feared)
        covariance = found.covariance + left + lost * np.eye(self.p)
        return replace(found, banded=few and not lost, covariance=covariance, moves=moves)

    def left(self, inverse: Array, move: Array) -> Array:
        """Square of what one pass may leave: long rows are shortened in the curvature too, if less than before. proof: left"""
        rest = (np.linalg.inv(inverse) - np.eye(self.p)) @ move / 2.0
        return np.outer(rest, rest)

    def count(self, ask: Beyond, count: Array, share: float) -> tuple[float, float]:
        """A number of rows, and its noise. proof: check"""
        (contribution,) = ask.contributions(self.p)
        return float(self.spending.noisy(count, contribution, share)), self.spending.scale(contribution, share)

    def counted(self, tail: Tail, ask: Beyond, count: Array, share: float) -> tuple[Tail, Tail, bool]:
        """The tail as a noisy count has it, as an interval must fear it, and whether few rows are beyond. proof: check"""
        (found, noise), meant = self.count(ask, count, share), self.plan.outside
        self.counts.append((ask.level, found, noise))
        found, noise = averaged([(number, sd) for level, number, sd in self.counts if level == ask.level])
        few = meant < SURE * self.n and found < meant + math.sqrt(CROWDED * self.n * meant) + noise
        told, wary = tail.beyond(ask.level), WARY[0] * math.log(meant / (WARY[1] * self.n))
        if self.frugal or found + max(wary, -CROWD) * noise < told:
            return tail, tail, few
        feared = tail.counted(ask.level, found + max(wary, 0.0) * noise, noise)
        crowded = self.even and found > told + CROWD * noise
        return tail.counted(ask.level, found, noise) if crowded else tail, feared, few

    def solution(
        self,
        tail: Tail,
        levels: tuple[float, ...],
        together: Array,
        variance: Array,
        kept: int,
        centre: Array,
        inverse: Array,
        moment: Array,
        pace: float = 1.0,
        feared: Tail | None = None,
    ) -> Solution:
        """From ``centre`` by the bands that are kept, and what lies beyond them; with the covariance of all that."""
        plan, n, p = self.plan, self.n, self.p
        estimate = centre + pace * (inverse @ np.sum(together[:kept], axis=0))
        # Beyond the last level: in the direction of the last band, as much as the tail's curve says. proof: unseen
        top = together[-1]
        ratio = ratio_beyond(tail, levels)
        if kept == len(levels):
            signal = max(0.0, 1.0 - p * float(variance[-1]) / max(float(top @ top), 1e-300))
            estimate = estimate + EXTRAPOLATE * min(ratio, 1.0) * signal * pace * (inverse @ top)
        sure = self.frugal and plan.outside < SURE * n
        ratio = ratio_beyond(feared or tail, levels)
        unseen = max(ratio, 0.0 if sure else UNSEEN * math.sqrt(plan.outside / n / 0.002))
        unseen = (
            min(unseen, 1.5)
            if self.frugal
            else min(max(unseen, lasting(together, variance, levels, self.largest)), MOST)
        )  # proof: lasting
        hidden = unseen**2 * (np.outer(top, top) + float(variance[-1]) * np.eye(p))
        noise, counted = float(np.sum(variance[:kept])), float(np.sum(variance))
        if self.frugal and not sure:  # proof: shown
            weights = (np.arange(len(levels)) >= kept) + unseen * (np.arange(len(levels)) == len(levels) - 1)
            lost, counted = weights @ together, noise
            signal = max(0.0, 1.0 - p * float(weights**2 @ variance) / max(float(lost @ lost), 1e-300))
            hidden = signal * np.outer(lost, lost)
        middle = moment / n + counted * np.eye(p) + hidden  # proof: sandwich
        covariance, sampling = (inverse @ part @ inverse.T for part in (middle, moment / n))
        square = float(np.trace(moment)) / self.spending.unit.rows if self.rows.each == 1 else tail.square() / n
        return Solution(estimate, covariance, math.sqrt(noise), square / p, True, sampling)

    def moment(self, tail: Tail, spread: Spread, total: Array, inverse: Array | None = None) -> Array:
        """Variance of sqrt(n) times the mean of v, scaled up by the tail's curve for what is cut off. proof: persons

        Cutting takes most from directions in which few, long rows tell, and these are weak in the Gram matrix. With the
        ``inverse`` curvature none is taken to be much less spread than it would be if errors were as large everywhere, and
        weak ones not at all.
        """
        found = self.outer(spread, total) * max(1.0, tail.square() / max(tail.square(spread.level), 1e-300)) / self.n
        if inverse is None or spread.each > 1:  # what persons' rows have in common is uneven
            return found
        values, vectors = np.linalg.eigh((inverse + inverse.T) / 2.0)
        root = (vectors * np.sqrt(np.maximum(values, 1e-9))) @ vectors.T
        even = root @ found @ root
        back = np.linalg.inv(root)
        known = np.where(self.whitening.values < WEAK * np.mean(self.whitening.values), 1.0, EVEN)
        known = (self.whitening.vectors * known) @ self.whitening.vectors.T
        least = np.kron(np.eye(self.p // len(known)), known) * (float(np.trace(even)) / self.p)
        return np.asarray(back @ (least + repaired(even - least, 0.0, math.inf)) @ back)

    def finish_symmetric(self, phi: Array, level: float) -> Solution:
        """One more pass, cut at ``level``: what is cut off cancels, if errors are symmetric. proof: bands"""
        bands, spread = Bands((level,)), Spread(level)
        bend: Any = Curvature(self.plan.leverage, level) if self.plan.leverage else Slope(level)
        (step, variance), outer, total = self.parts(phi, bands, spread, self.plan.passes[1], bend)
        matrix = isinstance(bend, Curvature)
        inverse = self.inverse([bend], [total]) if matrix else self.learnt.inverse / self.slope(bend, total)
        moment = self.outer(spread, outer) / self.n
        sampling = inverse @ moment @ inverse.T / self.n
        square = float(np.trace(inverse @ moment @ inverse.T)) / (self.p * self.spending.unit.rows)
        covariance = sampling + float(variance[0]) * inverse @ inverse.T
        return Solution(phi + inverse @ step[0], covariance, math.sqrt(float(variance[0])), square, True, sampling)

    def bands(self, phi: Array, bands: Bands, share: float, *asks: Any) -> Any:
        """Each band's noisy mean and its variance, and the exact sums of what else is asked of the same pass."""
        sums, *others = self.at(phi).sums(self.rows, bands, *asks)
        return self.released(bands, sums, share), *others

    def parts(self, phi: Array, bands: Bands, spread: Spread, share: float, *asks: Any) -> Any:
        """The same, with the exact sum of the spread in the second place."""
        both, *others = self.at(phi).sums(self.rows, Parts(bands, spread), *asks)
        return self.released(bands, both[: len(bands.levels)], share), both[len(bands.levels) :], *others

    def released(self, bands: Bands, sums: Array, share: float) -> tuple[Array, Array]:
        """Each band's noisy mean and its variance."""
        balls = bands.contributions(self.p)
        shares = [share * (ball.radius / bands.levels[-1]) for ball in balls]
        noisy = [self.spending.noisy(s, b, part) / self.n for s, b, part in zip(sums, balls, shares, strict=True)]
        variance = [(self.spending.scale(b, part) / self.n) ** 2 for b, part in zip(balls, shares, strict=True)]
        return np.array(noisy), np.array(variance)

    def inverse(self, bend: list[Curvature], total: list[Array]) -> Array:
        """Of the curvature, if there is one to release. proof: curvature"""
        if not bend:
            return self.learnt.inverse
        (contribution,), share = bend[0].contributions(self.p), self.plan.curvature
        released = self.spending.noisy(total[0], contribution, share) / self.n
        # Directions where a floor held the whitening back are weak; no other can be, so what looks weaker is noise.
        doubt = CURVATURE_DOUBT * math.sqrt(2.0 * self.p) * self.spending.scale(contribution, share) / self.n
        low = CURVATURES[0] * max(self.whitening.weakest, min(doubt, 1.0))
        if self.learnt.overshot:  # because of long rows, which are shortened in it
            return self.learnt.inverse
        # Rows that are shortened here and not in the Gram matrix, those of rare levels, make no direction weaker than that says.
        sure = 1.0 - 2.0 * np.minimum(self.whitening.doubt, 1.0) if math.isinf(bend[0].below) else 0.0
        known = np.maximum(low, sure) * np.ones(self.p)
        least = (self.whitening.vectors * known) @ self.whitening.vectors.T
        bent = least + repaired(released - least, 0.0, math.inf)
        return np.asarray(np.linalg.inv(repaired(bent, low, CURVATURES[1])), dtype=float)

    def outer(self, spread: Spread, total: Array) -> Array:
        """Sum of v v' with noise, positive definite. proof: spread"""
        contribution = spread.contributions(self.p)[0]
        noise = self.spending.scale(contribution, self.plan.spread)
        released = self.spending.noisy(total, contribution, self.plan.spread)
        largest = float(np.linalg.eigvalsh(released)[-1])
        found = repaired(released, 0.02 * max(largest, noise), math.inf)
        return found * self.spending.unit.rows if spread.each == 1 else found + noise * np.eye(self.p)  # proof: persons

    def spread(self, tail: Tail, levels: tuple[float, ...]) -> Spread:
        """At the last level, or a lower one if the noise of v v' would drown it; the tail's curve adds what is cut off.

        Of persons, if what one more standard deviation of noise adds is less than what their rows can have in common.
        """
        for each in sorted({1, self.rows.each}, reverse=True):
            level = levels[-1]
            noise = self.spending.scale(Spread(1.0, each).contributions(self.p)[0], self.plan.spread)
            while level > levels[0] and noise * level**2 * math.sqrt(self.p) > 0.2 * tail.square(level) / self.p:
                level /= RATIO
            if noise * level**2 < CLEAR * (each - 1) * tail.square(level) / self.p:
                break
        return Spread(level, each)

    def worth_keeping(self, bands: Array, variance: Array) -> int:
        """How many bands: the number with the smallest estimated risk, noise of what is kept plus bias of what is not.

        All of them for long rows: what is left out would be missing in one direction, that of every level of a factor.
        """
        if self.longest:
            return len(bands)
        risks = []
        for kept in range(1, len(bands) + 1):
            missing = np.sum(bands[kept:], axis=0)
            bias = max(0.0, float(missing @ missing) - self.p * float(np.sum(variance[kept:])))
            risks.append(bias + self.p * float(np.sum(variance[:kept])))
        return int(np.argmin(risks)) + 1

    def slope(self, bend: Slope, total: Array) -> float:
        """The mean derivative of a clipped step. proof: curvature"""
        released = float(self.spending.noisy(total, bend.contributions(self.p)[0], self.plan.curvature))
        return min(max(2.0 * released / self.n, SLOPE), 1.0)


def averaged(counts: list[tuple[float, float]]) -> tuple[float, float]:
    """Noisy numbers of one thing, by precision, and the noise of that."""
    precisions = [noise**-2 for _, noise in counts]
    total = math.fsum(precisions)
    return math.fsum(found * w for (found, _), w in zip(counts, precisions, strict=True)) / total, total**-0.5
