"""What all private estimators share: the one ``fit``, with checked settings, one budget, one charge, one Release.

Everything here handles public settings; no statistic of the rows is computed in this file.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..accounting.account import Account, open_account
from ..accounting.budget import Budget
from ..docstrings import described
from ..errors import (
    BoundError,
    InputError,
    NoReplyWarning,
    NotPrivateWarning,
    SettingsWarning,
    sensible,
    whole_number,
    yes_or_no,
)
from ..privacy.claim import Cost, Record, Release
from ..privacy.facts import Facts
from ..privacy.spending import Spending
from ..privacy.unit import Unit
from ..privacy.voices import tell
from ..rows.engine import Engine, Rows
from ..rows.engines import open_rows
from ..rows.memory import unquoted
from ..rows.task import Target, Task
from .fitted import FACTS, Fitted
from .planning import Plan
from .quantile import RADIUS_SHARE
from .strategy import Strategy

__all__ = ["NoisyScore", "PrivateEstimator"]

# Settings that a Release has in other places, or that mean something only where it was made.
TOLD_ELSEWHERE = ("epsilon", "delta", "neighbours", "rows_per_person", "ledger", "random_state")
NO_REPLY = "no reply: the private test did not release this fit, and predictions are the public fallback."


class NoisyScore:
    """Leftmost base: tells scikit-learn that accuracy on a few dozen rows is not promised: noise may swamp them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        for name in ("classifier_tags", "regressor_tags"):
            if getattr(tags, name) is not None:
                getattr(tags, name).poor_score = True
        return tags


class _Declared(BaseEstimator):
    """Settings that every estimator has and declares itself, in its own order, and what a fit adds to them."""

    epsilon: float
    delta: float
    rows_per_person: int
    fallback: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    classes_: NDArray[Any]
    fitted_: Any
    release_: Release


