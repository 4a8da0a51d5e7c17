"""Least squares on smooth functions, then block shrinkage: no bandwidth, no refusal.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from ...privacy.claim import Cost
from ...privacy.spending import Portion, Spending
from ...rows.engine import Rows
from ...rows.memory import MemoryRows
from ..descent import Solution
from ..gradient import Gradient, Residuals
from ..linear.problem import Problem
from ..linear.refined import Squares, effective
from ..planning import Plan
from ..quantile import private_quantile
from ..schedule import schedule
from ..strategy import NoisySums
from .axes import RARE, Levels, axes_of, cell_noise, cells_of, release_axes
from .basis import degrees_of
from .centring import means
from .expansion import RIDGE, Expanded, Expansion
from .jumps import jumps
from .problem import Additive, AdditiveFitted
from .shrinkage import factors
from .solving import solve

__all__ = ["Refined", "resolution"]

Array = NDArray[np.float64]

# From trials on simulated curves and a simulated dependent pair of columns (refined.md, constants). Shares are of mu^2.
AXES_SHARE = 0.08  # on histograms of the columns
MIDDLE_SHARE = 0.03  # on a first look at the mean of y, which may lie far from the middle of a wide range
SIZE_SHARE = 0.02  # and on how far from there y goes, which may be much less than half the range ...
MEANS_SHARE = 0.015  # on the mean of each curve over the rows
SIZE_LEVEL, SIZE_MARGIN, SIZES = 0.95, 4.0, 2.0**-14  # ... for so many rows, times this; in half ranges, at least
# Functions of one column: COUNT (sqrt(n) mu)^POWER, at most MANY sqrt(n); and sqrt(columns) times as many of several.
COUNT, POWER, MANY = 1.75, 0.7, 0.6
LEAST, MOST = 3, 40  # functions of a column at least, and of all columns at most
LENGTH = 1.2  # rows of functions are shortened at this multiple of the root of their number, for the Gram matrix alone
PACE = 0.6  # length of a step: long rows are shortened, and columns depend, so the Gram matrix may be too small by half
REACH = 2.0  # y is seen at least so many half ranges from the middle: a range that is a little too narrow does no harm
PRICE = 1.5  # of noise in a block: at 1 blocks that are all noise would keep some of it
MEAN_SHARE = 0.1  # where noise rules, on the mean of what the curve leaves of y
SKEW = 0.3  # how far clipping moves that mean, in standard deviations of errors; from their median exponential ones have .31
FEW = 10.0  # a place with fewer than FEW/mu rows within reach of a function is one where nothing can be said
FAR = 3.0  # standard deviations of its noise from which a move is clear
KINK = 27.0 / 64.0  # of what is rougher than 3K/4 functions of a kink, rougher than K
ROUGH = 1e-2  # chance at which the roughest functions of a term of several columns stand out although there is nothing
SIMULATED = 20_000  # rows of a plan


def resolution(terms: tuple[tuple[int, ...], ...], n: int, mu: float) -> list[int]:
    """How many functions each smooth term gets; follows from public numbers. A term of d columns counts d^(3/2) times."""
    if not terms:
        return []
    weights = np.array([len(term) ** 1.5 for term in terms])
    one = min(COUNT * (math.sqrt(n) * mu) ** POWER, MANY * math.sqrt(n))
    total = min(one * math.sqrt(sum(map(len, terms))), MOST)
    return [max(LEAST * len(term), round(total * w)) for term, w in zip(terms, weights / np.sum(weights), strict=True)]


@dataclass(frozen=True, slots=True)
class Told:
    """Coefficients of all functions, the mean last, and covariances."""

    estimate: Array
    sampling: Array
    privacy: Array
    unsure: Array  # all but sampling
    excess: float = 0.0  # of the mean, what is shrunk away


class Refined(NoisySums):
    """Axes, then steps and passes on all functions at once."""

    buys_bounds = False

    def plan(self, public: Additive) -> Plan:
        """A fit to simulated rows with the same n, ranges and budget."""
        n, rng, (low, high) = min(public.n, SIMULATED), np.random.default_rng(0), public.x_range
        x = low + (high - low) * rng.uniform(size=(n, public.n_features))
        for j, levels in public.categories.items():
            x[:, j] = rng.choice(levels, size=n)
        middle, half = np.mean(public.y_range), (public.y_range[1] - public.y_range[0]) / 2.0
        rows = MemoryRows(x, middle + half / 4.0 * rng.normal(size=n))
        # The noise on a mean is 1/(n mu): fewer rows stand for many if mu grows as they shrink.
        cost = Cost(1.0, 0.5, "gaussian", public.budget.mu * public.n / n)
        found = self.fit(rows, public, Spending(cost, public.unit, rows, random_state=0))
        return Plan(
            "refined", public.n, public.n_features, "", found.noise, len(found.coef) * found.noise**2, 0.0, 0.0, 0.0
        )

    def planned_noise(self, public: Additive) -> float:
        return self.plan(public).noise_scale

    def fit(self, rows: Rows, public: Additive, spending: Spending) -> AdditiveFitted:
        """Where the rows are, then what they say."""
        low, high = public.y_range
        marginals, rows_seen, outside, centre = release_axes(
            rows,
            public.x_range,
            public.categories,
            public.y_range,
            spending.within(AXES_SHARE),
            spending.within(MIDDLE_SHARE),
        )
        axes = axes_of(public.x_range, public.categories, marginals, rows_seen)
        mu = effective(public.budget.mu, public.unit)
        smooth = public.terms[: len(public.terms) - len(public.categories)]
        counts = [
            *resolution(smooth, public.n, mu),
            *(len(public.categories[j]) - 1 for j in sorted(public.categories)),
        ]
        functions = degrees_of(public.terms, counts)
        expansion = Expansion(axes, public.terms, tuple(functions))
        p, half = expansion.count, (high - low) / 2.0
        sizes = {"low": SIZES * half, "high": 2.0 * half, "ratio": 2.0, "forgiving": 2.0}
        away = lambda x, y: abs(y - centre)  # noqa: E731
        size = private_quantile(rows, away, SIZE_LEVEL, spending=spending, share=SIZE_SHARE, **sizes)  # proof: size
        bound = min(SIZE_MARGIN * size, half)  # in a range much wider than y its square would drown in noise
        reach = ((REACH - 1.0) * half + max(high - centre, centre - low)) / bound  # beyond the farther end of the range
        problem = Problem(public.budget, public.unit, rows.n, p, LENGTH * math.sqrt(p), bound, fit_intercept=True)
        seen, left = (
            Expanded(rows, expansion, centre),
            spending.within(1.0 - AXES_SHARE - MIDDLE_SHARE - SIZE_SHARE - MEANS_SHARE),
        )
        share = 0.0 if schedule(rows.n, p + 1, effective(left.mu, left.unit), 1.0).banded else MEAN_SHARE
        solved = solve(seen, problem, left.within(1.0 - share), reach=reach, pace=PACE, expansion=expansion)
        solution, whitening = solved.solution, solved.whitening  # proof: gradients
        to_functions = np.diag(problem.scaling) @ whitening.matrix
        sampling, whole = (to_functions @ part @ to_functions.T for part in (solution.sampling, solution.covariance))
        privacy = solution.noise**2 * (to_functions @ to_functions.T)
        told = Told(to_functions @ solution.phi, sampling, privacy, whole - sampling)
        told = replace(
            told, unsure=told.unsure + solved.left(to_functions, told.estimate, told.sampling + told.privacy, expansion)
        )
        if share:
            theta = whitening.matrix @ solution.phi
            at = Gradient(
                Squares(-reach * bound, reach * bound), problem.x_bound, problem.constant, whitening.matrix, theta
            )
            told = _recentred(
                told, at, seen, (low - centre, high - centre), left.within(share), SKEW**2 * solution.residual_square
            )
        estimate = told.estimate + centre * np.eye(p + 1)[-1]
        found = AdditiveFitted(
            value=estimate,
            noise=math.sqrt(float(np.trace(told.privacy)) / (p + 1)),
            n_rows=public.n,
            y_range=public.y_range,
            x_range=np.column_stack(public.x_range),
            categories=[(j, levels.tolist()) for j, levels in public.categories.items()],
            marginals=marginals,
            seen=rows_seen,
            terms=list(public.terms),
            counts=list(map(len, functions)),
            coef=estimate[:-1],
            intercept=float(estimate[-1]) - told.excess,
            centre=estimate,
            covariance=told.sampling + told.unsure,
            privacy=told.unsure,
            middles=np.zeros(p),
            offsets=np.zeros(len(functions)),
            kept=np.ones(p),
            beyond=np.zeros(len(functions)),
            rough=np.zeros(len(functions), dtype=bool),
            few=FEW / mu,
            residual_scale=math.sqrt(solution.residual_square),
            outside=outside,
            corrected=solution.banded,
        )
        found = _arrived(found, to_functions, solution, solved.unknown)
        found = _shrunk(found, expansion, told.sampling + told.privacy)
        curves = found.centre[:-1], found.kept
        cell = cell_noise(public.n_features, rows.n, spending.within(AXES_SHARE))
        middles, offsets = means(rows, expansion, curves, (cell, solved.means), half, spending.within(MEANS_SHARE))
        return replace(found, middles=middles, offsets=offsets)


def _recentred(
    told: Told, at: Gradient, rows: Expanded, ends: tuple[float, float], spending: Portion, skew: float
) -> Told:
    """Clipped steps lose the mean of skewed errors. Least squares leaves residuals of mean 0, so theirs says how far.

    ``ends``: of y, as the steps see it. ``skew``: variance of what clipping may have moved the mean by, which a noisy mean is
    weighed against. proof: mean
    """
    mean = min(max(float(told.estimate[-1]), ends[0]), ends[1])
    ask = Residuals(ends[0] - mean, ends[1] - mean)
    (total,), (each,) = at.sums(rows, ask), ask.contributions(len(told.estimate))
    off, noise = float(spending.noisy(total, each)) / rows.n, (spending.scale(each, 1.0) / rows.n) ** 2
    unsure, last = told.unsure.copy(), np.eye(len(told.estimate))[-1]
    unsure[-1, -1] += skew
    gain = unsure[-1] / (unsure[-1, -1] + noise)
    rest, excess = np.eye(len(gain)) - np.outer(gain, last), off * gain[-1]
    excess *= 1.0 - factors(np.array([off]), np.array([noise]), 0, PRICE)[0]
    privacy, unsure = (rest @ part @ rest.T + noise * np.outer(gain, gain) for part in (told.privacy, unsure))
    return Told(told.estimate + off * gain, told.sampling, privacy, unsure, float(excess))


def _arrived(
    found: AdditiveFitted, to_functions: Array, solution: Solution, unknown: NDArray[np.bool_]
) -> AdditiveFitted:
    """Levels with few rows are reached slowly: what the last pass asked of them may be left to go, and is counted.

    A rare one that it moved clearly, and by more than half of what the pass before had asked, has not arrived, and is not seen.
    """
    seen, covariance, privacy = found.seen.copy(), found.covariance.copy(), found.privacy.copy()
    cells = cells_of(len(found.x_range), dict(found.categories))
    for k, (j, *_) in enumerate(found.terms):
        if j not in dict(found.categories):
            continue
        part, shares = found.part(k), found.marginals[cells[j]][1:]
        far = unknown[part]
        if solution.moves is not None:
            before, last = (to_functions[part] @ move for move in solution.moves[:2])
            noise = solution.moves[2] ** 2 * (to_functions[part] @ to_functions[part].T)
            signal = max(0.0, 1.0 - len(last) / max(float(last @ np.linalg.solve(noise, last)), 1e-300))
            for each in (covariance, privacy):
                each[part, part] += signal * np.outer(last, last)
            far = far | ((np.abs(last) > FAR * np.sqrt(np.diag(noise))) & (np.abs(last) > np.abs(before) / 2.0))
        seen[cells[j]][1:] &= ~far | (shares * (1.0 - shares) >= RARE**2)
    return replace(found, seen=seen, covariance=covariance, privacy=privacy)


def _shrunk(found: AdditiveFitted, expansion: Expansion, noise: Array) -> AdditiveFitted:
    """Each term's coefficients in blocks of frequencies, and what its roughest functions say about rougher ones.

    ``noise``: covariance of what shrinkage can lower; not what clipping may have hidden, which is no noise.
    """
    kept, beyond, rough = found.kept.copy(), found.beyond.copy(), found.rough.copy()
    for k, term in enumerate(found.terms):
        axis, part = expansion.axes[term[0]], found.part(k)
        if isinstance(axis, Levels):
            continue
        estimate, variance = found.centre[part], found.covariance[part, part]
        kept[part] = factors(estimate, np.diag(noise)[part], len(term), PRICE)
        functions, share = expansion.over_rows(k)
        beyond[k] = _beyond(estimate, variance, functions.T @ (functions * share[:, None]))
        if len(term) > 1:
            last = _quarter(estimate)
            score = float(estimate[last] @ np.linalg.solve(variance[last, last], estimate[last]))
            rough[k] = score > chi2.isf(ROUGH, len(estimate[last]))
        else:
            rough[k] = bool(jumps(axis, functions, share, estimate, variance, float(beyond[k])))
    coef = kept * found.centre[:-1]
    return replace(found, value=np.append(coef, found.intercept), coef=coef, kept=kept, beyond=beyond, rough=rough)


def _quarter(estimate: Array) -> slice:
    """The roughest."""
    return slice(len(estimate) - max(2, round(len(estimate) / 4)), len(estimate))


def _beyond(estimate: Array, variance: Array, gram: Array) -> float:
    """Mean square over the rows of what is rougher than all functions, as if it fell on as between the last two quarters.

    Each is measured without its noise and what smoother functions could say. Nothing falls slower than a kink, and two functions
    are too few to tell.
    """
    sizes, last = [], _quarter(estimate)
    count = last.stop - last.start
    for stop in (last.start, last.stop):
        part = slice(max(0, stop - count), stop)
        inverse = np.linalg.inv((gram + RIDGE * np.eye(len(gram)))[:stop, :stop])
        left, end = np.linalg.inv(inverse[part, part]), estimate[part]
        sizes.append(max(0.0, float(end @ left @ end - np.sum(left * variance[part, part]))))
    rate = min(sizes[1] / max(sizes[0], 1e-300), KINK) if count > 2 else KINK
    return sizes[1] * rate / (1.0 - rate)
