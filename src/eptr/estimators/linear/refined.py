"""Least squares by private whitened steps that end at least squares: no refusal.  Proof: refined.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...privacy.claim import Cost
from ...privacy.contribution import Ball, Cell, Interval
from ...privacy.spending import Portion, Spending
from ...privacy.unit import Unit
from ...rows.engine import Rows
from ...rows.exact import sum_grid, toward_zero
from ...rows.memory import MemoryRows
from ...rows.namespace import namespace, zero_unless
from ..columns import Columns, Standardised, standardise
from ..coordinates import buy, closer, price
from ..descent import LONG_SHARE, Descent, Solution
from ..gradient import REACH
from ..planning import Plan
from ..quantile import RADIUS_SHARE, private_radius, target_sizes
from ..ranges import buy_ranges
from ..rough import Rough
from ..schedule import schedule
from ..shrinking import firm, james_stein
from ..strategy import NoisySums
from ..whitening import Whitening
from .bounds import LENGTHS, moments
from .problem import LeastSquares, Problem, RegressionFitted

__all__ = ["Refined", "descend", "effective", "simulated_columns"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
HOPELESS = 12.0  # share of the budget from which a Gram matrix is not worth trying
COLUMNS_SHARE = 0.04  # on means and second moments of raw columns
SQUARE_SHARE, OUTSIDE_SHARE = 0.02, 0.005  # on y'y, and on the number of rows beyond the bounds, and how far
STANDS_OUT = 3.0 + np.log2(LENGTHS)  # times its noise, a number of rows that are too long is not noise
SHORTENED = 1.5  # times as much of a column as the Gram matrix has, and one step is not enough
CLEAR = 4.0  # times its noise, y'y is known well enough to clip steps by
CROSS_SHARE = 0.05  # on X'y, the start of clear data
WARM = 0.07  # it is a good one if one step leaves so little of its noise, in standard errors of a model without columns
WARM_CLIP = 3.0  # symmetric errors: one step from there, clipped at this multiple of sqrt(p sigma^2)
# Where noise rules, on the mean of y alone: what makes it clear to such a share of its half range, and at most so much.
LEVEL_NOISE, LEVEL_SHARE = 0.02, 0.05
SKEWED = 3.0  # times their noise, steps and level differ for another reason
ELSEWHERE = 2.0  # it is not in the middle of its range if it lies more than so many times its noise from there
ROW_LENGTH = 1.5  # standardised rows are shortened at this multiple of sqrt(p), for the Gram matrix alone
FAINT = 0.02  # of y'y, noise of the estimate hides what the estimate leaves of it
SIMULATED = 100_000  # rows of a plan


@dataclass(frozen=True, slots=True)
class Squares:
    """The likelihood of least squares; y is seen between two limits."""

    low: float
    high: float

    def mean(self, predictor: Any) -> Any:
        return predictor

    def residual(self, y: Any, mean: Any) -> Any:
        return namespace(mean).clip(y, self.low, self.high) - mean

    def roots(self, mean: Any) -> None:
        return None


class Refined(NoisySums):
    """Clipped steps, then passes that undo the clipping, with standard errors from the same release."""

    def plan(self, public: LeastSquares) -> Plan:
        """A fit to simulated rows with the same n, bounds and budget."""
        rows, n = simulated(public)
        # The noise on a mean is 1/(n mu): fewer rows stand for many if mu grows as they shrink.
        spending = Spending(
            Cost(1.0, 0.5, "gaussian", public.budget.mu * public.n / n), public.unit, rows, random_state=0
        )
        found = self.fit(rows, replace(public, n=n), spending)
        sampling = math.sqrt(n / public.n)
        errors = np.where(found.undetermined, math.inf, np.sqrt(np.diag(found.covariance)) * sampling)
        error = public.numbers * found.noise**2
        plan = Plan("refined", public.n, public.n_features, "", found.noise, error, 0.0, 0.0, 0.0)
        return replace(plan, standard_errors=tuple(map(float, errors)))

    def planned_noise(self, public: LeastSquares) -> float:
        return self.plan(public).noise_scale

    def fit(self, rows: Rows, public: LeastSquares, spending: Spending) -> RegressionFitted:
        """Buy the bounds that are to be bought, then spend the rest on the descent."""
        public, left = _bought(rows, public, spending)
        stated = public.stated
        low, high = public.y_range or (-public.y_bound, public.y_bound)
        columns, seen = None, rows
        if public.x_range is not None:
            mu, centred = effective(left.mu, left.unit), public.fit_intercept
            columns, left = standardise(rows, *public.x_range, low, high, left, COLUMNS_SHARE, centred=centred, mu=mu)
            public = replace(public, x_bound=ROW_LENGTH * math.sqrt(public.n_features))
        centre = (low + high) / 2.0 if public.y_range is not None and public.fit_intercept else 0.0
        if columns is not None and columns.y_mean is not None:  # in a wide range y may lie far from the middle
            centre = columns.y_mean
        mean, doubt = centre, math.inf
        if public.y_range is not None and public.fit_intercept:
            centre, mean, doubt, left = _level(rows, low, high, public.numbers, centre, left)
        edges = None
        if public.y_range is not None:
            public, edges = replace(public, y_bound=max(high - centre, centre - low)), (low - centre, high - centre)
        if columns is not None or public.y_range is not None:
            seen = Standardised(rows, columns, centre)
        variance = None if columns is None else columns.variance
        solution, whitening, unknown, outside = descend(
            seen, public, left, symmetric=public.symmetric, y_range=edges, count=columns is None, variance=variance
        )
        return _report(solution, whitening, unknown, columns, centre, (mean, doubt), outside, public, stated)


def _bought(rows: Rows, public: LeastSquares, spending: Spending) -> tuple[LeastSquares, Portion]:
    """The problem with every bound in it, and what is left of the budget."""
    count = len(public.to_buy)
    if "y_bound" in public.to_buy:
        public = replace(public, y_bound=private_radius(rows, target_sizes, spending))
    if "x_bound" in public.to_buy:  # of every column: one bound for all would be that of the widest
        public = replace(public, x_bound=None, x_range=buy_ranges(rows, spending, RADIUS_SHARE))
    return public, spending.within(1.0 - RADIUS_SHARE * count)


def _level(
    rows: Rows, low: float, high: float, p: int, known: float, left: Portion
) -> tuple[float, float, float, Portion]:
    """Where noise rules: where steps start, the mean of y, its noise, and what is left of the budget. proof: level

    Elsewhere what is ``known``.
    """
    n, middle, half = rows.n, (low + high) / 2.0, (high - low) / 2.0
    if schedule(n, p, effective(left.mu, left.unit), 1.0).banded:
        return known, known, math.inf, left
    each, grid = Interval(-half, half), sum_grid(n, half)
    share = min(LEVEL_SHARE, (left.scale(each, 1.0) / (LEVEL_NOISE * half * n)) ** 2)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp = namespace(y)
        moved = toward_zero(xp.clip(y - middle, -half, half), grid)
        return (xp.sum(moved if keep is None else zero_unless(keep, moved)),)

    (total,) = rows.sum(block)
    noise, found = left.scale(each, share) / n, float(left.noisy(total, each, share)) / n
    found = min(max(found / (1.0 + 3.0 * (noise / half) ** 2), -half), half)  # a range says this much beforehand
    sure = max(0.0, 1.0 - (ELSEWHERE * noise / max(abs(found), 1e-300)) ** 2)
    return middle + sure * found, middle + found, noise, left.within(1.0 - share)


def descend(
    rows: Rows,
    public: Problem,
    spending: Portion,
    *,
    symmetric: bool,
    reach: float = REACH,
    y_range: tuple[float, float] | None = None,
    count: bool = False,
    variance: Array | None = None,
) -> tuple[Solution, Whitening, NDArray[np.bool_], float]:
    """From rows of about unit size to a solution in whitened coordinates; y is seen up to ``reach`` times its bound.

    Or, where a ``y_range`` is given, moved to its nearer edge.

    ``variance``: of columns, if it is known.
    """
    n, p, bound = rows.n, public.numbers, public.y_bound
    mu = effective(spending.mu, spending.unit)
    banded = schedule(n, p, mu, 1.0).banded
    paid = price(public, spending, n, math.inf if banded else HOPELESS)
    sums = moments(rows, public.x_bound, bound, public.constant, count=count, y_range=y_range)
    square_of_y = Interval(0.0, bound**2)
    found = buy(sums.gram, public, spending, paid, n, public.constant)
    square = float(spending.noisy(sums.square, square_of_y, SQUARE_SHARE))  # proof: square
    outside, longer = 0.0, 1.0
    if sums.long is not None:
        beyond = spending.noisy(np.asarray(sums.outside), Interval(0.0, 1.0), OUTSIDE_SHARE)  # proof: outside
        outside = min(max(float(beyond) / n, 0.0), 1.0)
        far = spending.noisy(sums.long, Cell(), OUTSIDE_SHARE)  # proof: lengths
        far = np.where(far > STANDS_OUT * spending.scale(Cell(), OUTSIDE_SHARE), far, 0.0)
        squares = public.x_bound**2 * float(far @ (math.sqrt(2.0) * LENGTHS**2 - 1.0))
        longer = 1.0 + squares / float(np.sum(found.whitening.values))
        found = found.longer(longer) if longer > 1.0 else found
    more, before = 0.0, found
    if banded:
        found, more = closer(rows, found, public, spending, paid, variance)
    whitening = found.whitening
    doubt = spending.scale(square_of_y, SQUARE_SHARE) * longer
    square *= longer
    scale, limit = max(square - doubt, 0.04 * doubt) / n, math.sqrt((max(square, 0.0) + 2.0 * doubt) / n)

    products = Ball(public.radius * bound)
    away = spending.scale(products, CROSS_SHARE) * float(np.linalg.norm(whitening.matrix))
    start = longer * away / math.sqrt(n * p * scale)
    weak = None if symmetric else found.weak
    spent = paid.share + more + LONG_SHARE * (weak is not None) + SQUARE_SHARE + 2.0 * OUTSIDE_SHARE * count
    warm = banded and start * float(np.max(whitening.doubt)) < WARM
    even = bool(np.all(found.shortened(variance, n) < SHORTENED))
    warm = warm and even
    left, clear = 1.0 - spent - CROSS_SHARE * warm, square > CLEAR * doubt
    plan = schedule(n, p, mu, left, symmetric=symmetric, warm=warm, clear=clear)
    largest = math.sqrt(n / whitening.smallest) * public.radius * 2.0 * bound
    likelihood = Squares(*(y_range or (-reach * bound, reach * bound)))
    given = likelihood, rows, public.x_bound, public.constant, whitening, spending, plan, largest
    # Which columns the long rows are long in is not known: intervals go on as if it were none. proof: lengths
    unknown = 1.0 if banded and plan.leverage else longer**2
    if not banded:
        solution = Rough(*given).solve(scale, limit)
        solution = replace(solution, longest=limit, covariance=solution.covariance * unknown)
        # Averaged steps leave what their covariance counts, if they come nearer at all.
        return solution, whitening, found.undetermined(variance, math.inf, n), outside
    descent, phi = Descent(*given, even=even), np.zeros(p)
    if warm:  # clear data: start from the noisy normal equations instead of from zero
        phi = longer / n * whitening.matrix.T @ spending.noisy(sums.cross, products, CROSS_SHARE)  # proof: cross
    phi = descent.steps(phi, scale, limit)
    if weak is not None:
        descent.reach(phi, weak)
    if not symmetric:
        solution = descent.finish(phi, square, doubt)
    elif warm:
        rest = max(square / n - float(phi @ phi), 2.0 * doubt / n)
        solution = descent.finish_symmetric(phi, WARM_CLIP * math.sqrt(p * rest))
    else:
        solution = descent.finish_symmetric(phi, descent.tail(phi)[0].level(plan.outside))
    solution = replace(solution, longest=limit, covariance=solution.covariance * unknown)
    known = before if descent.out_of_reach else found  # descent.md, long
    return solution, whitening, known.undetermined(variance, plan.moves, n), outside


def simulated(public: LeastSquares) -> tuple[MemoryRows, int]:
    """Columns as a plan takes them to be, and errors a quarter of y's range."""
    n, rng = min(public.n, SIMULATED), np.random.default_rng(0)
    x = simulated_columns(public, n, rng)
    low_y, high_y = public.y_range or (-public.y_bound, public.y_bound)
    y = (low_y + high_y) / 2.0 + (high_y - low_y) / 8.0 * rng.normal(size=n)
    return MemoryRows(x, y), n


