"""Noisy sufficient statistics: class counts and class sums with Gaussian noise, counts for free.  Proof: noisy_statistics.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import positive
from ..estimators.bayes.bounds import class_sums
from ..estimators.bayes.problem import Classes, MeansFitted
from ..privacy.contribution import LabelledBall
from ..privacy.spending import Spending
from ..rows.engine import Rows
from .base import ClassRival

__all__ = ["NoisyStatistics"]


@dataclass(eq=False, repr=False)
class NoisyStatistics(ClassRival):
    """Class counts and sums released together with Gaussian noise; (epsilon, delta)-DP. The strongest simple rival.

    Parameters
    ----------
    x_bound : float
        Public bound on the norm of a row.
    floor : float
        No class counts for less than this share of the rows.
    """

    floor: float = 0.02
    form: str = "repaired"

    zero_out = ("repaired",)

    def _fit(self, rows: Rows, public: Classes, spending: Spending) -> MeansFitted:
        floor = positive("floor", self.floor, below=1.0) * rows.n
        radius, joint = public.x_bound, LabelledBall(public.x_bound)
        sums = class_sums(rows, public.n_classes, radius)
        counts, totals = spending.draw((sums.counts, sums.sums), joint, spending.mu)  # proof: joint
        counts = np.maximum(counts, floor)
        scale = joint.scale(spending.unit, spending.mu) / rows.n * len(counts)
        return self._answer(counts, totals / counts[:, None], public, scale)
