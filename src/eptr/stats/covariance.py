"""Covariance and correlation matrices: rows are standardised and whitened inside the budget.  Proof: covariance.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimators.mapped import FAR, Mapped
from ..privacy.contribution import Gaussian, Outer
from ..privacy.spending import Portion
from ..privacy.unit import Unit
from ..rows.engine import Rows
from ..rows.exact import product_grid, project, shrink_factors, sum_grid
from ..rows.namespace import doubles, like, namespace, whole
from .clip import FASTER, beyond, clip_norms, missing, of_columns
from .estimate import Estimate
from .locate import locate, locate_norms
from .looks import Look, Tail
from .mean import Asked, ask_columns, pooled
from .question import Question, Shared, column_names, statistic
from .spread import largest_variances

__all__ = ["Products", "correlation", "covariance"]

Array = NDArray[np.float64]
# Weights of the count, the mean and the fourth powers beside the products: enough to centre them and for their errors.
COUNT, MEAN, FOURTH = 1 / 4, 1 / 8, 1 / 4
# Share of mu^2 for the first matrix, which only whitens; its rows are cut at this many times sqrt(d).
ROUGH, ROUGH_RADIUS = 0.08, 1.5
# Least spread of a flag, as a part of its bounds' width: rows of a rare one would be so long that noise drowns all others.
FLAG = 0.25
_DRAWS = 400


@statistic
def covariance(
    x: Any, bounds: Any, *, epsilon: float, delta: float = 1e-6, level: float = 0.95, **shared: Unpack[Shared]
) -> Estimate:
    """The covariance matrix (divided by n - 1) of the columns of a table, positive semidefinite.

    Parameters are those of :func:`eptr.stats.mean`; intervals are of each entry by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from eptr import stats
    >>> X = np.random.default_rng(0).normal(size=(20_000, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    >>> stats.covariance(X, (-100, 100), epsilon=1.0).value.shape
    (2, 2)
    """
    question = Question(
        what="covariance",
        epsilon=epsilon,
        delta=delta,
        level=level,
        home=__name__,
        declared={"bounds": bounds},
        **shared,
    )
    asked = ask_columns(question, x, bounds)
    found, most = _covariances(asked), np.sqrt(largest_variances(asked.bounds))
    (sampling, privacy), names = found.errors(), column_names(asked.rows)
    within = np.minimum(most / np.sqrt(np.diag(found.value)), 1.0)  # which leaves the matrix positive semidefinite
    value, reach = found.value * np.outer(within, within), question.normal_quantile * np.hypot(sampling, privacy)
    least = np.where(np.eye(len(names)), 0.0, -np.outer(most, most))
    # A cut makes squares smaller, and products smaller or larger, by what two columns are seen to have beyond it at once.
    both = np.sqrt(np.outer(found.beyond, found.beyond)) * (1.0 - np.eye(len(names)))
    sides = (np.hypot(reach, both), np.hypot(reach, both + np.diag(found.missing)))
    sides = (np.full_like(reach, np.inf),) * 2 if found.few else sides
    low, high = (np.clip(value + end, least, np.outer(most, most)) for end in (-sides[0], sides[1]))
    return question.answer(
        asked.spending, value, sampling, privacy, (names, names), noise_scale=found.noise, low=low, high=high
    )


@statistic
def correlation(
    x: Any, bounds: Any, *, epsilon: float, delta: float = 1e-6, level: float = 0.95, **shared: Unpack[Shared]
) -> Estimate:
    """The correlation matrix of the columns of a table."""
    question = Question(
        what="correlation",
        epsilon=epsilon,
        delta=delta,
        level=level,
        home=__name__,
        declared={"bounds": bounds},
        **shared,
    )
    asked = ask_columns(question, x, bounds)
    found = _covariances(asked)
    value, (sampling, privacy) = _scaled(found.value), found.correlation_errors()
    steep = np.maximum(1.0 - value**2, 1e-9)  # intervals on Fisher's scale stay within -1 and 1
    centre, reach = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9)), np.hypot(sampling, privacy) / steep
    # Draws stay within -1 and 1, too: spread evenly there, with a variance of 1/3, they know nothing.
    reach = reach / np.sqrt(np.maximum(1.0 - 3.0 * (sampling**2 + privacy**2), 1e-9))
    reach = np.full_like(reach, np.inf) if found.few else reach
    low, high = (np.tanh(centre + sign * question.normal_quantile * reach) for sign in (-1.0, 1.0))
    for matrix in (low, high):
        np.fill_diagonal(matrix, 1.0)
    names = column_names(asked.rows)
    return question.answer(
        asked.spending, value, sampling, privacy, (names, names), noise_scale=found.noise, low=low, high=high
    )


@dataclass(frozen=True, slots=True)
class Products(Outer):
    """(count, mean u, u u', fourth u^2 u^2') with |u| <= 1, weighted; ``slack`` is what a grid adds. proof: products"""

    slack: float
    counted: bool

    def reach(self, relation: str) -> float:
        if relation == "replace-one":
            return math.sqrt(2.0 + 4.0 * MEAN**2 + 2.0 * FOURTH**2) + self.slack
        return math.hypot(1.0, MEAN, FOURTH, COUNT * self.counted) + self.slack

    def draw(self, values: Any, unit: Unit, mu: float, gaussian: Gaussian) -> Any:
        """Symmetric matrices have less noise off the diagonal; see :class:`Outer`."""
        scale, (square, fourth, mean, count) = self.scale(unit, mu), values
        draw = super(Products, self).draw
        matrices = [draw(matrix, unit, mu, gaussian) for matrix in (square, fourth)]
        return *matrices, gaussian(mean, scale), gaussian(count, scale) if self.counted else count


@dataclass(frozen=True, slots=True)
class _Released:
    """Means over the rows of u, u u' and u^2 u^2', and the noise of a diagonal number of each."""

    n: float
    mean: Array
    square: Array
    fourth: Array
    noise: float
    few: bool  # whether noise hides that there are any rows, so that nothing is known

    def centred(self) -> Array:
        """The covariance of u."""
        blur = self.noise / MEAN  # a square of something noisy is too large by its variance
        away = np.outer(self.mean, self.mean)
        return np.asarray(self.square - away + np.diag(np.minimum(np.diag(away), blur**2)))

    def errors(self) -> Array:
        """Of that, from noise: in the products, and in the means m whose products were subtracted."""
        one, v = np.eye(len(self.mean)), (self.noise / MEAN) ** 2
        away = np.maximum(self.mean**2 - v, 0.0)
        # Of m_i m_j with noise of variance v in each: v (m_i^2 + m_j^2) + v^2, and twice that if i = j.
        means = v * (np.add.outer(away, away) + v) * (1.0 + one)
        return np.asarray(np.sqrt(self.noise**2 * 0.5 * (1.0 + one) + means))


@dataclass(frozen=True, slots=True)
class _Covariances:
    """A covariance matrix as back A back', and the standard errors of A; two frames, in which entries err independently.

    ``whole``: A = 1, sampling errors. ``drawn``: A is the matrix that noise was added to.
    """

    drawn: Array
    back: Array
    privacy: Array
    whole: Array
    sampling: Array
    noise: float
    missing: Array  # at most, from the variances, if tails last
    beyond: Array  # of which so much is seen
    few: bool  # nothing is known

    @property
    def value(self) -> Array:
        return np.asarray(self.whole @ self.whole.T)

    def errors(self) -> tuple[Array, Array]:
        """Standard errors of the covariances, from sampling and from privacy."""
        return _errors(self.whole, self.sampling), _errors(self.back, self.privacy)

    def correlation_errors(self) -> tuple[Array, Array]:
        """The same of correlations, by simulation: what is drawn is the uncertainty of released numbers."""
        draws = np.random.default_rng(0).standard_normal((_DRAWS, *self.drawn.shape))
        draws = np.triu(draws) + np.swapaxes(np.triu(draws, 1), 1, 2)
        sampled = self.whole @ (np.eye(len(draws[0])) + self.sampling * draws) @ self.whole.T
        noisy = self.back @ (self.drawn + self.privacy * draws) @ self.back.T
        return np.std(_scaled(sampled), axis=0), np.std(_scaled(noisy), axis=0)


def _errors(back: Array, error: Array) -> Array:
    """Of back A back', where the entries of A on and above the diagonal err independently."""
    unit = max(float(np.max(np.abs(back))), 1e-100)  # fourth powers of it might overflow
    back = back / unit
    cross = np.einsum("ia,jb->ijab", back, back)
    pairs = (cross + np.swapaxes(cross, 2, 3)) ** 2 * np.triu(error**2, 1)
    return np.asarray(unit**2 * np.sqrt(pairs.sum(axis=(2, 3)) + (back**2 * np.diag(error) ** 2) @ (back**2).T))


def _scaled(matrices: Array) -> Array:
    """Correlations of covariance matrices."""
    variances = np.diagonal(matrices, axis1=-2, axis2=-1)
    # A simulated variance may be negative. Of each column by itself: units are the user's.
    largest = np.max(np.abs(variances), axis=tuple(range(variances.ndim - 1)))
    root = np.sqrt(np.maximum(variances, np.maximum(1e-12 * largest, 1e-200)))
    found = np.clip(matrices / root[..., None, :] / root[..., :, None], -1.0, 1.0)
    found[..., range(root.shape[-1]), range(root.shape[-1])] = 1.0
    return np.asarray(found)


def _covariances(asked: Asked) -> _Covariances:
    """Standardise, whiten, ask for the products of whitened rows. proof: covariance"""
    rows, spending, d = asked.rows, asked.spending, asked.rows.n_features
    if d < 2:
        raise InputError("x must have at least two columns; for one, use stats.variance.")
    bounds, found = asked.bounds, locate(rows, asked.bounds, spending)
    flags = np.array([look.at_ends() for look in found.looks])
    least = np.where(flags, FLAG * (bounds[:, 1] - bounds[:, 0]), 0.0)
    found = replace(found, spreads=np.maximum(found.spreads, least))
    drop = asked.question.drop
    radius = ROUGH_RADIUS * math.sqrt(d)
    plain = Mapped(found.middles, found.spreads, np.eye(d), np.zeros(d))
    rough = _products(rows, plain, bounds, radius, drop, spending, ROUGH)
    shift = np.where(found.lost, 0.0, np.clip(rough.mean, -1.0, 1.0) * radius)
    whitened = Mapped(found.middles, found.spreads, _whitening(rough, found.lost, radius**-2) / radius, shift)
    # As far as the bounds' corners may be.
    far = np.max(np.abs(bounds - found.middles[:, None]), axis=1) / found.spreads
    corner = float(np.linalg.norm(whitened.matrix, 2)) * math.hypot(*(np.minimum(far, FAR) + abs(shift)))
    left, longest = 1.0 - found.share - ROUGH, min(FAR * d * float(np.abs(whitened.matrix).max()), corner)
    look, spent = locate_norms(rows, lambda x: whitened.norms(_inside(x, bounds)), longest, spending, left)
    left -= spent
    noise = spending.scale(Products(1.0, d, 0.0, drop), left)
    # Each of d variances bears its part of what is lost; noise is in d (d + 1)/2 numbers.
    back = found.spreads[:, None] * np.linalg.inv(whitened.matrix)
    unit = np.sum(back**2, axis=1)
    # What noise hides in a column may be anywhere within its bounds: it is not cut.
    radius, lost, most = clip_norms(
        look,
        noise * math.sqrt(0.5 * (d + 1)),
        2,
        d,
        of_columns(found.looks, np.sqrt(unit)),
        math.hypot(0.0, *far[found.lost]),
    )
    last = _products(rows, whitened, bounds, radius, drop, spending, left)
    matrix = (radius**2 * last.centred() + np.eye(d) * lost / last.n) * (last.n / max(last.n - 1.0, 1.0))
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-3 * radius**2 * last.noise)
    matrix = (vectors * values) @ vectors.T
    # Fourth moments against those of normal rows, drawn together as far as noise explains that they differ.
    normal = np.outer(np.diag(matrix), np.diag(matrix)) + 2.0 * matrix**2
    fourth, blur = radius**4 * last.fourth / normal, radius**4 * last.noise / FOURTH / normal
    excess = np.maximum(pooled(fourth.reshape(1, -1), blur.reshape(1, -1)).reshape(d, d), 0.5)
    sampling = np.sqrt(
        spending.unit.rows * (excess * (1.0 + 2.0 * np.eye(d)) - np.eye(d)) / last.n
    )  # persons.md, bound
    unseen = max(lost, 0.5 * (most - lost)) / last.n  # what may be there at most counts as two standard errors
    privacy = np.hypot(radius**2 * last.errors(), np.eye(d) * unseen)
    ends = radius * np.sqrt(unit)
    sides = beyond([look.tails(FASTER) for look in found.looks], ends, 2).sum(axis=1)
    alone = beyond([look.lasting(2) for look in found.looks], ends, 2).sum(axis=1)
    seen = beyond([_far_out(look, end) for look, end in zip(found.looks, ends, strict=True)], ends, 2).sum(axis=1)
    more = np.maximum(missing(alone, sides, unit * most) - unit * lost, 0.0) / last.n
    whole_way = back @ ((vectors * np.sqrt(values)) @ vectors.T)
    scale = float(np.max(_errors(back, radius**2 * last.noise * np.eye(d))))
    return _Covariances(matrix, back, privacy, whole_way, sampling, scale, more, seen / last.n, last.few)


def _far_out(look: Look, end: float) -> tuple[Tail, Tail]:
    """What stands out beyond an end."""
    below, above = (tail.standing_out(end) for tail in look.tails())
    return below, above


def _inside(x: Any, bounds: Array) -> Any:
    """Moved into the bounds."""
    low, high = (like(end, x) for end in bounds.T)
    xp = namespace(x)
    return xp.minimum(xp.maximum(x, low), high)


def _products(
    rows: Rows, mapped: Mapped, bounds: Array, radius: float, counted: bool, spending: Portion, share: float
) -> _Released:
    """Noisy means of u, u u' and u^2 u^2' of mapped rows in units of the radius, in the unit ball. proof: products"""
    d, grid, fine = rows.n_features, product_grid(rows.n, 1.0), sum_grid(rows.n, 1.0)

    def block(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        xp = namespace(x)
        u = mapped(_inside(x, bounds)) * (1.0 / radius)
        if keep is not None:
            u = xp.where(keep[:, None], u, xp.zeros_like(u))
        units = project(u, shrink_factors(u, 1.0, grid), grid, nearest=True)
        squared = whole(units * units * grid)
        kept = x.shape[0] if keep is None else int(xp.sum(doubles(keep)))
        return (
            units.T @ units * grid**2,
            squared.T @ squared * grid**2,
            xp.sum(units, axis=0) * grid,
            np.array([float(kept)]),
        )

    square, fourth, mean, count = rows.sum(block)
    contribution = Products(1.0, d, 8.0 * d * (grid + fine), counted)
    values = (square, FOURTH * fourth, MEAN * mean, COUNT * count)
    square, fourth, mean, count = spending.noisy(values, contribution, share)
    sd = spending.scale(contribution, share)
    n, least = (float(count[0]) / COUNT, 2.0 * sd / COUNT) if counted else (float(rows.n), 1.0)
    few, n = n < least, max(n, least, 2.0)
    return _Released(n, mean / MEAN / n, square / n, fourth / FOURTH / n, sd / n, few)


def _whitening(rough: _Released, lost: Any, unit: float) -> Array:
    """A^(-1/2) of the first matrix, drawn towards the identity as far as noise rules; columns that are lost stay as they are."""
    matrix, d = rough.centred(), len(rough.mean)
    matrix = np.where(np.logical_or.outer(lost, lost), unit * np.eye(d), matrix)
    # Long rows are shortened in it: a column of few large values has the variance that its spread says, not what is left there.
    matrix = matrix + np.diag(np.maximum(0.5 * unit - np.diag(matrix), 0.0))
    middle = float(np.trace(matrix)) / d
    apart = max(float(np.sum((matrix - middle * np.eye(d)) ** 2)), 1e-300)
    kept = max(0.0, 1.0 - rough.noise**2 * (0.5 * d * (d + 1) - 1.0) / apart)
    values, vectors = np.linalg.eigh(middle * np.eye(d) + kept * (matrix - middle * np.eye(d)))
    values = np.maximum(values, 0.5 * rough.noise * math.sqrt(d) * kept + 0.02 * max(middle, rough.noise))
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)
