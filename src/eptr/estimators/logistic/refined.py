"""Logistic regression by private steps from the model without slopes to maximum likelihood: no refusal.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import truncnorm

from ...privacy.claim import Cost
from ...privacy.contribution import Ball, Cell, Interval
from ...privacy.spending import Portion, Spending
from ...rows.engine import RowFunction, Rows
from ...rows.memory import MemoryRows
from ...rows.namespace import doubles
from ..columns import FEW, LEAST, Columns, Standardised, standardise
from ..coordinates import TRACE_SHARE, buy, closer, price
from ..descent import LONG_SHARE, Solution
from ..linear.refined import (
    COLUMNS_SHARE,
    OUTSIDE_SHARE,
    ROW_LENGTH,
    SIMULATED,
    effective,
    simulated_columns,
)
from ..planning import Plan
from ..quantile import RADIUS_SHARE
from ..ranges import buy_ranges
from ..shrinking import james_stein
from ..strategy import NoisySums
from .corner import Corner
from .lengths import cut_short, farthest, lengthened
from .likelihood import Classes, likelihood
from .look import look
from .newton import Newton, course
from .problem import LogisticFitted, LogisticProblem
from .rough import Rough

__all__ = ["Refined"]

Array = NDArray[np.float64]

# By trial on simulated data alone; benchmarks/logistic.py measures what they give. Shares are of mu^2.
COUNT_SHARE, MOST_COUNT_SHARE = 0.02, 0.4  # on the number of rows of every class, at least and at most ...
ROUGHLY = 0.05  # ... or what makes the noise of a share so large
HOPELESS = 2.0  # share of the budget from which a Gram matrix is not worth trying
ROUGH_COLUMNS = 0.06, 0.5  # share and least scale of columns where noise rules
GROWING = 2.0  # how much longer gradients of such a column may become than they are without slopes
HOPE = 6.0  # over mu, times the root of the number of coefficients: rows of a class from which slopes are sought


@dataclass(frozen=True, slots=True)
class Coded:
    """Rows whose labels are numbers: the codes of the classes."""

    rows: Rows

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def each(self) -> int:
        return self.rows.each

    @property
    def largest(self) -> float:
        return getattr(self.rows, "largest", math.inf)

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        return self.rows.sum(lambda x, y, keep: fn(x, doubles(y), keep))


@dataclass(frozen=True, slots=True)
class Found:
    """Where a fit ended, and the maps from its coordinates to log odds against the first class."""

    solution: Solution
    start: Array
    columns: Array  # from whitened coordinates to coefficients of (x, constant)
    classes: Array
    undetermined: NDArray[np.bool_]  # by class but the first, and coefficient
    shares: Array
    outside: float


class Refined(NoisySums):
    """Clipped steps, then Newton's, with standard errors from the same release."""

    def plan(self, public: LogisticProblem) -> Plan:
        """A fit to simulated rows with the same n, bounds and budget, in classes of equal size."""
        n, rng = min(public.n, SIMULATED), np.random.default_rng(0)
        x = simulated_columns(public, n, rng)
        rows = MemoryRows(x, rng.integers(public.n_classes, size=n))
        # The noise on a mean is 1/(n mu): fewer rows stand for many if mu grows as they shrink.
        mu = public.budget.mu * public.n / n
        spending = Spending(Cost(1.0, 0.5, "gaussian", mu), public.unit, rows, random_state=0)
        found = self.fit(rows, replace(public, n=n), spending)
        errors = np.sqrt(np.diag(found.covariance)) * math.sqrt(n / public.n)
        errors = np.where(np.ravel(found.undetermined), math.inf, errors)
        error = errors.size * found.noise**2
        plan = Plan("refined", public.n, public.n_features, "", found.noise, error, 0.0, 0.0, 0.0)
        return replace(plan, standard_errors=tuple(map(float, errors)))

    def planned_noise(self, public: LogisticProblem) -> float:
        return self.plan(public).noise_scale

    def fit(self, rows: Rows, public: LogisticProblem, spending: Spending) -> LogisticFitted:
        """Buy ranges if they are to be bought, standardise the columns if they have ranges, then spend the rest."""
        coded: Rows = Coded(rows)
        left: Portion = spending
        if public.to_buy:
            public = replace(public, x_bound=None, x_range=buy_ranges(coded, spending, RADIUS_SHARE))
            left = left.within(1.0 - RADIUS_SHARE)
        stated, columns = public.stated, None
        if public.x_range is not None:
            mu = effective(left.mu, left.unit)
            # Where noise rules, rare levels are not worth a scale of their own.
            banded = course(public.n, public.numbers * (public.n_classes - 1), mu, 1.0).banded
            share, least = (COLUMNS_SHARE, LEAST) if banded else ROUGH_COLUMNS
            columns, left = standardise(
                coded, *public.x_range, None, None, left, share, centred=public.fit_intercept, mu=mu, least=least
            )
            public = replace(public, x_bound=ROW_LENGTH * math.sqrt(public.n_features))
            coded = Standardised(coded, columns, 0.0)
        found = climb(coded, public, left, columns)
        return _report(found, columns, public, stated)


