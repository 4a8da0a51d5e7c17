"""DPNBSS: naive Bayes with noise scaled to a smooth bound on local sensitivity (Zafarani and Clifton).  Proof: dpnbss.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ..errors import positive
from ..estimators.bayes.bounds import class_sums
from ..estimators.bayes.problem import Classes, MeansFitted
from ..privacy.claim import Cost
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import ClassRival, bare_cost, pure_cost

__all__ = ["DPNBSS"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class DPNBSS(ClassRival):
    """Class means with noise scaled to a smooth upper bound on their local sensitivity (Zafarani and Clifton).

    Parameters
    ----------
    epsilon, delta : float
        "repaired" does not use ``delta``, and the Release shows 0.
    x_bound : float
        Public bound on the norm of a row.
    count_share : float
        Share of epsilon spent on the counts.
    floor : float
        No class counts for less than this share of the rows.
    form : {"repaired", "gaussian", "literature"}
        "repaired": Cauchy noise, epsilon-DP in real numbers; for the floats that are drawn this is **not verified**, and
        the Release says so. "gaussian": Gaussian noise, (epsilon, delta)-DP by citation. "literature": Cauchy noise scaled
        by 2R/(n_k + 1) at the private class sizes without smoothing: **not private**, not smooth sensitivity.
    """

    count_share: float = 0.1
    floor: float = 0.02
    form: str = "repaired"

    forms = ("repaired", "gaussian", "literature")
    unverified = MappingProxyType(
        {
            "repaired": "the law of the noise in real numbers is epsilon-DP (smooth sensitivity, Nissim, Raskhodnikova and "
            "Smith 2007; proof in the repository), but the Cauchy floats that are drawn are quotients of rounded Gaussians, "
            "and what their last bits tell is not proven."
        }
    )
    citations = MappingProxyType(
        {
            "gaussian": "Nissim, Raskhodnikova and Smith (2007), Smooth sensitivity and sampling in private data analysis, "
            "Lemma 2.9 and Example 3: noise 5 sqrt(2 log(2/delta)) S/epsilon in each of p coordinates is "
            "(epsilon, delta)-DP if S is an upper bound of the local sensitivity that changes by at most a factor e^b "
            "between neighbours, b = epsilon/(4 (p + log(2/delta))). For real numbers: what the last bits of the noise tell "
            "about its private scale was not analysed."
        }
    )
    faults = MappingProxyType(
        {
            "literature": "its noise is scaled by the private class sizes without smoothing, so the noise itself tells them."
        }
    )

    def _cost(self, public: Classes) -> Cost:
        return bare_cost(public.budget) if self.form == "gaussian" else pure_cost(public.budget)

    def _fit(self, rows: Rows, public: Classes, spending: Spending) -> MeansFitted:
        share, floor = positive("count_share", self.count_share, below=1.0), positive("floor", self.floor, below=1.0)
        if self.form == "literature":
            share = 0.5
        K, p, radius, budget = public.n_classes, public.n_features, public.x_bound, public.budget
        sums = class_sums(rows, K, radius)
        means = sums.sums / np.maximum(sums.counts, 1.0)[:, None]
        noise = spending.by_its_own_theorem()
        counts = noise.laplace(sums.counts, 2.0 / (share * budget.epsilon) * (1.0 + 1e-12))
        width = 2.0 * radius * (1.0 + 1e-9)
        if self.form == "repaired":
            each = (1.0 - share) * budget.epsilon / (2.0 * p)  # proof: smooth
            scales = smooth_bound(sums.counts, width, each / 2.0) / (each / 2.0)
            means = noise.cauchy(means, np.broadcast_to(scales[:, None], means.shape))
        elif self.form == "gaussian":
            e, d = (1.0 - share) * budget.epsilon / 2.0, budget.delta / 2.0
            level = math.log(2.0 / d)
            scales = smooth_bound(sums.counts, width, e / (4.0 * (p + level))) * 5.0 * math.sqrt(2.0 * level) / e
            means = np.array(
                [noise.gaussian(m, float(s)) for m, s in zip(means, scales, strict=True)]
            )  # proof: gaussian
        else:
            each = (1.0 - share) * budget.epsilon / (K * p)
            scales = math.sqrt(2.0) * width / (sums.counts + 1.0) / each
            means = noise.cauchy(means, np.broadcast_to(scales[:, None], means.shape))
        # The size of the noise is itself a private number and is not told.
        return self._answer(np.maximum(counts, floor * rows.n), means, public, math.nan)


def smooth_bound(counts: Array, width: float, b: float) -> Array:
    """S_k = W max(1/n_k, exp(-b (n_k - 1))), W for an empty class: smooth with parameter b. proof: smooth"""
    n = np.maximum(counts, 1.0)
    return np.asarray(width * np.maximum(1.0 / n, np.exp(-b * (n - 1.0))))
