"""DPNB: differentially private naive Bayes with Laplace noise (Vaidya et al. 2013).  Proof: dpnb.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..errors import positive
from ..estimators.bayes.bounds import class_sums
from ..estimators.bayes.problem import Classes, MeansFitted
from ..privacy.claim import Cost
from ..privacy.contribution import Absolute
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import ClassRival, pure_cost

__all__ = ["DPNB"]


@dataclass(eq=False, repr=False)
class DPNB(ClassRival):
    """Laplace noise on counts and class statistics (Vaidya et al. 2013); pure epsilon-DP (``delta`` is not used).

    Parameters
    ----------
    delta : float
        Ignored: the guarantee is pure, and the Release shows delta = 0.
    x_bound : float
        Public bound on the norm of a row.
    count_share : float
        Share of epsilon spent on the counts.
    floor : float
        No class counts for less than this share of the rows.
    form : {"repaired", "coordinates", "literature"}
        "repaired": noise for the L1 sensitivity 2 sqrt(p) R of the whole sum matrix. "coordinates": the budget divided
        over p coordinates, 2R each, nearest to the publication. "literature": noise on class means scaled by the
        **private** class sizes, half of the budget on counts, the rest over all K p means: **not private**, because the
        size of the noise is a function of the data and nothing bounds the mean of a class that may shrink.
    """

    count_share: float = 0.1
    floor: float = 0.02
    form: str = "repaired"

    zero_out = ("repaired", "coordinates")
    forms = ("repaired", "coordinates", "literature")
    faults = MappingProxyType(
        {"literature": "its noise is scaled by the private class sizes, so the noise itself tells them."}
    )

    def _cost(self, public: Classes) -> Cost:
        return pure_cost(public.budget)

    def _fit(self, rows: Rows, public: Classes, spending: Spending) -> MeansFitted:
        share, floor = positive("count_share", self.count_share, below=1.0), positive("floor", self.floor, below=1.0)
        K, p, radius, budget = public.n_classes, public.n_features, public.x_bound, public.budget
        sums = class_sums(rows, K, radius)
        if self.form == "literature":
            noise = spending.by_its_own_theorem()
            each = budget.epsilon / 2.0 / (K * p)
            counts = np.maximum(noise.laplace(sums.counts, 2.0 * K / budget.epsilon), floor * rows.n)
            scales = 2.0 * radius / ((sums.counts + 1.0) * each)
            clean = sums.sums / np.maximum(sums.counts, 1.0)[:, None]
            means = clean + scales[:, None] * noise.laplace(np.zeros_like(clean), 1.0)
            scale = float("nan")  # it depends on the data and is not told
        else:
            counts = np.maximum(spending.laplace(sums.counts, Absolute(2.0, 1.0), share), floor * rows.n)
            width = math.sqrt(p) if self.form == "repaired" else float(p)
            reach = Absolute(2.0 * radius * width, radius * width)  # proof: sums
            scale = spending.laplace_scale(reach, 1.0 - share)
            means = spending.laplace(sums.sums, reach, 1.0 - share) / counts[:, None]
        return self._answer(counts, means, public, scale / rows.n)