@dataclass(eq=False, repr=False)
class PrivateEstimator(_Declared):
    """Base of every estimator: n public, one (epsilon, delta) for the whole fit; these settings by name everywhere."""

    _: KW_ONLY
    neighbours: str = "replace-one"
    invalid: str = "raise"
    ledger: Any = None
    random_state: Any = None
    # Ways to fit by name (a rival's are forms), the setting that selects one, what y holds, and the type of ``fitted_``.
    strategies: ClassVar[Mapping[str, Strategy]] = MappingProxyType({})
    forms: ClassVar[tuple[str, ...]] = ()
    _selector: ClassVar[str] = "strategy"
    _target: ClassVar[Target] = "numbers"
    _fitted: ClassVar[type[Fitted]] = Fitted

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "Parameters" in (cls.__doc__ or ""):
            described(cls)

    def fit(self, X: Any, y: Any = None, **unsupported: Any) -> Self:
        """Fit privately. ``y`` is an array, or the name of the target column when ``X`` is a table.

        A table is a data frame, a Parquet path, or what Arrow, Dask or Spark have: docs/scale.md.
        """
        self._forget()
        _warn_of_raw_scores()
        account = self._account()
        if account is not None and self.invalid == "raise":
            account.admit_check()  # a failed check is an answer about the rows
        try:
            self._check_settings(**unsupported)
            rows = self._rows(X, y)
            public = self._public(rows.n, rows.n_features, 0 if rows.classes is None else len(rows.classes))
            spending = self._open(self._cost(public), rows)
            self.fitted_ = self._fit(rows, public, spending)
            self.release_ = spending.close(self.fitted_.value, self.fitted_.noise, self._method, self._record())
        except BaseException:
            self._forget()  # not even public facts about rows that somebody refused to pay for
            raise
        if not self.release_.replied:
            warnings.warn(f"{NO_REPLY} {self._advice}", NoReplyWarning, stacklevel=2)
        return self

    if not TYPE_CHECKING:  # there, a name that nobody declared stays an error

        def __getattr__(self, name: str) -> Any:
            """Fitted names end in an underscore: ``coef_`` is ``fitted_.coef``."""
            field = name.removesuffix("_")
            found = None if field == name or name[0] == "_" else getattr(vars(self).get("fitted_"), field, None)
            if found is None:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}, or it was not released.")
            return found

    def __dir__(self) -> list[str]:
        released = fields(self.fitted_) if "fitted_" in vars(self) else ()
        return [*super().__dir__(), *(f"{field.name}_" for field in released)]

    def _public(self, n: int, n_features: int, n_classes: int) -> Any:
        """The settings of this fit, checked, and all that is public: what a strategy gets besides rows and budget."""
        raise TypeError(f"{type(self).__name__} does not say what is public")

    def _cost(self, public: Any) -> Cost:
        return self.strategies[self._variant].cost(public)

    def _fit(self, rows: Rows, public: Any, spending: Spending) -> Fitted:
        return self.strategies[self._variant].fit(rows, public, spending)

    def _planned(self, n: int, n_features: int, n_classes: int = 0, **more: Any) -> Plan:
        self._check_settings()
        public = self._public(whole_number("n", n), whole_number("n_features", n_features), n_classes)
        if public.to_buy:
            raise InputError(f"plan() needs {' and '.join(public.to_buy)} as numbers.")
        return self.strategies[self._variant].plan(replace(public, **more) if more else public)

    @property
    def _variant(self) -> str:
        return str(getattr(self, self._selector))

    @property
    def _method(self) -> str:
        """What the Release calls it."""
        return self._variant

    def _check_settings(self, **unsupported: Any) -> None:
        for name in unsupported:
            raise InputError(
                f"{name} is not supported: the guarantee is per row, and a weight would change a row's influence. "
                f"Call fit(X, y) without {name}."
            )
        Budget(self.epsilon, self.delta)
        choices = self.forms or tuple(self.strategies)
        if getattr(self, self._selector) not in choices:
            raise InputError(f"{self._selector} must be one of {choices}, got {self._variant!r}.")
        for setting in fields(self):
            if setting.type == "bool":
                yes_or_no(setting.name, getattr(self, setting.name))
        if self.invalid not in ("raise", "drop"):
            raise InputError(f"invalid must be 'raise' or 'drop', got {self.invalid!r}.")
        self._unit()
        self._account()

    def _account(self) -> Account | None:
        """The ledger to charge, if there is one; a string is opened anew in every process."""
        return open_account(self.ledger, type(self).__name__)

    def _record(self) -> Record:
        """What was done, in words, and the settings it was done with: those that were fixed, and those that were bought."""
        strategy = self.strategies.get(self._variant)
        how = (
            f"The method known in the literature as {self._method} form, was used" if strategy is None else strategy.how
        )
        home = type(self if strategy is None else strategy).__module__
        public = {k: v for k, v in self.get_params(deep=False).items() if k not in TOLD_ELSEWHERE}
        private = [name for name, value in public.items() if isinstance(value, str) and value == "private"]
        bought = {name: self._bought(name) for name in private}
        return Record.of(type(self).__name__, how, home, {k: v for k, v in public.items() if k not in private}, bought)

    def _bought(self, name: str) -> Any:
        """A bound that was given as "private": what it was found to be, or the ranges that took its place."""
        found = getattr(self.fitted_, name, None)
        return getattr(self.fitted_, name.replace("bound", "range"), None) if found is None else found

    def _forget(self) -> None:
        """A new fit starts clean: nothing of an earlier, perhaps seeded, fit may be published with it."""
        for name in (*FACTS, "fitted_", "release_"):
            self.__dict__.pop(name, None)

    def _bound(self, name: str, advice: str) -> Any:
        """A finite number, or "private" where the strategy can buy one."""
        value = getattr(self, name)
        if value is None:
            offer = f"; or pass {name}='private' to spend {RADIUS_SHARE:.0%} of the budget on a private one"
            ends, missing = name.replace("bound", "range"), name
            if hasattr(self, ends):
                plain, missing = advice.removeprefix("Pass "), f"{ends} (or {name})"
                advice = f"Pass {ends}, the ends of values in their own units, such as (0, 110); or {name}, {plain}"
            raise BoundError(
                f"{missing} is missing. {advice} It must come from what is known before seeing the data"
                f"{offer if self.strategies else ''}."
            )
        strategy = self.strategies.get(self._variant)
        if isinstance(value, str) and value == "private" and strategy is not None and strategy.buys_bounds:
            return "private"
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
            offer = " (or 'private' with strategy='refined')" if self.strategies else ""
            raise BoundError(f"{name} must be one finite number above 0{offer}, got {value!r}.")
        return sensible(name, float(value))

    def _rows(self, X: Any, y: Any) -> Engine:
        """Rows that tell the ledger if they fail their check, what is public about them, and warnings about their number."""
        task = Task(self._target, vars(self).get("classes"), drop_invalid=self.invalid == "drop")
        rows = open_rows(X, None if self._target == "none" else y, task, self._failed_check)
        self.n_features_in_ = rows.n_features
        if rows.names is not None:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        if rows.classes is not None:
            self.classes_ = rows.classes
        for text in public_warnings(rows.n, rows.n_features, self.delta):
            warnings.warn(text, SettingsWarning, stacklevel=3)
        return rows

    def _failed_check(self) -> None:
        """A failed check is an answer about the rows: the ledger is told before the caller is."""
        account = self._account()
        if account is not None:
            account.failed_check(self._variant)

    def _unit(self) -> Unit:
        """Who is protected; checked."""
        unit = Unit(self.neighbours, self.rows_per_person)
        strategy = self.strategies.get(self._variant)
        if strategy is not None and unit.relation not in strategy.relations:
            raise InputError(
                f"strategy={self._variant!r} is proven for neighbours='replace-one' alone: its test measures how many rows must "
                "be replaced. Use strategy='refined' with neighbours='zero-out'."
            )
        return unit

    def _open(self, cost: Cost, rows: Rows) -> Spending:
        """The budget of this fit; one that cannot be paid is refused here, before any pass over the rows."""
        if self._fault is not None:
            warnings.warn(
                f"{type(self).__name__}({self._selector}={self._variant!r}) is not private: {self._fault}",
                NotPrivateWarning,
                stacklevel=3,
            )
        options = {"account": self._account(), "random_state": self.random_state, "what": self._variant}
        spending = Spending(self._marked(cost), self._unit(), rows, **options, honest=self._fault is None)
        if self.random_state is not None:
            warnings.warn(
                "random_state was given: this fit is reproducible and therefore not private. "
                "Use random_state=None on real data.",
                NotPrivateWarning,
                stacklevel=3,
            )
        return spending

    @property
    def _fault(self) -> str | None:
        """Why the method is not private at all; some published ones are not."""
        return None

    @property
    def _advice(self) -> str:
        """What makes a reply likelier."""
        return "More rows, a smaller c0, a larger epsilon or strategy='refined' make a reply likelier."

    def _marked(self, cost: Cost) -> Cost:
        """The cost with what the guarantee rests on: what others say of their rows is not proven in this repository."""
        if type(self).__module__.partition(".")[0] == "eptr":
            return cost
        return replace(
            cost, basis="not verified", theorem=f"what a row contributes is {type(self).__name__}'s own claim."
        )

    def to_json(self) -> str:
        """The fitted private model as versioned JSON text; holds no row and may be published."""
        from ..persistence import to_json

        return to_json(self)

    def facts(self) -> Facts:
        """What a reader may rely on: the facts of the Release, and what this model knows of its accuracy."""
        check_is_fitted(self, "release_")
        return self._facts(self._table())

    def _facts(self, table: Any) -> Facts:
        found = replace(self.release_.facts(), fault=self._fault or "")
        if table is None:
            return found
        widths = np.ptp(table.intervals, axis=1)
        few = [str(name) for name, width in zip(table.names, widths, strict=True) if not np.isfinite(width)]
        known = widths[np.isfinite(widths)]
        biases = [
            " ".join(getattr(table, "caution", "").split()),
            f"Too few rows to say: {', '.join(few)}." if few else "",
        ]
        span = (float(known.min()), float(known.max())) if known.size else None
        told = {"level": table.level, "widths": span, "biases": tuple(filter(None, biases))}
        return replace(found, outside=getattr(table, "outside", None), **told)

    def _table(self) -> Any:
        """The summary, where it has intervals, infinite for what is not determined; else None."""
        told = getattr(self.fitted_, "covariance", None) is not None and hasattr(self, "summary")
        table = self.summary() if told else None
        return table if hasattr(table, "intervals") else None

    def statement(self, voice: str = "methods") -> str:
        """What was promised and how it was kept: for a "methods" section, an "ethics" board, or the "people" in the data."""
        return tell(self.facts(), voice)

    def privacy_statement(self) -> str:
        """The statement for a methods section."""
        return self.statement()


