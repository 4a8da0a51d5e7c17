"""One question about the rows: public settings checked, rows opened, one budget, one Estimate.

Everything here handles public settings; no statistic of the rows is computed in this file.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import wraps
from numbers import Number
from typing import Any, ParamSpec, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import ndtri

from ..accounting.account import Account, open_account
from ..accounting.budget import Budget
from ..docstrings import described
from ..errors import (
    BoundError,
    EptrError,
    InputError,
    NotPrivateWarning,
    SettingError,
    SettingsWarning,
    probability,
    sensible,
    whole_number,
)
from ..estimators.base import public_warnings
from ..privacy.claim import Cost, Record
from ..privacy.spending import Spending
from ..privacy.unit import Unit
from ..rows.engine import Engine
from ..rows.engines import open_rows
from ..rows.labels import Labels
from ..rows.task import Task
from .estimate import Estimate

__all__ = ["Question", "Shared", "column_bounds", "column_names", "is_column", "level_codes", "statistic"]

P = ParamSpec("P")
Array = NDArray[np.float64]
_GROUPED = ("mean", "variance", "std")  # their y is called by


class Shared(TypedDict, total=False):
    """Settings that every statistic takes by name, with the meanings that estimators give them."""

    neighbours: str  # "replace-one" (default) or "zero-out": which change stays hidden
    rows_per_person: int  # 1
    invalid: str  # "raise" (default) or "drop": what to do with rows outside the domain
    ledger: Any  # None, or what to charge
    random_state: Any  # None; a seed is for experiments and protects nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The settings of one statistic, checked; ``what`` is its name."""

    what: str
    epsilon: float
    delta: float = 1e-6  # 0 for a pure release
    level: float = 0.95  # NaN: no intervals
    neighbours: str = "replace-one"
    rows_per_person: int = 1
    invalid: str = "raise"
    ledger: Any = None
    random_state: Any = None
    home: str = ""  # the module that proves it
    declared: Mapping[str, Any] = field(default_factory=dict)  # bounds and levels, for the record

    def __post_init__(self) -> None:
        Budget(self.epsilon, 0.5 if self.delta == 0.0 else self.delta)
        object.__setattr__(self, "rows_per_person", whole_number("rows_per_person", self.rows_per_person))
        Unit(self.neighbours, self.rows_per_person)
        if not (isinstance(self.level, float) and math.isnan(self.level)):
            probability("level", self.level)
        if self.invalid not in ("raise", "drop"):
            raise InputError(f"invalid must be 'raise' or 'drop', got {self.invalid!r}.")

    @property
    def drop(self) -> bool:
        """Whether rows may be missing, so that their number is private."""
        return self.invalid == "drop"

    def cost(self) -> Cost:
        """Gaussian sums for the whole budget."""
        budget = Budget(self.epsilon, self.delta)
        return Cost(budget.epsilon, budget.delta, "gaussian", budget.mu)

    def open(
        self,
        x: Any,
        y: Any = None,
        task: Task | None = None,
        *,
        cost: Callable[[Engine], Cost] | None = None,
        parts: int | None = None,
    ) -> tuple[Engine, Spending]:
        """The rows, and the budget to ask them with; ``task`` says what y holds. ``parts``: numbers asked for at a time.

        ``cost``: if it is not that of Gaussian sums, what it is for these rows, from what is public about them.
        """
        account = open_account(self.ledger, self.what)
        if account is not None and not self.drop:
            account.admit_check()  # a failed check is an answer about the rows
        task = task or Task("none", drop_invalid=self.drop)
        rows = _opened(x, y, task, lambda: _failed(account, self.what), self.what)
        for text in public_warnings(rows.n, parts or rows.n_features, self.delta):
            warnings.warn(text, SettingsWarning, stacklevel=5)
        unit = Unit(self.neighbours, self.rows_per_person)
        spending = Spending(cost(rows) if cost else self.cost(), unit, rows, account, self.random_state, what=self.what)
        if self.random_state is not None:
            warnings.warn(
                "random_state was given: this answer is reproducible and therefore not private. Use random_state=None on "
                "real data.",
                NotPrivateWarning,
                stacklevel=5,
            )
        return rows, spending

    def answer(
        self,
        spending: Spending,
        value: Any,
        se_sampling: Any,
        se_privacy: Any,
        names: Sequence[Sequence[str]],
        *,
        noise_scale: float,
        low: Any = None,
        high: Any = None,
    ) -> Estimate:
        """Closes the budget. Without ``low`` and ``high``: value -+ z sqrt(se_sampling^2 + se_privacy^2)."""
        if low is None:
            low, high = self.interval(np.asarray(value), np.hypot(se_sampling, se_privacy))
        settings = dict(self.declared) | {"invalid": self.invalid}
        release = spending.close(
            value, noise_scale, self.what, Record.of(self.what, "", self.home, settings, bought={})
        )
        labels = tuple(tuple(axis) for axis in names)
        return Estimate(value, low, high, self.level, se_sampling, se_privacy, labels, release)

    def interval(self, value: Any, se: Any, below: Any = 0.0, above: Any = 0.0) -> tuple[Any, Any]:
        """z standard errors to each side, together with what may be missing there at most."""
        reach = self.normal_quantile * se
        return value - np.hypot(reach, below), value + np.hypot(reach, above)

    @property
    def normal_quantile(self) -> float:
        """z with P(|N(0, 1)| <= z) = level."""
        return float(ndtri(0.5 + 0.5 * self.level))


