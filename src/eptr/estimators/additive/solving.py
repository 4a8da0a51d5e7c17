"""Least squares on functions: coordinates, a second look where columns go together, a descent, and what it may leave.

Proof: solving.md.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import Ball, Interval
from ...privacy.spending import Portion
from ..coordinates import buy, closer, price
from ..descent import LONG_SHARE, Descent, Solution
from ..linear.bounds import moments
from ..linear.problem import Problem
from ..linear.refined import CLEAR, CROSS_SHARE, HOPELESS, SQUARE_SHARE, WARM, Squares, effective
from ..rough import Rough
from ..schedule import schedule
from ..whitening import Whitening
from .expansion import Expanded, Expansion
from .gram import denoised, frequencies

__all__ = ["Solved", "solve"]

Array = NDArray[np.float64]
LIGHT = 0.25  # least mean weight of rows in the matrix, for which long ones are shortened


@dataclass(frozen=True, slots=True)
class Solved:
    """A solution in whitened coordinates, these, which coefficients few rows tell about, and what is left to go."""

    solution: Solution
    whitening: Whitening
    unknown: NDArray[np.bool_]
    means: tuple[Array, float] | None  # of functions over the rows, as the matrix has them, and their noise
    missing: Array  # share of the way in each of the whitening's directions that moves may leave

    def left(self, to_functions: Array, estimate: Array, variance: Array, expansion: Expansion) -> Array:
        """Covariance of what moves may leave of coefficients that are about as long as the estimate's. See solving.md, left."""
        square, size = estimate**2 - np.diag(variance), np.zeros(len(estimate))
        groups = [frequencies(part.start, part.stop - part.start) for part in expansion.parts]
        means = [[max(0.0, float(np.mean(square[block]))) for block in each] for each in groups]
        total = [sum(each) for each in itertools.zip_longest(*means, fillvalue=0.0)]
        for each in groups:
            for k, block in enumerate(each):
                size[block] = max(total[k:])  # what is smoother may be as large
        ways = to_functions @ self.whitening.vectors
        rest = (ways * self.missing) @ np.linalg.inv(ways)
        return np.asarray((rest * size) @ rest.T)


def solve(
    rows: Expanded, public: Problem, spending: Portion, *, reach: float, pace: float, expansion: Expansion
) -> Solved:
    """As ``linear.refined.descend``: steps of length ``pace``, y seen up to ``reach`` times its bound."""
    n, p, bound = rows.n, public.numbers, public.y_bound
    mu = effective(spending.mu, spending.unit)
    banded = schedule(n, p, mu, 1.0).banded
    paid = price(public, spending, n, math.inf if banded else HOPELESS)
    sums = moments(rows, public.x_bound, bound, public.constant)
    found, more = buy(sums.gram, public, spending, paid, n, public.constant), 0.0
    means = None
    if paid.matrix and public.constant is not None:
        size = n * public.constant
        size *= max(float(found.gram[-1, -1]) / (size * public.constant), LIGHT)
        means = found.gram[:-1, -1] / size, found.noise / (math.sqrt(2.0) * size)
    square_of_y = Interval(0.0, bound**2)
    square = float(spending.noisy(sums.square, square_of_y, SQUARE_SHARE))  # proof: square
    if paid.matrix and len(expansion.terms) > 1:
        found = denoised(found, expansion, n)
    before = found
    alone = all(len(term) == 1 for term in expansion.terms)  # what is weak within a pair is weak where few rows are
    if banded and alone and len(expansion.terms) > 1:
        found, more = closer(rows, found, public, spending, paid, None)
    whitening, weak = found.whitening, found.weak
    doubt = spending.scale(square_of_y, SQUARE_SHARE)
    scale, limit = max(square - doubt, 0.04 * doubt) / n, math.sqrt((max(square, 0.0) + 2.0 * doubt) / n)
    products = Ball(public.radius * bound)
    away = spending.scale(products, CROSS_SHARE) * float(np.linalg.norm(whitening.matrix))
    start = away / math.sqrt(n * p * scale)
    warm = banded and start * float(np.max(whitening.doubt)) < WARM
    left = 1.0 - paid.share - more - LONG_SHARE * (weak is not None) - SQUARE_SHARE - CROSS_SHARE * warm
    plan = schedule(n, p, mu, left, warm=warm, clear=square > CLEAR * doubt, look=False)
    largest = math.sqrt(n / whitening.smallest) * public.radius * 2.0 * bound
    likelihood = Squares(-reach * bound, reach * bound)
    given = likelihood, rows, public.x_bound, public.constant, whitening, spending, plan, largest
    if not banded:
        solution = replace(Rough(*given).solve(scale, limit), longest=limit)
        return Solved(solution, whitening, found.undetermined(None, math.inf, n), means, np.zeros(p))
    descent, phi = Descent(*given, pace, frugal=True), np.zeros(p)
    if warm:
        phi = whitening.matrix.T @ spending.noisy(sums.cross, products, CROSS_SHARE) / n  # proof: cross
    phi = descent.steps(phi, scale, limit)
    if weak is not None:
        descent.reach(phi, weak)
    solution = replace(descent.finish(phi, square, doubt), longest=limit)
    known = before if descent.out_of_reach else found
    missing = ((1.0 - pace) + pace * np.minimum(whitening.doubt / 2.0, 1.0)) ** plan.moves - (1.0 - pace) ** plan.moves
    return Solved(solution, whitening, known.undetermined(None, plan.moves, n), means, missing)
