"""Coordinates for a descent: bought as a Gram matrix, or, where that would be all noise, as one scale.  Proof: coordinates.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..privacy.contribution import Ball, Interval, Outer
from ..privacy.spending import Portion
from ..rows.engine import Rows
from .gradient import ROW_BITS, Bands, Gradient, round_public
from .whitening import TOGETHER, Whitening, again, plain, shortened, undetermined, whiten

__all__ = ["TRACE_SHARE", "Coordinates", "Price", "buy", "closer", "price"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
GRAM_SHARE = (0.05, 0.12)  # at least and at most; between them, what makes a step miss by GRAM_NOISE of its way
GRAM_NOISE = 0.35
COMMON = 0.5  # of the variance of one: columns with less, in all or in the matrix, are those of few rows
TRACE_SHARE, TRACE_NOISE = (0.01, 0.12), 0.2  # the same of its trace
# Directions in which so many moves do not arrive are looked at again. Products of what a row has there and all of it are cut at
# so many times their usual length, as far as their noise is the first of these shares of the mean; if it is more than the
# second, the weakest directions alone are looked at.
CLOSER_MOVES, CLOSER_LENGTH, CLOSER_NOISE = 5, (2.0, 10.0), (0.1, 0.3)


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Whitening, and the released matrix with the standard deviation of its diagonal."""

    whitening: Whitening
    gram: Array
    noise: float
    weak: Array | None = None  # an orthonormal basis of the directions that were looked at twice

    def longer(self, times: float) -> Coordinates:
        """Of rows with so many times the squares: the longest were shortened for the matrix. See linear/refined.md, lengths."""
        old, bits = self.whitening, ROW_BITS - math.ceil(math.log2(len(self.gram) + 1))
        matrix = round_public(old.matrix / math.sqrt(times), bits)
        return Coordinates(
            replace(old, matrix=matrix, values=old.values * times), self.gram * times, self.noise * times
        )

    def shortened(self, variance: Array | None, n: int) -> Array:
        """How much more there is of columns of known variance than in the matrix."""
        return shortened(self.gram, self.noise, variance, n)

    def together(self, variance: Array | None, n: int) -> Array:
        """How far each direction is made of common columns: a weak one is weak because they go together."""
        sizes = np.diag(self.gram)
        common = sizes >= COMMON * np.mean(sizes)  # where nothing else is known of columns
        if variance is not None:
            common = np.append(~self.rare(variance, n), np.ones(len(sizes) - len(variance), dtype=bool))
        return np.asarray((common @ self.whitening.vectors**2) ** 2)

    def rare(self, variance: Array, n: int) -> NDArray[np.bool_]:
        """Columns of few rows."""
        return np.asarray((variance < COMMON) | (self.shortened(variance, n) > 1.0 / COMMON))

    def undetermined(self, variance: Array | None, steps: float, n: int) -> NDArray[np.bool_]:
        """Which coefficients too few rows tell about. A column of which nobody knows makes no direction one of common columns."""
        variance = None if variance is None else np.nan_to_num(variance)
        more, together = self.shortened(variance, n), self.together(variance, n)
        return undetermined(self.whitening, self.gram, self.noise, more, together, steps, n)


class Price(NamedTuple):
    """The share of the budget that coordinates take, and whether they are a matrix."""

    share: float
    matrix: bool


def price(public: Any, spending: Portion, n: int, hopeless: float, most: float = TRACE_SHARE[1]) -> Price:
    """``public``: the problem, columns of about unit size.

    If a clear matrix would take more than the share ``hopeless`` it is all noise, and only its trace is bought, for ``most``.
    """
    # The largest eigenvalue of the noise is about sd sqrt(2p).
    noise = spending.scale(Outer(public.radius, public.numbers), 1.0) * math.sqrt(2.0 * public.numbers)
    wanted = (noise / (GRAM_NOISE * n)) ** 2
    if wanted < hopeless:
        return Price(min(max(wanted, GRAM_SHARE[0]), GRAM_SHARE[1]), matrix=True)
    wanted = (spending.scale(_length(public), 1.0) / (TRACE_NOISE * n * public.n_features)) ** 2
    return Price(min(max(wanted, TRACE_SHARE[0]), most), matrix=False)


def buy(gram: Array, public: Any, spending: Portion, paid: Price, n: int, constant: float | None = None) -> Coordinates:
    """For what :func:`price` said; ``gram`` is exact. ``constant``: its square is known, if it is to have a scale of its own."""
    p, slopes = public.numbers, public.n_features
    if paid.matrix:
        outer = Outer(public.radius, p)
        noisy, noise = spending.noisy(gram, outer, paid.share), spending.scale(outer, paid.share)  # proof: gram
        return Coordinates(whiten(noisy, noise, n), noisy, noise)
    trace, noise = np.trace(gram[:slopes, :slopes]), spending.scale(_length(public), paid.share)
    total = float(spending.noisy(np.asarray(trace), _length(public), paid.share))  # proof: trace
    values = np.full(p, max(total, noise) / slopes)
    values[slopes:] = values[slopes:] if constant is None else n * constant**2
    return Coordinates(plain(values, n), np.eye(p), 1.0)  # nothing is known of the matrix


class _Plain:
    """What a row has in some directions, in the place of its residual."""

    def mean(self, predictor: Any) -> Any:
        return predictor

    def residual(self, y: Any, mean: Any) -> Any:
        return mean

    def roots(self, mean: Any) -> None:
        return None


def closer(
    rows: Rows, found: Coordinates, public: Any, spending: Portion, paid: Price, variance: Array | None
) -> tuple[Coordinates, float]:
    """The rows of the matrix in directions that are mostly noise, again, and their share: if common columns go together.

    proof: closer
    """
    n, p, first = rows.n, public.numbers, found.whitening
    together = found.together(variance, n)
    if not np.any(first.unknown(CLOSER_MOVES, n, together)[: public.n_features] > TOGETHER):
        return found, 0.0
    each, weak = spending.scale(Ball(1.0), paid.share) / n, np.flatnonzero(~first.arrived(CLOSER_MOVES, n))
    weak = weak[together[weak] > COMMON]
    count = len(weak)
    while count and CLOSER_LENGTH[0] * _loudness(each, count, p) > CLOSER_NOISE[1]:
        count -= 1
    if not count:
        return found, 0.0
    directions = first.vectors[:, weak[:count]]  # from the weakest
    times = min(max(CLOSER_NOISE[0] / _loudness(each, count, p), CLOSER_LENGTH[0]), CLOSER_LENGTH[1])
    bands = Bands((times * math.sqrt(count * p),))
    (ball,) = bands.contributions(p)
    at = Gradient(_Plain(), public.x_bound, public.constant, first.matrix, first.matrix @ directions)
    ((total,),) = at.sums(rows, bands)
    seen = np.reshape(spending.noisy(total, ball, paid.share), (-1, p))
    noise = spending.scale(ball, paid.share)
    second = again(first, directions, seen, noise, n)
    basis = np.linalg.qr(np.linalg.solve(second.matrix, first.matrix @ directions))[0]
    return replace(found, whitening=second, weak=basis), paid.share


def _loudness(each: float, count: int, p: int) -> float:
    """The largest noise of products in so many directions that are cut at their usual length, sqrt(count p)."""
    return math.sqrt(count * p) * each * (math.sqrt(p) + math.sqrt(count))


def _length(public: Any) -> Interval:
    """Squared, of a row without the constant."""
    return Interval(0.0, public.x_bound**2)