def simulated_columns(public: Any, n: int, rng: np.random.Generator) -> Array:
    """Normal columns that use a third of their range, or zeros and ones in known shares."""
    x = rng.normal(size=(n, public.n_features))
    if public.x_range is None:
        x *= public.x_bound / (ROW_LENGTH * math.sqrt(public.n_features))
    else:
        low, high = public.x_range
        x = (low + high) / 2.0 + (high - low) / 6.0 * x
        for column, share in public.shares.items():
            x[:, column] = np.where(rng.permutation(n) < share * n, high[column], low[column])
    return np.asarray(x)


def effective(mu: float, unit: Unit) -> float:
    """The mu at which replacing one row would need the same noise."""
    return 2.0 * mu / Ball(1.0).sensitivity(unit)


def _report(
    solution: Solution,
    whitening: Whitening,
    undetermined: NDArray[np.bool_],
    columns: Columns | None,
    start: float,
    level: tuple[float, float],
    outside: float,
    public: LeastSquares,
    stated: dict[str, Any],
) -> RegressionFitted:
    """Coefficients in the user's units; all of it post-processing."""
    slopes = public.n_features
    to_user = np.diag(public.scaling)
    if columns is not None:
        to_user[range(slopes), range(slopes)] = 1.0 / columns.scale
        undetermined[:slopes] |= columns.too_few
        outside = columns.outside
        if public.fit_intercept:
            to_user[-1, :slopes] = -columns.centre / columns.scale
    to_user = to_user @ whitening.matrix
    beta = to_user @ solution.phi
    if public.fit_intercept:
        beta[-1] += start
    covariance = to_user @ solution.covariance @ to_user.T
    sampling = np.sqrt(np.diag(to_user @ solution.sampling @ to_user.T))
    if columns is not None and public.fit_intercept:  # where x is 0 the line is known as well as its slopes
        undetermined[-1] |= bool(np.any(undetermined[:slopes] & columns.far))
    noise = solution.noise * math.sqrt(float(np.mean(np.sum(to_user**2, axis=1))))
    # Only where noise rules is an estimate longer than that; intervals stay where they are.
    short = min(1.0, solution.longest / max(float(np.linalg.norm(solution.phi)), 1e-300))
    shrunk = _shrunk(
        to_user @ (short * solution.phi) + (beta - to_user @ solution.phi),
        solution.noise**2 * (to_user @ to_user.T),
        columns,
        level,
        public,
    )
    return RegressionFitted(
        value=shrunk,
        noise=noise,
        **public.named(shrunk),
        **stated,
        centre=beta,
        covariance=covariance,
        se_sampling=sampling,
        residual_scale=math.sqrt(_residual_square(solution)),
        undetermined=undetermined,
        outside=outside,
        corrected=None if public.symmetric and solution.banded else solution.banded,
    )


