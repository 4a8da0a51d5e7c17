"""Class means and priors by two looks at the rows, the second around the first: no refusal.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...privacy.contribution import LabelledBall
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ..quantile import RADIUS_SHARE, private_quantile, private_radius, row_norms
from ..strategy import NoisySums
from . import shared
from .bounds import class_sums, from_centres
from .problem import BayesFitted, TestedClasses, drawn_together, into_ball, least_count

__all__ = ["Refined", "refined_means"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
CENTRE_SHARE = 0.20
SPREAD_SHARE = 0.06
SPREAD_LEVEL = 0.70  # quantile of |x - c_y| at which the second pass clips ...
SPREAD_RATE = 6.0  # ... or 1 - SPREAD_RATE/(sqrt(n) mu), whichever is larger: little noise needs little clipping
ONCE = 0.1  # one pass is enough if its noise is this small against the sampling error of a mean of unit variance


class Refined(NoisySums):
    """Two looks at every class, or one where that is clear enough; shared.py where the covariance is not known."""

    def planned_noise(self, public: TestedClasses) -> float:
        """On a mean, for classes of equal size and rows clipped at the worst radius: the true noise is smaller."""
        if public.shared:
            return shared.planned_noise(public)
        mu = public.budget.mu * math.sqrt(1.0 - CENTRE_SHARE - SPREAD_SHARE)
        return LabelledBall(public.x_bound).scale(public.unit, mu) * public.n_classes / public.n

    def fit(self, rows: Rows, public: TestedClasses, spending: Spending) -> BayesFitted:
        """Buy the bound if it is to be bought, then spend the rest on the looks."""
        if public.shared:
            return shared.discriminant(rows, public, spending)
        left: Portion = spending
        if public.to_buy:
            public = replace(public, x_bound=private_radius(rows, row_norms, spending))
            left = spending.within(1.0 - RADIUS_SHARE)
        found = refined_means(rows, public.n_classes, public.x_bound, left)
        return BayesFitted.of(*found, x_bound=public.x_bound)


def refined_means(rows: Rows, classes: int, x_bound: float, spending: Portion) -> tuple[Array, Array, float]:
    """Sums and counts by class, around zero and then, within a private radius, around what was released. proof: looks

    Returns means, priors, and the noise on a mean of a class of average size.
    """
    whole = LabelledBall(x_bound)
    # Clear data need no second look: the noise of the first is below a tenth of the sampling error already.
    once = spending.scale(whole, 1.0) * math.sqrt(classes) < ONCE * math.sqrt(rows.n)
    first_share, last_share = 1.0 if once else CENTRE_SHARE, 1.0 - CENTRE_SHARE - SPREAD_SHARE
    first = class_sums(rows, classes, x_bound)
    counts, sums = spending.noisy((first.counts, first.sums), whole, first_share)
    noise = spending.scale(whole, first_share)
    sizes = np.maximum(counts, least_count(rows.n, classes, noise / x_bound))
    centres = into_ball(drawn_together(sums / sizes[:, None], sizes, noise / sizes), x_bound)
    if once:
        return centres, sizes / sizes.sum(), noise / rows.n * classes
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
    noise = spending.scale(around, last_share)
    sizes = np.maximum(
        weight * counts + (1.0 - weight) * again, least_count(rows.n, classes, noise / radius * math.sqrt(1.0 - weight))
    )
    means = drawn_together(centres + sums / sizes[:, None], sizes, noise / sizes)
    return means, sizes / sizes.sum(), noise / rows.n * classes