def statistic(function: Callable[P, Estimate]) -> Callable[P, Estimate]:
    """A function of ``eptr.stats``: its docstring made whole, and settings that it lacks or does not have named."""
    signature = inspect.signature(described(function))
    names = [*signature.parameters]
    if "shared" in names:
        names[names.index("shared") :] = Shared.__annotations__

    @wraps(function)
    def ask(*args: P.args, **settings: P.kwargs) -> Estimate:
        for name in settings:
            if name not in names:
                raise SettingError(f"{function.__name__} has no setting {name!r}; it has {', '.join(names)}.")
        try:
            given = signature.bind(*args, **settings).arguments
        except TypeError as error:
            told = f"{function.__name__}: {error}; it takes {', '.join(names)}."
            if "'bounds'" in str(error):
                told = (
                    f"{function.__name__}: bounds is missing. Pass the ends between which values lie, such as bounds=(0, 110), "
                    "or a pair for each column, from what is known before seeing the data."
                )
        else:
            if given.get("level") is not None:
                probability("level", given["level"])
            return function(*args, **settings)
        raise SettingError(told)

    return ask


def _opened(x: Any, y: Any, task: Task, on_fault: Callable[[], None], what: str) -> Engine:
    """The rows, or one sentence: what other libraries say about them may quote some."""
    try:
        crossed = task.levels is not None and isinstance(x, Mapping)  # columns by name, of labels
        return open_rows(x if crossed else as_table(x), y, task, on_fault)
    except InputError as error:
        if not (what in _GROUPED and isinstance(y, str) and str(error).startswith(f"y={y!r}")):
            raise
        told = "by" + str(error)[1:]
    except EptrError:
        raise
    except (TypeError, ValueError):
        hint = "; make a table of it: pandas.DataFrame(x)" if isinstance(x, Mapping) else ""
        told = (
            f"x must be a column, or a table with as many numbers in every row: an array, list, data frame, Parquet files, "
            f"or what Arrow, Dask or Spark have; got {type(x).__name__}{hint}."
        )
    raise InputError(told)  # outside the handler, so that the other text is not even in the context


def _failed(account: Account | None, what: str) -> None:
    """A failed check is an answer about the rows: the ledger is told before the caller is."""
    if account is not None:
        account.failed_check(what)


