"""A study: data, a codebook and one budget, of which every analysis takes a share of mu^2."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np

from .. import stats
from ..accounting.budget import Budget
from ..accounting.ledger import Ledger
from ..codebook import Codebook, Number
from ..errors import InputError, NotPrivateWarning, SettingsWarning, positive
from ..estimators.base import public_warnings, whole_number
from ..privacy.unit import Unit
from ..stats.estimate import Estimate
from .analyses import QUARTILES, Paid, columns_of, describe, private_range, quantiles, table
from .expression import Expression, parse
from .forecast import Forecast, forecast
from .journal import Journal
from .layout import KEPT, Labelled, Layout, open_data
from .models import is_flag, model
from .people import bounded, enforced
from .publication import Publication
from .result import Description, Fit, restored, signed, storable
from .terms import levels_of

__all__ = ["Study"]

Result = TypeVar("Result")
_ANYTHING = 4e99  # a range that holds every number that makes sense


class Spend(TypedDict, total=False):
    """What every analysis takes by name."""

    share: float  # of the study's total mu^2; 1/analyses by default
    epsilon: float  # instead of share: at the study's delta
    where: str  # rows that count, such as "age >= 65 and sex == 'F'"; the others contribute zero
    again: bool  # draw anew, and pay, what was delivered before


class Study:
    """One dataset, one codebook, one budget.

    Rows with a missing or undeclared value where an analysis needs one are dropped, inside the guarantee.

    Parameters
    ----------
    data : data frame, dict of columns, path of a CSV (.gz) or Parquet file, table of a database, or of Arrow, Dask or Spark
        The rows; ``"sqlite:///people.db#people"`` and ``"postgresql:///?service=study#people"`` are tables.
    book : Codebook
        What is public about its columns.
    epsilon, delta : float
        The total, for all analyses together.
    ledger : str or eptr.Ledger, optional
        ``"sqlite:///budget.db#people"``: the study is recorded there, results too, and ``Study.open`` goes on with it. Without
        one, spending is counted until the process ends and recorded nowhere.
    protects : str
        Who is protected, in the words of a statement.
    person : str, optional
        A column that identifies persons: at most ``rows_each`` rows of each count.
    rows_each : int
        Rows of one person; without ``person`` a claim that is trusted.
    neighbours : {"replace-one", "zero-out"}
        What must stay hidden: that a row (or all of a person's) is replaced by any other, or that it is dropped.
    analyses : int
        An analysis that names neither ``share`` nor ``epsilon`` takes this part of the budget.
    random_state : None or seed
        A seed makes the study reproducible and **not private**.

    Examples
    --------
    >>> import numpy as np, eptr
    >>> from eptr.codebook import Number
    >>> ages = np.random.default_rng(0).integers(18, 80, size=5000)
    >>> study = eptr.Study({"age": ages}, eptr.Codebook({"age": Number(0, 110)}), epsilon=1.0, analyses=4)
    >>> study.remaining
    'All of the budget: four analyses of equal shares.'
    >>> mean = study.mean("age")
    >>> study.remaining
    '75% of the budget: three more like the last.'
    >>> bool(study.mean("age").value == mean.value)  # delivered before, and free
    True
    """

    def __init__(
        self,
        data: Any,
        book: Codebook,
        *,
        epsilon: float,
        delta: float = 1e-6,
        ledger: Any = None,
        protects: str = "person",
        person: str | None = None,
        rows_each: int = 1,
        neighbours: str = "replace-one",
        analyses: int = 10,
        random_state: Any = None,
    ) -> None:
        if not isinstance(book, Codebook):
            raise InputError("book must be an eptr.Codebook; Codebook.draft(data) writes one to be filled in.")
        if not isinstance(protects, str) or not protects.strip():
            raise InputError("protects must say who is protected, such as 'person' or 'household'.")
        total, unit = Budget(epsilon, delta), Unit(neighbours, whole_number("rows_each", rows_each))
        self.book, self.epsilon, self.delta, self.unit = book, total.epsilon, total.delta, unit
        self.analyses, self.protects, self.person = whole_number("analyses", analyses), protects, person
        self._bought: dict[str, tuple[float, float]] = {}  # ranges, by column
        self.data = open_data(data)
        book.find(self.data.columns, self.data.where)
        if KEPT in book:
            raise InputError(f"a column must not be called {KEPT!r}: a study marks rows by that name; rename it.")
        if person is not None:
            self.data = bounded(self.data, person, rows_each)
        self.settings = {
            "codebook": book.to_dict(), "rows": self.data.n, "protects": protects, "person": person, "rows_each": rows_each,
            "neighbours": neighbours, "analyses": analyses,
        }  # fmt: skip
        if isinstance(random_state, Integral) and random_state < 0:
            raise InputError(f"random_state must not be negative, got {random_state!r}.")
        self._rng = np.random.default_rng(int(random_state)) if isinstance(random_state, Integral) else random_state
        self.journal = Journal.open(ledger, total, self.settings, self.data.where, seeded=self._rng is not None)
        for text in (*public_warnings(self.data.n, 1, delta), *self.journal.elsewhere(self.data.where)):
            warnings.warn(text, SettingsWarning, stacklevel=2)
        if self._rng is not None:
            warnings.warn(
                "random_state was given: this study is reproducible and therefore not private. Use random_state=None on real "
                "data.",
                NotPrivateWarning,
                stacklevel=2,
            )

    @classmethod
    def open(cls, ledger: Any, data: Any) -> Study:
        """Go on with a study that a ledger holds: its codebook and settings are there.

        Data are known by what is public about them, the columns of the codebook and the number of rows: results that were
        delivered are returned as they are, whatever the rows hold by now.
        """
        account = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        found = Journal(account)
        settings = dict(found.settings)
        book = Codebook.from_dict(settings.pop("codebook"))
        settings.pop("rows")
        return cls(
            data, book, epsilon=found.total.epsilon, delta=found.total.delta, ledger=account, **settings
        )  # fmt: skip

    @property
    def remaining(self) -> str:
        """What is left of the budget, in one sentence."""
        return self.journal.remaining(self.analyses)

    @property
    def spent(self) -> list[str]:
        """Every analysis with its share, oldest first."""
        return [str(line) for line in self.journal.lines()]

    def __repr__(self) -> str:
        kept = (
            self.journal.ledger.url
            if self.journal.recorded
            else "recorded nowhere: pass ledger='sqlite:///budget.db#people'"
        )
        head = f"Study of {self.data.n:,} rows, ({self.epsilon:g}, {self.delta:g}) in all, {kept}."
        return "\n".join([head, *self.spent, self.remaining])

    def describe(self, columns: Any = None, **spend: Unpack[Spend]) -> Description:
        """Numbers: mean, standard deviation, quartiles, shares missing and beyond the range. Categories: counts of levels."""
        names = self._names(columns)
        return self._ask("describe", {"columns": names}, spend, lambda paid: describe(paid, names))

    def mean(self, columns: Any, *, by: str | None = None, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Means of columns, or of expressions such as "log(wage)"; of rows that have all of them."""
        listed, groups = _listed(columns), self._levels(by)
        return self._ask(
            "mean", {"columns": listed, "by": by, "level": level}, spend,
            lambda paid: stats.mean(
                *paid.numbers(listed, groups), by=by, levels=groups and groups.levels[0].called, level=level, **paid.sums()
            ),
        )  # fmt: skip

    def correlation(self, columns: Any, *, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """The correlation matrix of two or more columns."""
        listed = _listed(columns)
        if len(listed) < 2:
            raise InputError("correlation needs two columns or more.")
        return self._ask(
            "correlation", {"columns": listed, "level": level}, spend,
            lambda paid: stats.correlation(*paid.numbers(listed), level=level, **paid.sums()),
        )  # fmt: skip

    def quantiles(
        self, columns: Any, q: Any = QUARTILES, *, level: float | None = 0.95, **spend: Unpack[Spend]
    ) -> Estimate:
        """Quantiles of columns; whole numbers where the codebook says so."""
        listed, wanted = _listed(columns), np.ravel(q).tolist()
        return self._ask(
            "quantiles", {"columns": listed, "q": wanted, "level": level}, spend,
            lambda paid: quantiles(paid, listed, wanted, level),
        )  # fmt: skip

    def histogram(self, column: str, bins: Any = 10, *, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Counts in bins: edges, or a number of equal bins on the declared range."""
        if not isinstance(column, str):
            raise InputError("histogram takes the name of one column; study.table counts combinations.")
        (expression,) = self._expressions([column])
        if not hasattr(bins, "__iter__"):
            ends = expression.range
            edges = np.linspace(ends.low, ends.high, whole_number("bins", bins) + 1).tolist()
        else:
            edges = list(bins)
        return self._ask(
            "histogram", {"column": column, "bins": edges, "level": level}, spend,
            lambda paid: stats.histogram(paid.rows(columns_of([expression])), {column: edges}, level=level, **paid.sums()),
        )  # fmt: skip

    def table(self, *columns: str, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Counts of all combinations of levels."""
        if not columns or not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
            raise InputError("table needs a column, or up to four different ones: study.table('sex', 'region').")
        axes = {name: levels_of(name, self.book) for name in columns}
        return self._ask(
            "table", {"columns": list(columns), "level": level}, spend, lambda paid: table(paid, axes, level)
        )

    def ols(self, formula: str, **spend: Unpack[Spend]) -> Fit:
        """Least squares, with robust standard errors that count the privacy noise."""
        return self._fit("ols", formula, spend)

    def logit(self, formula: str, **spend: Unpack[Spend]) -> Fit:
        """Logistic regression of a Category, a Flag or a comparison."""
        return self._fit("logit", formula, spend)

    def smooth(self, formula: str, **spend: Unpack[Spend]) -> Fit:
        """Smooth functions, added up: "wage ~ s(age) + sex"."""
        return self._fit("smooth", formula, spend)

    def score(self, fit: Any, scoring: str, *, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """A score of one of this study's models on its rows, which flatters it a little; ``where`` may name others."""
        if not isinstance(fit, Fit):
            raise InputError("score takes what ols, logit or smooth returned; eptr.stats.score takes other models.")
        self._buy(self._private_names(fit.formula))
        for name in Layout(fit.book, fit.model.x, fit.model.y).columns:
            if self.book[name] != fit.book[name]:
                raise InputError(f"score takes models of this study: the codebook of this one has another {name!r}.")
        arguments = {"model": hashlib.sha256(fit.to_json().encode()).hexdigest(), "scoring": scoring, "level": level}
        y = fit.model.y
        y_range = None if isinstance(y, Labelled) else (y.range.low, y.range.high)
        return self._ask(
            "score", arguments, spend,
            lambda paid: stats.score(
                fit.estimator, paid.rows(fit.model.x, y), None, scoring=scoring, y_range=y_range, level=level, **paid.sums()
            ),
            fit.formula,
        )  # fmt: skip

    def plan(
        self,
        formula: str,
        *,
        width: Any = None,
        spread: Any = None,
        level: float = 0.95,
        **spend: Unpack[Spend],
    ) -> Forecast:
        """Widths of the intervals of ``ols``, from simulated rows and public numbers; needs no row and costs nothing.

        ``width``: a wish, for every term or by term; the plan then says which epsilon would buy it. ``spread``: the standard
        deviation around the model that you expect, an eighth of the outcome's range if nothing is said; or by name, of the
        outcome and of numbers on the right side, a sixth of their range if nothing is said. Rows of one person are taken to
        say the same: unlike ones have narrower intervals.
        """
        share = self._share(spend)
        settings = {"neighbours": self.unit.relation, "rows_per_person": self.unit.rows}
        asked = model("ols", formula, self.book)
        return forecast(asked, self.data.n, self.journal, share, width, spread, level, settings)

    def statement(self, voice: str = "methods") -> str:
        """What a reader may rely on, all analyses together; for a "methods" section, "ethics" boards, or the "people" in it."""
        return Publication(self.journal).statement(voice)

    def report(self, path: Any) -> Path:
        """Results, ledger, codebook and statement on one HTML page that works offline and that ``eptr verify`` checks."""
        return Publication(self.journal).write(path)

    def registry_yaml(self, **known: Any) -> str:
        """An entry for the public registry of deployments: name, curators, description, intended_use, region, authors, ..."""
        return Publication(self.journal).registry_yaml(**known)

    def _fit(self, method: str, formula: str, spend: Spend) -> Fit:
        if not isinstance(formula, str):
            raise InputError("formula must be text such as 'wage ~ age + sex', with one ~.")

        def work(paid: Paid) -> Fit:
            asked = model(method, formula, self.book)
            estimator = asked.make(**paid.sums())
            estimator.fit(paid.rows(asked.x, asked.y))
            estimator.set_params(ledger=None, random_state=None)
            return Fit(method, formula, self.book, estimator)

        self._buy(self._private_names(formula))
        model(method, formula, self.book)  # what is wrong with it is said before anything is looked up
        return self._ask(method, {"formula": formula}, spend, work)

    def _ask(
        self, method: str, arguments: dict[str, Any], spend: Spend, work: Callable[[Paid], Result], about: str = ""
    ) -> Result:
        """The stored result of the same call, or a new one that is paid for; ``about``: names columns, too."""
        where, again = spend.get("where"), bool(spend.get("again", False))
        about = f"{where or ''} {about} {json.dumps(arguments, default=str, ensure_ascii=False)}"
        self._buy(self._private_names(about))
        condition = None if where is None else self._condition(where)
        asked = {key: spend[key] for key in ("share", "epsilon") if key in spend}  # type: ignore[literal-required]
        content = json.dumps([method, arguments, where, asked, self.settings], sort_keys=True, default=str)
        key = hashlib.sha256(content.encode()).hexdigest()
        if not again and (stored := self.journal.stored(key)) is not None:
            return restored(stored)  # type: ignore[no-any-return]
        share = self.journal.affordable(self._share(spend))
        text = f"{method} {_told(arguments)}{f' where {where}' if where else ''}"
        call = self.journal.call(key, text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotPrivateWarning)  # said once, when the study began
            warnings.simplefilter("ignore", SettingsWarning)
            result = work(Paid(self, call, share, condition))
        bought = {
            f"range of {name}, by an analysis of its own": self._bought[name] for name in _named(self._bought, about)
        }
        # How the number of rows of one person is kept to what was said; empty if it is not.
        kept = "" if self.person is None else enforced(self.person, self.unit.rows, self.protects)
        result = signed(result, text, self.protects, kept, bought)
        self.journal.ledger.deliver(call.name, storable(result), text)
        return result

    def _share(self, spend: Spend) -> float:
        unknown = set(spend) - set(Spend.__annotations__)
        if unknown:
            raise InputError(
                f"{sorted(unknown)[0]} is not an argument; every analysis takes share, epsilon, where and again."
            )
        if "share" in spend and "epsilon" in spend:
            raise InputError("share and epsilon say the same thing twice: pass one of them.")
        if "epsilon" in spend:
            return self.journal.share_of(positive("epsilon", spend["epsilon"]))
        share = positive("share", spend.get("share", 1.0 / self.analyses))
        if share > 1.0:
            raise InputError(f"share must be at most 1, the whole budget, got {share:g}.")
        return share

    def _condition(self, where: Any) -> Expression:
        found = parse(where, self.book) if isinstance(where, str) else None
        if found is None or not (found.truth or is_flag(found, self.book)):
            raise InputError("where must be a condition such as \"age >= 65 and sex == 'F'\".")
        return found

    def _names(self, columns: Any) -> list[str]:
        if columns is None:
            return [name for name, kind in self.book.columns.items() if not kind.blank and kind.kind != "text"]
        names = _listed(columns)
        for name in names:
            self.book.usable(name)
        return names

    def _expressions(self, columns: list[str]) -> list[Expression]:
        self._buy(self._private_names(" ".join(columns)))
        return [replace(parse(f"`{c}`" if c in self.book else c, self.book), text=c) for c in columns]

    def _levels(self, by: str | None) -> Labelled | None:
        if by is None:
            return None
        levels = levels_of(by, self.book)
        return Labelled.of(levels, levels.called)

    def _private_names(self, text: str) -> list[str]:
        """Columns named in a text whose ranges are to be bought."""
        private = [name for name, kind in self.book.columns.items() if isinstance(kind, Number) and kind.private]
        return _named(private, text)

    def _buy(self, names: list[str]) -> None:
        """Ranges that were declared private: once, at the price that the codebook states."""
        for name in names:
            kind = self.book[name]
            assert isinstance(kind, Number)
            declared, self.book = self.book, self.book.replaced(name, replace(kind, low=-_ANYTHING, high=_ANYTHING))
            try:
                low, high = self._ask(
                    "range", {"column": name}, {"share": kind.price}, partial(private_range, name=name)
                )
                declared, self._bought[name] = declared.replaced(name, replace(kind, low=low, high=high)), (low, high)
            finally:
                self.book = declared


def _named(columns: Iterable[str], text: str) -> list[str]:
    return [name for name in columns if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def _listed(columns: Any) -> list[str]:
    found = [columns] if isinstance(columns, str) else list(columns) if hasattr(columns, "__iter__") else []
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) != len(found):
        raise InputError("columns must be a name, or a list of different names, of columns in the codebook.")
    return found


def _told(arguments: dict[str, Any]) -> str:
    shown = [(key, v) for key, v in arguments.items() if key not in ("level", "model") and v is not None]
    texts = ((key, ", ".join(map(str, v)) if isinstance(v, list) else str(v)) for key, v in shown)
    return " ".join(f"by {text}" if key == "by" else text for key, text in texts)
