"""Class means and priors by two looks at the rows, the second around the first: no refusal.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import LabelledBall
from ...privacy.spending import Portion
from ...privacy.unit import Unit
from ...rows.engine import Rows
from ..quantile import private_quantile, row_norms
from .bounds import class_sums, from_centres
from .model import into_ball

__all__ = ["RefinedMeans", "planned_noise", "refined_means"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
CENTRE_SHARE = 0.20
SPREAD_SHARE = 0.06
SPREAD_LEVEL = 0.70  # quantile of |x - c_y| at which the second pass clips ...
SPREAD_RATE = 6.0  # ... or 1 - SPREAD_RATE/(sqrt(n) mu), whichever is larger: little noise needs little clipping
ONCE = 0.1  # one pass is enough if its noise is this small against the sampling error of a mean of unit variance
# No class is given less than this share of the rows when dividing by its noisy count.
COUNT_FLOOR = 0.005


@dataclass(frozen=True, slots=True)
class RefinedMeans:
    """Released class means and priors, and the noise on a mean of a class of average size."""

    means: Array
    priors: Array
    scale: float


def refined_means(rows: Rows, classes: int, x_bound: float, spending: Portion) -> RefinedMeans:
    """Sums and counts by class, around zero and then, within a private radius, around what was released. proof: looks"""
    whole = LabelledBall(x_bound)
    # Clear data need no second look: the noise of the first is below a tenth of the sampling error already.
    once = spending.scale(whole, 1.0) * math.sqrt(classes) < ONCE * math.sqrt(rows.n)
    first_share, last_share = 1.0 if once else CENTRE_SHARE, 1.0 - CENTRE_SHARE - SPREAD_SHARE
    first = class_sums(rows, classes, x_bound)
    counts, sums = spending.noisy((first.counts, first.sums), whole, first_share)
    floor = COUNT_FLOOR * rows.n
    centres = into_ball(sums / np.maximum(counts, floor)[:, None], x_bound)
    if once:
        counts = np.maximum(counts, floor)
        return RefinedMeans(centres, counts / counts.sum(), spending.scale(whole, first_share) / rows.n * classes)
    # Rows of a class sit around its centre: a private radius instead of the whole ball.
    level = 1.0 - min(1.0 - SPREAD_LEVEL, SPREAD_RATE / (math.sqrt(rows.n) * spending.mu))
    radius = private_quantile(
        rows, lambda x, y: row_norms(from_centres(x, y, centres), y), level,
        low=x_bound * 2.0**-16, high=2.0 * x_bound, spending=spending, share=SPREAD_SHARE,
    )  # fmt: skip
    around = LabelledBall(radius)
    second = class_sums(rows, classes, radius, centres)
    again, sums = spending.noisy((second.counts, second.sums), around, last_share)
    # The same counts were released twice: weight by precision.
    first_square, last_square = spending.share(first_share) ** 2, spending.share(last_share) ** 2
    weight = first_square / (first_square + last_square)
    counts = np.maximum(weight * counts + (1.0 - weight) * again, floor)
    scale = spending.scale(around, last_share) / rows.n * classes
    return RefinedMeans(centres + sums / counts[:, None], counts / counts.sum(), scale)


def planned_noise(n: int, classes: int, x_bound: float, unit: Unit, mu: float) -> float:
    """Noise on a mean for classes of equal size and rows clipped at the worst radius: the true noise is smaller."""
    return LabelledBall(x_bound).scale(unit, mu * math.sqrt(1.0 - CENTRE_SHARE - SPREAD_SHARE)) * classes / n
