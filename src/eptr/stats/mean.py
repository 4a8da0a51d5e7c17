"""Means of columns, of all rows or by group, with intervals.  Proof: mean.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..privacy.spending import Portion, Spending
from ..rows.engine import Engine, Rows
from ..rows.namespace import like, namespace
from ..rows.task import Task
from .clip import clip_columns
from .estimate import Estimate
from .groups import means_lack
from .looks import Look
from .moments import Moments, Weights, members, moments, within
from .persons import before, variances
from .question import Question, Shared, column_bounds, column_names, is_column, level_codes, statistic

__all__ = ["Asked", "Means", "ask_columns", "mean", "mean_errors", "mean_weights", "means", "pooled"]

Array = NDArray[np.float64]


@statistic
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
        From what is known before seeing the data; values beyond are moved to them. Wide bounds do no harm: a quarter of the
        budget finds where the rows are.
    by : column of labels or its name, optional
        Means by group, all in one release; the sizes of groups are private.
    levels : list
        The groups; required with ``by``, because levels that are found in the data would tell which ones occur.
    level : float
        Of the intervals. They allow for tails that go on as they are seen to; a few rows far beyond all others cannot be seen.

    Examples
    --------
    >>> import numpy as np
    >>> from eptr import stats
    >>> incomes = np.random.default_rng(0).lognormal(10, 1, size=20_000)
    >>> answer = stats.mean(incomes, (0, 10_000_000), epsilon=1.0)
    >>> bool(answer.low < answer.value < answer.high)
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
    found = means(asked.rows, asked.bounds, asked.spending, asked.groups, counted=asked.counted)
    low, high = (np.clip(end, *asked.bounds.T) for end in found.interval(question))
    return asked.answer(found.value, found.sampling, found.privacy, found.noise, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Means:
    """By group and column: values, errors from sampling and from noise with what was guessed, what may be missing at most."""

    value: Array
    sampling: Array
    seen: Array
    below: Array
    above: Array
    noise: float  # of the last release
    look: Look | None = None  # of one column, and where it was clipped
    ends: tuple[Any, Any] = (-math.inf, math.inf)

    def interval(self, question: Question) -> tuple[Array, Array]:
        return question.interval(self.value, np.hypot(self.sampling, self.seen), self.below, self.above)

    @property
    def privacy(self) -> Array:
        """What may be missing at most counts as two standard errors."""
        return np.asarray(np.hypot(self.seen, 0.5 * np.maximum(self.below, self.above)))


def means(
    rows: Rows, bounds: Array, spending: Portion, groups: int = 1, *, counted: bool, of_squares: bool = False
) -> Means:
    """Looks, a clip, then counts, sums and squares; ``of_squares``: whose tails fade more slowly. proof: mean"""
    weights, part = mean_weights(spending.unit.relation, counted=counted), before(rows, spending)
    clip = clip_columns(rows, bounds, part, weights, of_squares=of_squares)
    found = moments(rows, groups, clip.centre, clip.scale, bounds, weights, part, clip.share)
    value = np.clip(clip.centre + clip.scale * found.powers[1] + clip.beyond / rows.n, *bounds.T)
    sampling = clip.scale * mean_errors(rows, found, bounds, clip.centre, clip.scale, spending)
    noise = clip.scale * found.noise[1]
    missing = (clip.below / rows.n, clip.above / rows.n) if groups == 1 else means_lack(clip, found, bounds, rows.n)
    below, above = (np.where(found.few, np.diff(bounds)[:, 0], more) for more in missing)
    seen, ends = np.hypot(noise, clip.unseen / rows.n), (clip.centre - clip.scale, clip.centre + clip.scale)
    return Means(value, sampling, seen, below, above, float(np.max(noise)), clip.look, ends)


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
    """Positive numbers of known noise: four or more are drawn together as far as noise may explain that they differ.

    Each by its own noise: one that is hardly known follows the others, and does not lead them.
    """
    if values.shape[-1] >= 4:
        weight = (np.min(noise, axis=-1, keepdims=True) / noise) ** 2
        total = weight.sum(axis=-1, keepdims=True)
        middle = (weight * values).sum(axis=-1, keepdims=True) / total
        apart = (weight * (values - middle) ** 2).sum(axis=-1, keepdims=True)
        unit = np.min(noise, axis=-1, keepdims=True) ** 2
        surplus = apart - (values.shape[-1] - 1.0) * unit
        true = np.maximum(
            surplus / (total - (weight**2).sum(axis=-1, keepdims=True) / total), 0.0
        )  # their own variance
        values = middle + true / (true + noise**2) * (values - middle)
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
