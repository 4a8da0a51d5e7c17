"""Tables of counts: how many rows have each combination of declared levels, in one to four columns.  Proof: table.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from ..errors import DomainError, InputError
from ..rows.namespace import on_host
from ..rows.task import Task
from .estimate import Estimate
from .question import Question, Shared, is_column, level_codes, statistic
from .tally import tally

__all__ = ["table"]

_MOST_WAYS, _MOST_CELLS = 4, 1_000_000


@statistic
def table(
    *columns: Any, levels: Any, epsilon: float, delta: float = 1e-6, level: float = 0.95, **shared: Unpack[Shared]
) -> Estimate:
    """Counts of all combinations: whole numbers, whose margins and, if no row can be dropped, total agree.

    Parameters
    ----------
    *columns : one to four columns of labels, or one table
        What is counted.
    levels : list of lists, or {name: list}
        The labels of every column, in the order of the answer; a mapping chooses columns of a table by name. For a single
        column a list will do.
    level : float
        Intervals hold the number of rows times the share of the population so often, each cell by itself.

    Examples
    --------
    >>> from eptr import stats
    >>> sex, answer = ["F", "M"] * 500, ["yes", "no", "no", "no"] * 250
    >>> found = stats.table(sex, answer, levels=[["F", "M"], ["no", "yes"]], epsilon=1.0)
    >>> found.value.shape, float(found.value.sum()), found.names
    ((2, 2), 1000.0, (('F', 'M'), ('no', 'yes')))
    """
    question = Question(
        what="table", epsilon=epsilon, delta=delta, level=level, home=__name__, declared={"levels": levels}, **shared
    )
    data, axes = _axes(columns, levels)
    if any(not hasattr(axis, "__iter__") or isinstance(axis, str) or len(list(axis)) < 2 for axis in axes.values()):
        raise InputError("levels must list two or more labels of every column, such as ['F', 'M'].")
    listed = {name: level_codes(axis, name) for name, axis in axes.items()}
    shape = tuple(len(axis) for axis, _ in listed.values())
    if not 1 <= len(shape) <= _MOST_WAYS or np.prod(shape, dtype=float) > _MOST_CELLS:
        raise InputError(
            f"levels must be those of 1 to {_MOST_WAYS} columns, with at most {_MOST_CELLS:,} cells together."
        )
    cells = int(np.prod(shape))
    task = Task("labels", range(cells), question.drop, levels={name: axis for name, (axis, _) in listed.items()})

    @on_host
    def counts(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
        """One cell for each row that is kept. proof: table"""
        return (np.bincount(y if keep is None else y[keep], minlength=cells).astype(float),)

    rows, spending = question.open(data, task=task, parts=1)
    try:
        (found,) = rows.sum(counts)
    except DomainError:
        raise DomainError(
            "columns hold a label that is not in levels, or none; declare it there, clean it, or pass invalid='drop' to give "
            "such rows no weight."
        ) from None
    order = np.arange(cells).reshape(shape)[np.ix_(*(order for _, order in listed.values()))].ravel()
    names = [[str(value) for value in axis] for axis, _ in listed.values()]
    return tally(rows, found, lambda x, y: y, order, names, spending, question)


def _axes(columns: tuple[Any, ...], levels: Any) -> tuple[Any, dict[str, Any]]:
    """The data with columns by name, and the levels of each."""
    if isinstance(levels, Mapping):
        if len(columns) != 1 or is_column(columns[0]):
            raise InputError("levels by name choose columns of one table; for separate columns pass a list of lists.")
        return columns[0], dict(levels)
    if not columns or not all(is_column(column) for column in columns):
        raise InputError(
            "columns must be columns of labels; for a table pass levels={name: [...]}, which chooses some."
        )
    listed = list(levels) if hasattr(levels, "__iter__") and not isinstance(levels, str) else []
    if len(columns) == 1 and not any(isinstance(axis, (list, tuple, np.ndarray)) for axis in listed):
        listed = [listed]
    if len(listed) != len(columns):
        raise InputError(f"levels must have a list of labels for each of the {len(columns)} columns.")
    return ({f"x{j}": column for j, column in enumerate(columns)}, {f"x{j}": axis for j, axis in enumerate(listed)})
