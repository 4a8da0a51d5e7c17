"""DPJL: a random projection of the rows (Sheffet 2017).  Proof: dpjl.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accounting.budget import Budget
from ..estimators.linear.bounds import moments
from ..privacy.claim import Cost
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import BoundedLinearRival, Problem, bare_cost, checked_count

__all__ = ["DPJL"]

Array = NDArray[np.float64]
_THEOREM = (
    "Sheffet (2017), Differentially private ordinary least squares, Theorem 4: a Gaussian sketch of r rows of [X y] is "
    "(epsilon, delta)-DP if every row of [X y] has norm at most B and the sketched matrix has a least squared singular "
    "value of at least w^2 = (8 B^2/epsilon)(sqrt(2 r log(8/delta)) + 2 log(8/delta)), tested with Laplace noise or "
    "enforced by a ridge. For real numbers: the sketch and the eigenvalues are computed in floating point here."
)


@dataclass(eq=False, repr=False)
class DPJL(BoundedLinearRival):
    """Least squares on a Gaussian sketch of (X, y) (Sheffet 2017); (epsilon, delta)-DP by citation.

    Parameters
    ----------
    x_bound, y_bound : float
        Public bounds on the norm of a row and on |y|.
    sketch : int, optional
        Rows r of the sketch. Default: "repaired" minimises sampling error plus ridge bias under public guesses
        (columns of size x_bound/(1.5 sqrt p), noise of y_bound/4); "literature" takes max(p + 10, min(n, 5 p)).
    form : {"repaired", "literature"}
        They differ in the size of the sketch only.

    Notes
    -----
    The guarantee is the published theorem; it was not re-derived here, and the Release says "cited". The sketch is a product
    of floats, rounded to a public grid; it is not protected against attacks on the last bits the way exact noise is.
    """

    sketch: Any = None
    fit_intercept: bool = True
    form: str = "repaired"

    forms = ("repaired", "literature")
    citations = MappingProxyType({"repaired": _THEOREM, "literature": _THEOREM})

    def _cost(self, public: Problem) -> Cost:
        return bare_cost(public.budget)

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        p, budget = problem.numbers, problem.budget
        square = problem.radius**2 + problem.y_bound**2  # B^2
        r = checked_count("sketch", self.sketch) or self._sketch_rows(problem, budget, square)
        ridge = _ridge(budget, square, r)
        weighted = self.form == "repaired"
        sums = moments(rows, problem.x_bound, problem.y_bound, problem.constant, weighted=weighted)
        whole = np.block([[sums.gram, sums.cross[:, None]], [sums.cross[None, :], np.atleast_2d(sums.square)]])
        noise = spending.by_its_own_theorem()
        # proof: theorem
        doubt = float(noise.laplace(np.array(0.0), 4.0 * square / budget.epsilon))
        values, vectors = np.linalg.eigh(whole)
        ridged = float(values[0]) <= ridge + doubt + 4.0 * square * math.log(1.0 / budget.delta) / budget.epsilon
        spectrum = np.sqrt(np.maximum(values, 0.0) + (ridge if ridged else 0.0))
        grid = 2.0**-20 * math.sqrt(square)
        sketch = noise.gaussian(np.zeros((r, p + 1)), 1.0) @ (vectors * spectrum).T
        sketch = np.rint(sketch / grid) * grid
        return np.linalg.lstsq(sketch[:, :p], sketch[:, p], rcond=None)[0], math.sqrt(ridge) / rows.n

    def _sketch_rows(self, problem: Problem, budget: Budget, square: float) -> int:
        n, p = problem.n, problem.numbers
        if self.form == "literature":
            return max(p + 10, min(n, 5 * p))
        size = n * problem.radius**2 / (2.25 * p)  # a public guess of the eigenvalues of X'X
        candidates = np.unique(np.geomspace(p + 3, max(p + 4, n), 200).astype(int))
        sampling = (problem.y_bound / 4.0) ** 2 * 2.25 * p / problem.radius**2 * p / (candidates - p - 1.0)
        ridge = np.array([_ridge(budget, square, int(r)) for r in candidates])
        return int(candidates[np.argmin(sampling + (ridge / (size + ridge)) ** 2)])


def _ridge(budget: Budget, square: float, r: int) -> float:
    """w^2 = (8 B^2/eps) (sqrt(2 r log(8/delta)) + 2 log(8/delta))."""
    level = math.log(8.0 / budget.delta)
    return 8.0 * square / budget.epsilon * (math.sqrt(2.0 * r * level) + 2.0 * level)