_SCORES_WARNED: list[str] = []


def _warn_of_raw_scores() -> None:
    """Once in a process, if scikit-learn's model selection fits us: from who calls, not from what it passes."""
    frame: Any = sys._getframe(1)
    while frame is not None and not _SCORES_WARNED:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection"):
            _SCORES_WARNED.append("said")
            warnings.warn(
                "fits inside cross_val_score and GridSearchCV are private, their scores and the choices made with them are not: "
                "they look at raw rows. On private rows use eptr.stats.score.",
                NotPrivateWarning,
                stacklevel=4,
            )
        frame = frame.f_back


def validated(estimator: Any, *arrays: Any, **options: Any) -> Any:
    """scikit-learn's validation, without its habit of quoting the offending rows."""
    return unquoted(validate_data, estimator, *arrays, **options)


def public_warnings(n: int, features: int, delta: float) -> list[str]:
    """What public numbers alone say against a fit."""
    found = []
    if delta > 1.0 / n:
        found.append(
            f"delta = {delta:g} is above 1/n: it allows publishing some of the {n} rows in clear. Use {0.01 / n:.1g} or less."
        )
    if features > n:
        found.append(
            f"X has more columns ({features}) than rows ({n}): no method can tell them apart. Use fewer columns."
        )
    if n < 50:
        found.append(f"X has {n} rows: with fewer than 50 a private answer is mostly noise. Expect nothing of it.")
    return found