def is_column(x: Any) -> bool:
    """Whether ``x`` is one column rather than a table, from its type or shape alone."""
    if hasattr(x, "ndim"):
        return bool(x.ndim == 1)
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)):
        return not any(isinstance(v, (list, tuple)) or getattr(v, "shape", ()) != () for v in x)
    return _of_arrow(x) or hasattr(x, "to_frame")


def _of_arrow(x: Any) -> bool:
    """Whether ``x`` is a column of Arrow's own."""
    return type(x).__module__.partition(".")[0] == "pyarrow" and hasattr(x, "type")


def as_table(x: Any) -> Any:
    """A column as a table of one, not yet read; anything else as it is."""
    shape = (len(x),) if isinstance(x, (list, tuple)) else getattr(x, "shape", None)
    if isinstance(shape, tuple):
        for count, what in zip(shape, ("rows", "columns"), strict=False):
            if isinstance(count, int) and count == 0:
                raise InputError(f"x has no {what}; a statistic needs at least one.")
        if len(shape) > 2:
            raise InputError(f"x must be a column or a table of columns, got {len(shape)} axes.")
    if x is None or isinstance(x, (Number, bytes, Set, Mapping)) or shape == () or issparse(x):
        raise TypeError
    if isinstance(x, Iterator) and not hasattr(x, "__arrow_c_stream__"):  # a stream of Arrow's is a table
        raise TypeError
    if not is_column(x):
        return x
    if hasattr(x, "to_frame"):
        return x.to_frame()
    if _of_arrow(x):
        import pyarrow as pa

        return pa.table({"x": x})
    return [[v] for v in x] if isinstance(x, Sequence) else x[:, None]


def column_names(rows: Engine) -> list[str]:
    """The names of the columns; numbered if they have none."""
    return list(rows.names or (f"x{j}" for j in range(rows.n_features)))


def column_bounds(bounds: Any, columns: int, name: str = "bounds") -> Array:
    """(low, high) of every column, shape (d, 2), from a pair, a list of pairs or a mapping by name."""
    if bounds is None:
        raise BoundError(
            f"{name} is missing: pass (low, high), from what is known before seeing the data; wide is no harm."
        )
    pairs = list(bounds.values()) if isinstance(bounds, Mapping) else bounds
    try:
        found = np.array(pairs, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise BoundError(f"{name} must hold numbers: (low, high), or one pair per column.") from None
    found = np.tile(found, (columns, 1)) if found.shape == (2,) else found
    if found.shape != (columns, 2):
        raise BoundError(f"{name} must be one pair (low, high) or one per column ({columns}), got shape {found.shape}.")
    keys: Any = list(bounds) if isinstance(bounds, Mapping) else range(columns)
    for key, (low, high) in zip(keys, found.tolist(), strict=True):
        one = name if np.shape(pairs) == (2,) else f"{name}[{key!r}]"
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise BoundError(f"{one} must be finite with low < high.")
        sensible(f"the width of {one}", high - low)
    return found


def level_codes(levels: Any, by: Any) -> tuple[tuple[Any, ...], Any]:
    """The declared levels, and where each of them stands in sorted order: codes of y[order[k]] are level k."""
    if by is None or levels is None:
        raise InputError(
            "levels must list the groups of by: levels that are found in the data would tell which ones occur."
        )
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        raise InputError("levels must be a list of labels, such as ['F', 'M'].")
    listed = tuple(levels)
    if len(listed) < 2:
        raise InputError("levels must hold at least two labels, one a group; leave out by and levels for all rows.")
    try:
        found = Task("labels", listed).label_set(list)
    except InputError as error:
        raise InputError(str(error).replace("classes", "levels", 1)) from None
    assert found is not None
    codes = Labels(found).codes(list(listed))
    if len(set(codes.tolist())) < len(listed):
        raise InputError("levels must list every label once.")
    return listed, codes
