"""Means of columns, of all rows or by group, with intervals.  Proof: mean.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..docstrings import described
from ..privacy.spending import Portion, Spending
from ..rows.engine import Engine, Rows
from ..rows.namespace import like, namespace
from ..rows.task import Task
from .clip import clip_columns
from .estimate import Estimate
from .moments import Moments, Weights, members, moments, within
from .persons import before, variances
from .question import Question, Shared, column_bounds, column_names, is_column, level_codes

__all__ = ["Asked", "ask_columns", "mean", "mean_errors", "mean_weights", "means", "pooled"]

Array = NDArray[np.float64]


@described
def mean(
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
    """Means of columns; proportions are means of 0 and 1.

    Parameters
    ----------
    bounds : (low, high), one pair per column, or {name: (low, high)}, which chooses columns
        From what is known before seeing the data; values beyond are moved to them. Wide bounds do no harm: a seventh of the
        budget finds where the rows are.
    by : column of labels or its name, optional
        Means by group, all in one release; the sizes of groups are private.
    levels : list
        The groups; required with ``by``, because levels that are found in the data would tell which ones occur.
    level : float
        Of the intervals. They assume that tails fade: a few rows far beyond all others cannot be seen by anybody.

    Examples
    --------
    >>> import numpy as np
    >>> from eptr import stats
    >>> incomes = np.random.default_rng(0).lognormal(10, 1, size=20_000)
    >>> answer = stats.mean(incomes, (0, 10_000_000), epsilon=1.0)
    >>> bool(answer.low < incomes.mean() < answer.high)
    True
    """
    question = Question(
        what="mean",
        epsilon=epsilon,
        delta=delta,
        level=level,
        home=__name__,
        declared={"bounds": bounds, "levels": levels},
        **shared,
    )
    asked = ask_columns(question, x, bounds, by, levels)
    value, sampling, privacy, noise = means(
        asked.rows, asked.bounds, asked.spending, asked.groups, counted=asked.counted
    )
    reach = question.normal_quantile * np.hypot(sampling, privacy)
    low, high = (np.clip(value + sign * reach, *asked.bounds.T) for sign in (-1.0, 1.0))
    return asked.answer(value, sampling, privacy, noise, low=low, high=high)


def means(
    rows: Rows, bounds: Array, spending: Portion, groups: int = 1, *, counted: bool
) -> tuple[Array, Array, Array, float]:
    """Values by group and column, their errors from sampling and from privacy, and the noise of the last release."""
    weights, most = mean_weights(spending.unit.relation, counted=counted), before(rows, spending)
    clip = clip_columns(rows, bounds, most, weights)
    found = moments(rows, groups, clip.centre, clip.scale, bounds, weights, most, clip.share)
    value = clip.centre + clip.scale * found.powers[1] + clip.beyond / rows.n
    sampling = clip.scale * mean_errors(rows, found, bounds, clip.centre, clip.scale, spending)
    privacy = np.hypot(clip.scale * found.noise[1], clip.unseen / rows.n)
    return np.clip(value, *bounds.T), sampling, privacy, float(np.max(clip.scale * found.noise[1]))


def mean_errors(rows: Rows, found: Moments, bounds: Array, centre: Array, scale: Array, spending: Portion) -> Array:
    """Of sampling, in units of the scale; measured over persons where they are known. proof: mean"""
    alone = pooled(found.powers[2] - found.powers[1] ** 2, found.noise[2])
    mean, (groups, columns) = np.clip(found.powers[1], -1.0, 1.0), alone.shape

    def around(x: Any, y: Any, keep: Any) -> Any:
        u = within(x, keep, bounds, centre, scale)
        xp, member = namespace(u), members(u, y, keep, groups)
        return xp.reshape(member.T[:, :, None] * (u[:, None, :] - like(mean, u)), (-1, groups * columns))

    radius = 1.0 + float(np.max(np.linalg.norm(mean, axis=1)))
    return np.asarray(np.sqrt(variances(rows, alone * found.counts, around, radius, spending)) / found.counts)


def mean_weights(relation: str, *, counted: bool) -> Weights:
    """Squares are free beside means if one row is replaced, and cheap if one is dropped. proof: mean"""
    if relation == "replace-one":
        return Weights(27 / 32 if counted else 0.0, 1.0, 0.5)
    return Weights(0.5 if counted else 0.0, 1.0, 0.25)


def pooled(values: Array, noise: Array) -> Array:
    """Positive numbers of known noise: four or more are drawn together as far as noise may explain that they differ."""
    if values.shape[-1] >= 4:
        middle = values.mean(axis=-1, keepdims=True)
        apart = np.var(values, axis=-1, ddof=1, keepdims=True)
        kept = np.clip(1.0 - np.mean(noise**2, axis=-1, keepdims=True) / np.maximum(apart, 1e-300), 0.0, 1.0)
        values = middle + kept * (values - middle)
    return np.maximum(values, 0.5 * noise)


@dataclass(frozen=True, slots=True)
class Asked:
    """Rows that were opened for columns, perhaps in groups, and the budget to ask them with."""

    question: Question
    rows: Engine
    spending: Spending
    bounds: Array
    levels: tuple[Any, ...]
    order: Any
    scalar: bool

    @property
    def counted(self) -> bool:
        """Whether counts are private: of groups, and where rows may be dropped."""
        return bool(self.levels) or self.question.drop

    @property
    def groups(self) -> int:
        return max(1, len(self.levels))

    def answer(
        self, value: Array, sampling: Array, privacy: Array, noise: float, *, low: Any = None, high: Any = None
    ) -> Estimate:
        """One number, one per column, one per level, or a table of levels and columns."""
        names: list[Any] = [] if self.scalar else [column_names(self.rows)]
        names = [[str(v) for v in self.levels], *names] if self.levels else names
        shape = tuple(map(len, names))

        def arranged(numbers: Any) -> Any:
            return None if numbers is None else (numbers[self.order] if self.levels else numbers).reshape(shape)

        value, sampling, privacy, low, high = map(arranged, (value, sampling, privacy, low, high))
        return self.question.answer(
            self.spending, value, sampling, privacy, names, noise_scale=noise, low=low, high=high
        )


def ask_columns(question: Question, x: Any, bounds: Any, by: Any = None, levels: Any = None) -> Asked:
    """Numbers in columns, and perhaps labels beside them."""
    columns = tuple(bounds) if isinstance(bounds, Mapping) else None
    listed, order = ((), None) if by is None and levels is None else level_codes(levels, by)
    task = Task("labels", listed, question.drop, columns) if listed else Task("none", None, question.drop, columns)
    rows, spending = question.open(x, None if isinstance(x, Engine) else by, task)  # open rows know their groups
    return Asked(question, rows, spending, column_bounds(bounds, rows.n_features), listed, order, is_column(x))
