"""The functional mechanism: Laplace noise on the coefficients of the objective (Zhang et al. 2012).  Proof: functional.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import positive
from ..estimators.linear.bounds import moments
from ..privacy.claim import Cost
from ..privacy.contribution import Absolute
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import BoundedLinearRival, Problem, pure_cost

__all__ = ["FunctionalMechanism"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class FunctionalMechanism(BoundedLinearRival):
    """Minimise a noisy quadratic objective (Zhang et al. 2012); pure epsilon-DP (``delta`` is not used).

    Parameters
    ----------
    delta : float
        Ignored: the guarantee is pure, and the Release shows delta = 0.
    x_bound, y_bound : float
        Public bounds on the norm of a row and on |y|.
    coef_bound : float, optional
        If given, the coefficients are projected to this norm: post-processing.
    form : {"repaired", "literature"}
        "repaired": exact L1 sensitivity p + 1 + 2 sqrt p, and only eigenvalues that drown in noise are raised.
        "literature": sensitivity 2 (p+1)^2, a ridge of 4 standard deviations always, and what is still not positive dropped.
    """

    coef_bound: Any = None
    fit_intercept: bool = True
    form: str = "repaired"

    zero_out = ("repaired",)
    forms = ("repaired", "literature")

    def _cost(self, public: Problem) -> Cost:
        return pure_cost(public.budget)

    def _solve(self, rows: Rows, problem: Problem, spending: Spending) -> tuple[Array, float]:
        p, R, Y = problem.numbers, problem.radius, problem.y_bound
        repaired = self.form == "repaired"
        sensitivity = p + 1.0 + 2.0 * math.sqrt(p) if repaired else 2.0 * (p + 1.0) ** 2  # proof: coefficients
        limit = None if self.coef_bound is None else positive("coef_bound", self.coef_bound)
        reach = Absolute(sensitivity, 0.5 * sensitivity)
        sums = moments(rows, problem.x_bound, Y, problem.constant, weighted=repaired)
        scale = spending.laplace_scale(reach)
        upper = np.triu_indices(p, 1)
        # As published noise goes on the coefficients of the polynomial, where theta_i theta_j has 2 M_ij and theta_i 2 b_i.
        half = 1.0 if repaired else 0.5
        # Noise first, then scale to |x| <= 1, |y| <= 1: the sums are exact, their quotients are not. proof: coefficients
        blocks = [(np.diag(sums.gram).copy(), R * R), (sums.gram[upper], half * R * R), (sums.cross, half * R * Y)]
        diagonal, off, cross = spending.laplace_blocks(blocks, reach)
        gram = np.diag(diagonal) / (R * R)
        gram[upper] = off / (R * R)
        gram.T[upper] = gram[upper]
        cross = cross / (R * Y)
        values, vectors = np.linalg.eigh(gram)
        spread = math.sqrt(2.0) * scale
        values = np.maximum(values, 2.0 * spread) if repaired else values + 4.0 * spread
        kept = values > 0.0
        theta = Y / R * (vectors[:, kept] @ ((vectors[:, kept].T @ cross) / values[kept]))
        if limit is not None:
            theta = theta * min(1.0, limit / max(float(np.linalg.norm(theta)), 1e-300))
        return theta, spread * Y / (R * problem.n)
