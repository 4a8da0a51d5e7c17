"""How many values fall into public bins.  Proof: histogram.md."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from ..errors import InputError
from ..rows.namespace import like, namespace, to_numpy
from ..rows.task import Task
from .estimate import Estimate
from .question import Question, Shared, statistic
from .tally import tally

__all__ = ["histogram"]


@statistic
def histogram(
    x: Any, bins: Any, *, epsilon: float, delta: float = 1e-6, level: float = 0.95, **shared: Unpack[Shared]
) -> Estimate:
    """Counts of one column in bins: whole numbers that, if no row can be dropped, add up to the number of rows.

    Parameters
    ----------
    x : column, or table of one
        The values.
    bins : sequence of floats, or {name: sequence}, which chooses the column of a table
        The edges, increasing, from what is known before seeing the data; the first and the last may be infinite. A bin holds
        its lower edge and not its upper one, but the last holds both. Values beyond the edges count in the outer bins.
    level : float
        Intervals hold the number of rows times the share of the population so often, each bin by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from eptr import stats
    >>> ages = np.random.default_rng(0).integers(18, 90, size=10_000)
    >>> found = stats.histogram(ages, [0, 18, 40, 65, 120], epsilon=1.0)
    >>> float(found.value.sum()), found.names[0][1]
    (10000.0, '[18, 40)')
    """
    question = Question(
        what="histogram", epsilon=epsilon, delta=delta, level=level, home=__name__, declared={"bins": bins}, **shared
    )
    columns = tuple(bins) if isinstance(bins, Mapping) else None
    edges = _edges(next(iter(bins.values()), None) if isinstance(bins, Mapping) else bins)
    rows, spending = question.open(x, task=Task("none", drop_invalid=question.drop, columns=columns))
    if rows.n_features != 1:
        raise InputError(f"x must be one column, got {rows.n_features}; stats.table counts combinations.")
    inner = edges[1:-1]

    def counts(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        """Of sorted values, how many lie below each inner edge; then differences. proof: bins"""
        values = x[:, 0] if keep is None else x[keep][:, 0]
        xp = namespace(values)
        below = to_numpy(xp.searchsorted(xp.sort(values), like(inner, values), side="left"))
        return (np.diff(below, prepend=0, append=values.shape[0]).astype(float),)

    (found,) = rows.sum(counts)
    names = [f"[{a:g}, {b:g}{')' if b < edges[-1] else ']'}" for a, b in pairwise(edges)]

    def cell(x: Any, y: Any) -> Any:
        return np.searchsorted(inner, x[:, 0], side="right")

    return tally(rows, found, cell, slice(None), [names], spending, question)


def _edges(bins: Any) -> Any:
    try:
        edges = np.asarray(bins, dtype=float)
    except (TypeError, ValueError, OverflowError):
        edges = np.empty(0)
    if edges.ndim != 1 or len(edges) < 2 or np.any(np.isnan(edges)) or not np.all(edges[:-1] < edges[1:]):
        raise InputError(
            "bins must be two or more increasing edges, such as [0, 20, 40, 120]: a number of bins would need the range of the "
            "data."
        )
    return edges
