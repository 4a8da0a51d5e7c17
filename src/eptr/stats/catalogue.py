"""The one list of statistics: the audit and the common tests take theirs from here; one more statistic is one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .estimate import Estimate
from .histogram import histogram
from .quantiles import quantiles
from .table import table

__all__ = ["BOUND", "COLUMNS", "LEVELS", "STATISTICS", "Statistic"]

# What examples are asked about: three columns of numbers, mostly within the bound, and one of labels.
COLUMNS, LEVELS, BOUND = ("a", "b", "c"), ("no", "yes"), 3.0


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic, and how it is asked about rows of the common form.

    ``ask(x, t, bounds, **settings)``: x holds the columns, t the labels; or x is a table with all of them and t the name of
    the labels, ``bounds`` being pairs by name then.
    """

    name: str
    ask: Callable[..., Estimate]

    def example(self, x: Any, t: Any, **settings: Any) -> Estimate:
        """The answer about rows of the common form."""
        bounds: Any = dict.fromkeys(COLUMNS, (-BOUND, BOUND)) if isinstance(t, str) else (-BOUND, BOUND)
        return self.ask(x, t, bounds, **{"epsilon": 1.0, "delta": 1e-6, **settings})


def _histogram(x: Any, t: Any, bounds: Any, **settings: Any) -> Estimate:
    edges = [-BOUND, -1.0, 0.0, 1.0, BOUND]
    return (
        histogram(x, {COLUMNS[0]: edges}, **settings) if isinstance(t, str) else histogram(x[:, 0], edges, **settings)
    )


def _table(x: Any, t: Any, bounds: Any, **settings: Any) -> Estimate:
    return table(x, levels={t: LEVELS}, **settings) if isinstance(t, str) else table(t, levels=LEVELS, **settings)


STATISTICS: list[Statistic] = [
    Statistic("histogram", _histogram),
    Statistic("quantiles", lambda x, t, bounds, delta, **settings: quantiles(x, [0.25, 0.5], bounds, **settings)),
    Statistic("table", _table),
]