def _residual_square(solution: Solution) -> float:
    """What gradients say of it, or what the estimate leaves of y'y, if that is less: long rows have long gradients."""
    noise = len(solution.phi) * solution.noise**2
    if noise > FAINT * solution.longest**2:
        return solution.residual_square
    left = solution.longest**2 - max(float(solution.phi @ solution.phi) - noise, 0.0)
    return min(solution.residual_square, max(left, noise))


def _shrunk(
    beta: Array, noise: Array, columns: Columns | None, level: tuple[float, float], public: LeastSquares
) -> Array:
    """Slopes are shrunk together, and the mean of y towards what is known of it with such noise. proof: level"""
    slopes, (mean, doubt) = public.n_features, level
    here, shrunk = noise[:slopes, :slopes], beta.copy()
    factor = james_stein(beta[:slopes], here)
    if doubt < math.inf and not firm(np.linalg.solve(np.linalg.cholesky(here), beta[:slopes]), 1.0):
        factor = 0.0  # where noise rules, slopes that noise alone may be are none
    shrunk[:slopes] *= factor
    if public.fit_intercept and columns is not None:
        at = np.append(columns.centre, 1.0)
        # The line runs through the mean of y at the means of the columns, and these are not quite the centres.
        there = doubt**2 + float(np.sum((shrunk[:slopes] * columns.unsure) ** 2))
        steps, blur = float(at @ beta), there + float(at @ noise @ at)
        if doubt < math.inf:  # clipped steps that miss a skewed mean are farther off than noise is
            missed = max((steps - mean) ** 2 - SKEWED**2 * blur, 0.0)
            steps = mean + there / (blur + missed) * (steps - mean)
        shrunk[-1] = steps - float(columns.centre @ shrunk[:slopes])
    return shrunk
