"""What all private estimators share: checked settings, one budget, one charge, one Release.

Everything here handles public settings; no statistic of the rows is computed in this file.
"""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..accounting.budget import Budget
from ..accounting.ledger import Account, open_account
from ..errors import (
    BoundError,
    InputError,
    NoReplyWarning,
    NotPrivateWarning,
    SettingsWarning,
    sensible,
)
from ..privacy.claim import Cost, Release
from ..privacy.spending import Portion, Spending
from ..privacy.unit import Unit
from ..rows.engine import Rows
from ..rows.engines import open_rows
from ..rows.memory import unquoted
from ..rows.task import Task
from .quantile import private_quantile

__all__ = ["NoisyScore", "PrivateEstimator"]

STRATEGIES = ("refined", "tight", "paper")
# Share of mu^2 that buys one private radius when a bound is given as "private".
RADIUS_SHARE = 0.05
RADIUS_LEVEL = 0.97
# A private radius is searched over all sensible magnitudes, with few cells and a margin for their noise.
RADIUS_SEARCH = {"low": 2.0**-30, "high": 2.0**30, "ratio": 2.0, "forgiving": 2.0}


class NoisyScore:
    """Leftmost base: tells scikit-learn that accuracy on a few dozen rows is not promised: noise may swamp them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        for name in ("classifier_tags", "regressor_tags"):
            if getattr(tags, name) is not None:
                getattr(tags, name).poor_score = True
        return tags


class _Declared(BaseEstimator):
    """Settings that every estimator has and declares itself, in its own order."""

    epsilon: float
    delta: float
    rows_per_person: int
    fallback: Any


@dataclass(eq=False, repr=False)
class PrivateEstimator(_Declared):
    """Base of every estimator: n public, one (epsilon, delta) for the whole fit; these settings by name everywhere."""

    _: KW_ONLY
    neighbours: str = "replace-one"
    invalid: str = "raise"
    ledger: Any = None
    random_state: Any = None
    # The parameter that selects the algorithm, and its values.
    _variants: ClassVar[tuple[str, tuple[str, ...]]] = ("strategy", STRATEGIES)

    @property
    def _variant(self) -> str:
        return str(getattr(self, self._variants[0]))

    def fit(self, X: Any, y: Any = None, **unsupported: Any) -> Any:
        """Fit privately. ``y`` is an array, or the name of the target column when ``X`` is a table.

        A table is a data frame, a Parquet path, or what Arrow, Dask or Spark have: docs/scale.md.
        """
        self._forget()
        _warn_of_raw_scores()
        account = self._account()
        if account is not None and self.invalid == "raise":
            account.admit_check()  # a failed check is an answer about the rows
        try:
            self._fit(X, y, self._settings(**unsupported))
        except BaseException:
            self._forget()  # not even public facts about rows that somebody refused to pay for
            raise
        return self

    def _fit(self, X: Any, y: Any, budget: Budget) -> None:
        raise TypeError(f"{type(self).__name__} does not say how to fit")

    def _settings(self, **unsupported: Any) -> Budget:
        for name in unsupported:
            raise InputError(
                f"{name} is not supported: the guarantee is per row, and a weight would change a row's influence. "
                f"Call fit(X, y) without {name}."
            )
        budget = Budget(self.epsilon, self.delta)
        name, choices = self._variants
        if getattr(self, name) not in choices:
            raise InputError(f"{name} must be one of {choices}, got {getattr(self, name)!r}.")
        if self.invalid not in ("raise", "drop"):
            raise InputError(f"invalid must be 'raise' or 'drop', got {self.invalid!r}.")
        self._unit()
        self._account()
        return budget

    def _account(self) -> Account | None:
        """The ledger to charge, if there is one; a string is opened anew in every process."""
        return open_account(self.ledger, type(self).__name__)

    def _forget(self) -> None:
        """A new fit starts clean: nothing of an earlier, perhaps seeded, fit may be published with it."""
        for name in [k for k in vars(self) if k.endswith("_") and not k.startswith("_")]:
            delattr(self, name)

    def _bound(self, name: str, advice: str) -> float | str:
        value = getattr(self, name)
        if value is None:
            offer = f"; or pass {name}='private' to spend {RADIUS_SHARE:.0%} of the budget on a private one"
            raise BoundError(
                f"{name} is missing. {advice} It must come from what is known before seeing the data"
                f"{offer if self._variants[0] == 'strategy' else ''}."
            )
        if isinstance(value, str) and value == "private" and self._variant == "refined":
            return "private"
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
            offer = " (or 'private' with strategy='refined')" if self._variants[0] == "strategy" else ""
            raise BoundError(f"{name} must be one finite number above 0{offer}, got {value!r}.")
        return sensible(name, float(value))

    def _regression_rows(self, X: Any, y: Any) -> Rows:
        return self._rows(X, y, Task("numbers", drop_invalid=self.invalid == "drop"))

    def _rows(self, X: Any, y: Any, task: Task) -> Rows:
        """Rows that tell the ledger if they fail their check, what is public about them, and warnings about their number."""
        rows = open_rows(X, y, task, self._failed_check)
        self.n_features_in_ = rows.n_features
        if rows.names is not None:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        if rows.classes is not None:
            self.classes_ = rows.classes
        self.rows_per_person_ = self.rows_per_person
        for text in public_warnings(rows.n, rows.n_features, self.delta):
            warnings.warn(text, SettingsWarning, stacklevel=5)
        return rows

    def _failed_check(self) -> None:
        """A failed check is an answer about the rows: the ledger is told before the caller is."""
        account = self._account()
        if account is not None:
            account.failed_check(self._variant)

    def _unit(self) -> Unit:
        """Who is protected; checked."""
        unit = Unit(self.neighbours, whole_number("rows_per_person", self.rows_per_person))
        if unit.relation != "replace-one" and self._variant in ("tight", "paper"):
            raise InputError(
                f"strategy={self._variant!r} is proven for neighbours='replace-one' alone: its test measures how many rows must "
                "be replaced. Use strategy='refined' with neighbours='zero-out'."
            )
        return unit

    def _open(self, cost: Cost, rows: Rows) -> Spending:
        """The budget of this fit; one that cannot be paid is refused here, before any pass over the rows."""
        options = {"account": self._account(), "random_state": self.random_state, "what": self._variant}
        spending = Spending(self._marked(cost), self._unit(), rows, **options, honest=self._honest)
        if self.random_state is not None:
            warnings.warn(
                "random_state was given: this fit is reproducible and therefore not private. "
                "Use random_state=None on real data.",
                NotPrivateWarning,
                stacklevel=4,
            )
        return spending

    @property
    def _honest(self) -> bool:
        """Whether the method is private at all; some published ones are not."""
        return True

    def _marked(self, cost: Cost) -> Cost:
        """The cost with what the guarantee rests on: what others say of their rows is not proven in this repository."""
        if type(self).__module__.partition(".")[0] == "eptr":
            return cost
        return replace(
            cost, basis="not verified", theorem=f"what a row contributes is {type(self).__name__}'s own claim."
        )

    @staticmethod
    def _gaussian_cost(budget: Budget) -> Cost:
        return Cost(budget.epsilon, budget.delta, "gaussian", budget.mu)

    def _finish(self, release: Release) -> None:
        self.release_ = release
        self.released_ = release.replied
        self.noise_ = release.noise_scale
        if not release.replied:
            ours = self._variants[0] == "strategy"
            other = (
                ", a smaller c0, a larger epsilon or strategy='refined' make" if ours else " or a larger epsilon make"
            )
            warnings.warn(
                "no reply: the private test did not release this fit, and predictions are the public fallback. "
                f"More rows{other} a reply likelier.",
                NoReplyWarning,
                stacklevel=4,
            )

    def to_json(self) -> str:
        """The fitted private model as versioned JSON text; holds no row and may be published."""
        from ..persistence import to_json

        return to_json(self)

    def privacy_statement(self) -> str:
        """Two paragraphs fit for a paper or an ethics board."""
        from ..persistence import privacy_statement

        check_is_fitted(self, "release_")
        return privacy_statement(self)


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


def private_radius(rows: Rows, statistic: Any, spending: Portion) -> float:
    """A bound bought from the budget: nearly all rows are within it."""
    return private_quantile(rows, statistic, RADIUS_LEVEL, spending=spending, share=RADIUS_SHARE, **RADIUS_SEARCH)


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


def whole_number(name: str, value: Any) -> int:
    """A positive count, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}.")
    return int(value)
