"""What is asked of rows, all of it public: a fit's kind of target and labels, or a released model's predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, no_column
from .labels import Labels, sorted_labels

__all__ = ["Model", "Target", "Task", "target_kind"]

Array = NDArray[np.float64]
Target = Literal["numbers", "labels", "none"]


@dataclass(frozen=True, slots=True)
class Task:
    """What a fit asks for, checked before a row is read.

    Parameters
    ----------
    target : {"numbers", "labels", "none"}
        What y holds; "none" is for statistics of X alone.
    classes : "public" or sequence of labels
        For labels only. "public": the label set is that of the labels that occur, and declared to be no secret.
    drop_invalid : bool
        Rows that are not valid contribute zero instead of raising.
    columns : sequence of str, optional
        The columns of a table that count, in this order; all but the target without it.
    levels : mapping of str to labels, optional
        Columns of labels, crossed: the target is the cell of their table that a row is in, a number among ``classes``.

    Examples
    --------
    >>> Task("labels", ["yes", "no"]).label_set(lambda: []).tolist()
    ['no', 'yes']
    >>> Task("labels", "public").label_set(lambda: [2, 1]).tolist()
    [1, 2]
    """

    target: Target = "numbers"
    classes: Any = None
    drop_invalid: bool = False
    columns: tuple[str, ...] | None = None
    levels: Mapping[str, Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        if self.target != "labels":
            return
        if not isinstance(self.classes, str) and hasattr(self.classes, "__iter__"):
            object.__setattr__(self, "classes", tuple(self.classes))
        elif self.classes != "public":
            raise InputError(f"classes must be 'public' or a sequence of labels, got {self.classes!r}.")
        elif self.drop_invalid:
            raise InputError(
                "classes='public' takes every label that occurs, so none could be dropped; list the classes, or pass "
                "invalid='raise'."
            )

    def chosen(self, columns: Any, target: Any = None) -> list[Any]:
        """Which of the columns of a table count."""
        columns = list(columns)
        if self.columns is None:
            return [name for name in columns if name != target]
        for name in self.columns:
            if name not in columns:
                raise InputError(no_column(repr(name), len(columns)))
        return list(self.columns)

    def crossed(self, columns: Any) -> tuple[list[Any], list[Labels]]:
        """Which of the columns of a table are crossed, and the labels of each."""
        assert self.levels is not None
        names = replace(self, columns=tuple(self.levels)).chosen(columns)
        return names, [Labels(sorted_labels(levels)) for levels in self.levels.values()]

    def label_set(self, occurring: Callable[[], Iterable[Any]]) -> NDArray[Any] | None:
        """The sorted label set, as declared or, if it is public, from ``occurring``; None for a target without labels."""
        if self.target != "labels":
            return None
        if self.classes != "public":
            return sorted_labels(self.classes)
        found = list(occurring())
        if any(isinstance(v, float) for v in found):
            from sklearn.utils.multiclass import check_classification_targets

            try:
                check_classification_targets(np.asarray(found))  # measurements are no labels
            except ValueError as error:
                raise InputError(f"y must hold labels, or classes must list them. {error}") from None
        return sorted_labels(found)


def target_kind(y: Any, classes: Any) -> Target:
    """What a target is, given the label set that it is coded with."""
    if y is None:
        return "none"
    return "numbers" if classes is None else "labels"


@dataclass(frozen=True, slots=True)
class Model:
    """One way of predicting, released and therefore public: it goes to the rows.

    Parameters
    ----------
    name : str
        What users call it.
    function : callable
        Predictions of a contiguous float64 matrix without gaps; a product must not depend on where the rows came from.
    check : callable
        The matrix of an array or a frame in memory.
    names : list of str, optional
        The columns of the matrix, in order, if they have names.
    dtype : dtype, optional
        Of one prediction per row, if it may be computed later.
    """

    name: str
    function: Callable[[Array], Any]
    check: Callable[[Any], Any]
    names: list[str] | None = None
    dtype: Any = None
