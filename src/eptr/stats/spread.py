"""Variances and standard deviations of columns, of all rows or by group, with intervals.  Proof: spread.md."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..rows.namespace import like, namespace
from .clip import clip_columns
from .estimate import Estimate
from .groups import variances_lack
from .mean import Asked, ask_columns, pooled
from .moments import Weights, members, moments, within
from .persons import before, variances
from .question import Question, Shared, statistic

__all__ = ["largest_variances", "std", "variance"]

Array = NDArray[np.float64]
# Squares lead; means only say where the middle is, third and fourth powers how uncertain squares are. proof: spread
_ALL_COUNT, _COUNTED = (Weights(count, 1 / 8, 1.0, 1 / 8, 1 / 4) for count in (0.0, 1 / 4))


@statistic
def variance(
    x: Any,
    bounds: Any,
    *,
    epsilon: float,
    delta: float = 1e-6,
    by: Any = None,
    levels: Any = None,
    level: float = 0.95,
    **shared: Unpack[Shared],
) -> Estimate:
    """Variances of columns (divided by n - 1)."""
    question = Question(
        what="variance",
        epsilon=epsilon,
        delta=delta,
        level=level,
        home=__name__,
        declared={"bounds": bounds, "levels": levels},
        **shared,
    )
    asked = ask_columns(question, x, bounds, by, levels)
    value, sampling, privacy, low, high, noise = _variances(asked)
    return asked.answer(value, sampling, privacy, noise, low=low, high=high)


@statistic
def std(
    x: Any,
    bounds: Any,
    *,
    epsilon: float,
    delta: float = 1e-6,
    by: Any = None,
    levels: Any = None,
    level: float = 0.95,
    **shared: Unpack[Shared],
) -> Estimate:
    """Standard deviations: roots of variances and of the ends of their intervals."""
    question = Question(
        what="std",
        epsilon=epsilon,
        delta=delta,
        level=level,
        home=__name__,
        declared={"bounds": bounds, "levels": levels},
        **shared,
    )
    asked = ask_columns(question, x, bounds, by, levels)
    value, sampling, privacy, low, high, noise = _variances(asked)
    low, root, high = (np.sqrt(v) for v in (low, value, high))
    # Of the square, where it is far enough from 0 for its slope to mean much.
    steep = 2.0 * np.maximum(root, 0.5 * high)
    return asked.answer(root, sampling / steep, privacy / steep, noise, low=low, high=high)


def largest_variances(bounds: Array) -> Array:
    """Of columns within bounds, divided by n - 1: two rows, one at each end."""
    return np.asarray(0.5 * (bounds[:, 1] - bounds[:, 0]) ** 2)


def _variances(asked: Asked) -> tuple[Array, Array, Array, Array, Array, float]:
    """Values by group and column, their errors from sampling and from privacy, intervals, and the noise of a sum of squares."""
    rows, bounds, spending, counted = asked.rows, asked.bounds, asked.spending, asked.counted
    weights, part = _COUNTED if counted else _ALL_COUNT, before(rows, spending)
    clip = clip_columns(rows, bounds, part, weights, power=2)
    found = moments(rows, asked.groups, clip.centre, clip.scale, bounds, weights, part, clip.share)
    mean, square, third, fourth = (found.powers[p] for p in (1, 2, 3, 4))
    away = np.maximum(mean**2 - found.noise[1] ** 2, 0.0)  # a square of something noisy is too large by its variance
    unit = clip.scale**2
    value = (unit * (square - away) + clip.beyond / rows.n) * (found.counts / np.maximum(found.counts - 1.0, 1.0))
    fourth = fourth - 4.0 * mean * third + 6.0 * mean**2 * square - 3.0 * mean**4  # around the mean
    alone = pooled(fourth - (square - away) ** 2, found.noise[4])
    middle, level = np.clip(mean, -1.0, 1.0), np.clip(square - away, 0.0, 1.0)

    def around(x: Any, y: Any, keep: Any) -> Any:
        u = within(x, keep, bounds, clip.centre, clip.scale)
        xp, member = namespace(u), members(u, y, keep, len(alone))
        squares = (xp.clip(u, -1.0, 1.0)[:, None, :] - like(middle, u)) ** 2 - like(level, u)
        return xp.reshape(member.T[:, :, None] * squares, (-1, alone.size))

    radius = float(np.max(np.linalg.norm((1.0 + abs(middle)) ** 2, axis=1)))
    sampling = unit * np.sqrt(variances(rows, alone * found.counts, around, radius, spending)) / found.counts
    most = largest_variances(bounds)
    missing = [clip.below / rows.n, clip.above / rows.n]
    if asked.groups > 1:
        missing = variances_lack(clip, found, bounds, rows.n)
    below, above = (np.where(found.few, most, more) for more in missing)
    value, unseen = np.clip(value, 0.0, most), clip.unseen / rows.n
    larger, smaller = (unit * off for off in _subtracted(mean, found.noise[1], away, asked.question.normal_quantile))
    low, high = asked.question.interval(
        value,
        np.hypot(np.hypot(sampling, unseen), unit * found.noise[2]),
        np.hypot(below, larger),
        np.hypot(above, smaller),
    )
    low, high = np.maximum(low, 0.0), np.minimum(high, most)
    # The square of a mean m with noise of variance v has variance 4 m^2 v + 2 v^2.
    noise = np.hypot(found.noise[2], found.noise[1] * np.sqrt(4.0 * away + 2.0 * found.noise[1] ** 2))
    # What may be there at most counts as two standard errors.
    privacy = np.hypot(np.hypot(unit * noise, unseen), 0.5 * above)
    return value, sampling, privacy, low, high, float(np.max(unit * found.noise[2]))


def _subtracted(mean: Array, noise: Array, away: Array, z: float) -> tuple[Array, Array]:
    """By how much the square of a mean may be larger than ``away``, and smaller: one that is hardly known may be long."""
    return (abs(mean) + z * noise) ** 2 - away, away - np.maximum(abs(mean) - z * noise, 0.0) ** 2