def count_share(n: int, spending: Portion) -> float:
    """What the counts get: more where the share of a class would be told only roughly. proof: counts"""
    alone = spending.scale(Cell(), 1.0) / (math.sqrt(2.0) * n)
    return min(max(COUNT_SHARE, (alone / ROUGHLY) ** 2), MOST_COUNT_SHARE)


def told(noisy: Array, noise: float, n: int) -> Array:
    """The mean of the counts given what was released: none is negative, and they add up to n. proof: counts"""
    missing, classes = n - float(np.sum(noisy)), len(noisy)
    if abs(missing) < 3.0 * noise * math.sqrt(classes):  # else rows were dropped
        noisy, noise = noisy + missing / classes, noise * math.sqrt(1.0 - 1.0 / classes)
    return np.asarray(truncnorm.mean(-noisy / noise, (n - noisy) / noise, noisy, noise))


def without_slopes(shares: Array, noise: float, public: LogisticProblem, outside: float) -> Found:
    """The shares of the classes and nothing else; no coefficient is told. ``noise``: of a share. proof: alone"""
    model, p, constant = likelihood(shares), public.numbers, public.constant or 1.0
    phi = np.zeros((len(model.mix), p))
    phi[:, -1] = model.start / constant
    noise = noise * float(np.linalg.norm(model.mix, 2)) / constant
    sampling = np.eye(phi.size) / (public.n * constant**2)
    solution = Solution(phi.ravel(), sampling + noise**2 * np.eye(phi.size), noise, 1.0, False, sampling)
    unknown = np.ones((len(shares) - 1, p), dtype=bool)
    return Found(solution, phi.ravel(), np.eye(p), against_first(model), unknown, shares, outside)


def against_first(model: Classes) -> Array:
    """From what is mixed to log odds against the first class."""
    mix, classes = model.mix, len(model.shares)
    return np.asarray((mix[:, 0] if classes == 2 else mix[:, 1:] - mix[:, :1]).reshape(classes - 1, -1).T)


