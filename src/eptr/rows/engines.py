"""Which engine reads what: one list, asked in order, behind the only doors to rows, for fits and for predictions.

An engine is a file with the functions of :class:`Source`; adding one is that file and an entry in ``ENGINES``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..errors import DomainError, InputError
from . import arrow, dask, foreign, memory, spark
from .engine import Engine
from .task import Model, Task

__all__ = ["ENGINES", "Source", "open_rows", "predict_rows", "read_column"]


class Source(Protocol):
    """What the file of an engine has to offer."""

    def claims(self, X: Any) -> bool:
        """Whether ``X`` is for this engine, from its type alone."""

    def open(self, X: Any, y: Any, task: Task) -> Engine:
        """Rows for a fit; ``y`` is None exactly if the task has no target."""

    def predict(self, X: Any, model: Model) -> Any:
        """Predictions for the rows of ``X``, where they are."""

    def column(self, X: Any, name: str) -> Any:
        """A column, to compare predictions with."""


# Asked in order: the last one takes whatever is left.
ENGINES: list[Source] = [spark, dask, arrow, foreign, memory]


def _source(X: Any) -> Source:
    return next(source for source in ENGINES if source.claims(X))


def open_rows(X: Any, y: Any, task: Task, on_fault: Callable[[], None] | None = None) -> Engine:
    """The rows of a fit, with the names of their columns and the label set if they have some.

    ``X`` may be rows that are open already. ``on_fault`` is called when a row lies outside the domain, whether that shows
    here or in the first pass, before the caller is told.
    """
    if isinstance(X, Engine):
        rows = _as_asked(X, y, task)
    elif y is None and task.target != "none" and task.levels is None:
        raise InputError(
            "this fit requires y to be passed, but the target y is None: pass one value per row, or the name of the target "
            "column if X is a table."
        )
    elif y is not None and task.target == "none":
        raise InputError("y must be None: there is no target here, and every column of X counts.")
    else:
        try:
            rows = _source(X).open(X, y, task)
        except DomainError:
            if on_fault is not None:
                on_fault()
            raise
    if task.columns is not None and rows.names != list(task.columns):
        raise InputError(
            "columns are chosen by name, so X must be a table with named columns, whose names are text and differ: rename them, "
            "or pass a list of pairs, one per column, instead of a dict."
        )
    rows.on_fault = on_fault
    return rows


def predict_rows(X: Any, model: Model) -> Any:
    """Predictions for ``X``: an array for rows on this machine, a lazy result of its own kind for a cluster's."""
    return _source(X).predict(X, model)


def read_column(X: Any, name: str) -> Any:
    """The column of a table that is called so, as it is."""
    return _source(X).column(X, name)


def _as_asked(rows: Engine, y: Any, task: Task) -> Engine:
    """Rows that somebody has opened, if they are what the task asks for."""
    if y is not None:
        raise InputError("y must be None when X is an engine: the engine knows its target.")
    if rows.target != task.target:
        kinds = {"labels": "labels", "numbers": "numbers", "none": "no target"}
        raise InputError(f"X is an engine for {kinds[rows.target]}, and this fit needs {kinds[task.target]}.")
    known: Any = [] if rows.classes is None else rows.classes
    wanted: Any = task.label_set(lambda: known)
    if wanted is not None and not np.array_equal(wanted, known):
        raise InputError("classes must be those that the engine was made with.")
    if rows.drop_invalid != task.drop_invalid:
        raise InputError(
            f"X is an engine that was made with drop_invalid={rows.drop_invalid}; invalid must agree with it."
        )
    return rows
