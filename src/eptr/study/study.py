"""A study: data, a codebook and one budget, of which every analysis takes a share of mu^2."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from .. import stats
from ..accounting.ledger import Ledger
from ..codebook import Codebook
from ..errors import InputError, whole_number
from ..stats.estimate import Estimate
from .analyses import QUARTILES, describe, quantiles, table
from .asking import Asking, Spend, names_in
from .forecast import Forecast, forecast
from .journal import Journal
from .layout import Labelled, Layout
from .models import model
from .publication import Publication
from .result import Description, Fit
from .terms import columns_of, levels_of

__all__ = ["Study"]


class Study(Asking):
    """One dataset, one codebook, one budget.

    Rows with a missing or undeclared value where an analysis needs one are dropped, inside the guarantee.

    Parameters
    ----------
    data : data frame, dict of columns, path of a CSV (.gz) or Parquet file, table of a database, or of Arrow, Dask or Spark
        The rows; ``"sqlite:///people.db#people"`` and ``"postgresql:///?service=study#people"`` are tables.
    book : Codebook, or the path of its .toml file
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

    def __reduce__(self) -> Any:
        raise InputError(
            "a study holds the rows, so it is not pickled or copied; pass ledger=, and Study.open(ledger, data)."
        )

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
        """Means of columns, or of expressions such as "log(wage)"; of rows that have all. Dates: days since 1970-01-01."""
        return self._by_group("mean", stats.mean, columns, by, level, spend)

    def variance(self, columns: Any, *, by: str | None = None, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Variances of columns or expressions; of rows that have all of them."""
        return self._by_group("variance", stats.variance, columns, by, level, spend)

    def std(self, columns: Any, *, by: str | None = None, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Standard deviations of columns or expressions; of rows that have all of them."""
        return self._by_group("std", stats.std, columns, by, level, spend)

    def _by_group(
        self, what: str, statistic: Callable[..., Estimate], columns: Any, by: str | None, level: float, spend: Spend
    ) -> Estimate:
        listed, groups = names_in(columns), self._levels(by)
        return self._ask(
            what, {"columns": listed, "by": by, "level": level}, spend,
            lambda paid: statistic(
                *paid.numbers(listed, groups), by=by, levels=groups and groups.levels[0].called, level=level, **paid.sums()
            ),
        )  # fmt: skip

    def covariance(self, columns: Any, *, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """The covariance matrix of two or more columns."""
        return self._matrix("covariance", stats.covariance, columns, level, spend)

    def correlation(self, columns: Any, *, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """The correlation matrix of two or more columns."""
        return self._matrix("correlation", stats.correlation, columns, level, spend)

    def _matrix(
        self, what: str, statistic: Callable[..., Estimate], columns: Any, level: float, spend: Spend
    ) -> Estimate:
        listed = names_in(columns)
        if len(listed) < 2:
            raise InputError(f"{what} needs two columns or more.")
        return self._ask(
            what, {"columns": listed, "level": level}, spend,
            lambda paid: statistic(*paid.numbers(listed), level=level, **paid.sums()),
        )  # fmt: skip

    def median(self, columns: Any, *, level: float | None = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Medians of columns: their quantiles at 0.5."""
        return self.quantiles(columns, [0.5], level=level, **spend)

    def quantiles(
        self, columns: Any, q: Any = QUARTILES, *, level: float | None = 0.95, **spend: Unpack[Spend]
    ) -> Estimate:
        """Quantiles of columns; whole numbers where the codebook says so. Dates: days since 1970-01-01."""
        listed, wanted = names_in(columns), np.ravel(q).tolist()
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

    def table(self, *columns: Any, level: float = 0.95, **spend: Unpack[Spend]) -> Estimate:
        """Counts of all combinations of levels: of columns one by one, or of a list of them."""
        if len(columns) == 1 and isinstance(columns[0], (list, tuple)):
            columns = tuple(columns[0])
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