def climb(rows: Rows, public: LogisticProblem, spending: Portion, columns: Columns | None) -> Found:
    """From rows of about unit size to a solution in whitened coordinates.

    ``columns``: what is known of them; rows beyond the bound are counted where that is nothing.
    """
    n, p, classes, count = rows.n, public.numbers, public.n_classes, columns is None
    mu = effective(spending.mu, spending.unit)
    counted = count_share(n, spending) if public.fit_intercept else 0.0
    paid = price(public, spending, n, HOPELESS, TRACE_SHARE[0])
    rest = 1.0 - paid.share - counted - OUTSIDE_SHARE * count
    plan = course(n, p * (classes - 1), mu, rest)

    seen = look(rows, public.x_bound, public.constant, classes)
    found, outside = buy(seen.gram, public, spending, paid, n, public.constant), 0.0
    if count:
        beyond = spending.noisy(seen.outside, Interval(0.0, 1.0), OUTSIDE_SHARE)  # proof: outside
        outside = min(max(float(beyond) / n, 0.0), 1.0)
    shares, few = np.full(classes, 1.0 / classes), np.zeros(classes, dtype=bool)
    if public.fit_intercept:
        noisy = spending.noisy(seen.counts, Cell(), counted)  # proof: counts
        sizes, hope = told(noisy, spending.scale(Cell(), counted), n), HOPE * math.sqrt(p) / mu
        if np.sum(sizes < hope) >= classes - 1:
            again = spending.noisy(seen.counts, Cell(), rest)  # proof: alone
            noisy, noise = (counted * noisy + rest * again) / (counted + rest), spending.scale(Cell(), counted + rest)
            sizes = told(noisy, noise, n)
            return without_slopes(sizes / np.sum(sizes), noise / n, public, outside)
        shares, few = np.maximum(sizes, min(hope, n / (2.0 * classes))), noisy < FEW / mu
        shares = shares / np.sum(shares)

    bought, raw = found, paid.matrix and columns is not None and public.fit_intercept
    longer = lengthened(found, columns, n) if raw and columns is not None else None
    found = longer or found
    more, before = 0.0, found
    if plan.banded and columns is not None:
        found, more = closer(rows, found, public, spending, paid, columns.variance)
        plan = course(n, p * (classes - 1), mu, rest - more - LONG_SHARE * (more > 0.0))
    model, whitening = likelihood(shares), found.whitening
    largest = math.sqrt(n / whitening.smallest) * public.radius * math.sqrt(2.0) * float(np.linalg.norm(model.mix, 2))
    way = Newton if plan.banded else Rough
    newton: Newton = way(model, rows, public.x_bound, public.constant, whitening, spending, plan, largest)
    if isinstance(newton, Rough) and columns is not None and public.fit_intercept:
        newton.corner = Corner.of(columns).if_cheap()
    start, newton.blind = newton.start, columns is not None and bool(np.any(np.isnan(columns.variance)))
    if longer is not None and columns is not None:  # proof: longer
        newton.growing, newton.farthest = GROWING, farthest(columns)
    if not plan.banded and paid.matrix and columns is not None:  # proof: longer
        newton.touched |= bool(np.any(cut_short(bought, columns, n)))
    if found.weak is not None:
        newton.reach(start, found.weak)
    if plan.banded and not few.any() and longer is None:
        ball, share = Ball(public.radius), plan.passes[0]
        start = newton.begun(spending.noisy(seen.sums, ball, share), spending.scale(ball, share))  # proof: sums
    elif plan.banded:  # the last pass has what sums do not cost
        newton.plan = replace(newton.plan, passes=(0.0, math.fsum(plan.passes)))
    solution = newton.solve(start)
    solution = replace(solution, phi=newton.inside(solution.phi))
    found = before if newton.out_of_reach else found
    hidden = found.undetermined(None if columns is None else columns.variance, plan.moves, n)
    if not plan.banded and paid.matrix and columns is not None:  # rows far out may be a code. proof: longer
        may_be = replace(columns, variance=np.where(np.isnan(columns.variance), 1.0, columns.variance))
        hidden[: len(columns.variance)] |= cut_short(bought, may_be, n)
    far = np.broadcast_to(newton.touched, classes)
    unknown = hidden[None, :] | (few[1:] | few[0] | far[1:] | far[0])[:, None]
    return Found(solution, newton.start, whitening.matrix, against_first(model), unknown, shares, outside)


def _report(found: Found, columns: Columns | None, public: LogisticProblem, stated: dict[str, Any]) -> LogisticFitted:
    """Log odds in the user's units; all of it post-processing."""
    slopes, m = public.n_features, public.n_classes - 1
    to_user, undetermined, outside = np.diag(public.scaling), found.undetermined, found.outside
    middle = np.zeros(slopes)
    if columns is not None:
        to_user[range(slopes), range(slopes)] = 1.0 / columns.scale
        undetermined[:, :slopes] |= columns.too_few
        outside, middle = columns.outside, columns.centre
        if public.fit_intercept:
            to_user[-1, :slopes] = -columns.centre / columns.scale
            undetermined[:, -1] |= np.any(undetermined[:, :slopes] & columns.far, axis=1)
    back = np.kron(found.classes, to_user @ found.columns)
    centre, covariance = back @ found.solution.phi, back @ found.solution.covariance @ back.T
    sampling = None
    if found.solution.sampling is not None:
        sampling = np.sqrt(np.maximum(np.diag(back @ found.solution.sampling @ back.T), 0.0))
    noise = found.solution.noise * math.sqrt(float(np.mean(np.sum(back**2, axis=1))))
    centre = centre.reshape(m, -1)
    each = [j * public.numbers + i for j in range(m) for i in range(slopes)]
    factor = 1.0  # where noise rules, the fit was shrunk as far as it should
    if found.solution.banded:
        factor = james_stein(centre[:, :slopes].ravel(), found.solution.noise**2 * (back[each] @ back[each].T))
    shrunk = centre.copy()
    shrunk[:, :slopes] *= factor
    if public.fit_intercept:
        shrunk[:, -1] += (1.0 - factor) * (centre[:, :slopes] @ middle)
    wide = shrunk if m == 1 else np.vstack([np.zeros(public.numbers), shrunk]) - np.sum(shrunk, axis=0) / (m + 1)
    intercept = wide[:, -1] if public.fit_intercept else np.zeros(len(wide))
    return LogisticFitted(
        value=shrunk,
        noise=noise,
        coef=np.array(wide[:, :slopes]),
        intercept=np.array(intercept),
        **stated,
        centre=centre,
        covariance=covariance,
        se_sampling=sampling,
        undetermined=undetermined,
        outside=outside,
        shares=found.shares,
        corrected=found.solution.banded,
    )
