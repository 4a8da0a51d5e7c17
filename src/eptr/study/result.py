"""What a study answers with: fitted models with names and raw units, and descriptions; all public, all storable."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ..catalogue import from_json
from ..codebook import Codebook
from ..errors import InputError
from ..persistence import decode, encode
from ..privacy.claim import Record, Release
from ..privacy.facts import Facts
from ..privacy.voices import tell
from ..stats.estimate import Estimate
from .layout import Labelled, Layout, open_data
from .models import Model, is_flag, model
from .terms import Column, Levels

__all__ = ["Description", "Fit", "restored", "signed", "storable"]

SCHEMA = "eptr-study/1"
TOO_FEW = "too few rows to say"
LEFT_OUT = (
    "Terms that the rows are too few for were left out: the others are those of the model without them. For powers and\n"
    "interactions, centre the column, I((age - 45)**2), write poly(age, 2), or spend a larger share."
)


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted private model of a formula. What its estimator knows (``release_``, ``coef_``, ...) is known here, too.

    Examples
    --------
    >>> import numpy as np, eptr
    >>> from eptr.codebook import Category, Number
    >>> rng = np.random.default_rng(0)
    >>> people = {"age": rng.integers(18, 80, size=5000), "sex": rng.choice(["F", "M"], size=5000)}
    >>> people["wage"] = 20 + 0.5 * people["age"] + rng.normal(size=5000)
    >>> book = eptr.Codebook({"age": Number(0, 110), "sex": Category(["F", "M"]), "wage": Number(0, 200)})
    >>> fit = eptr.Study(people, book, epsilon=1.0, analyses=1).ols("wage ~ age + sex")
    >>> list(fit.params.index)
    ['Intercept', 'age', 'sex[T.M]']
    >>> bool(abs(fit.params["age"] - 0.5) < 0.05)
    True
    """

    method: str
    formula: str
    book: Codebook
    estimator: Any

    @cached_property
    def model(self) -> Model:
        """The formula, read again."""
        return model(self.method, self.formula, self.book)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "estimator":
            raise AttributeError(name)
        return getattr(self.estimator, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Fit.from_json, (self.to_json(),)

    @property
    def params(self) -> Any:
        """Coefficients by term, as a pandas Series; NaN where the rows are too few to say."""
        return self._series("estimates")

    @property
    def bse(self) -> Any:
        """Standard errors: sampling and privacy noise, and any dependence among the rows of one person."""
        return self._series("errors")

    @property
    def pvalues(self) -> Any:
        """Of the hypothesis that a coefficient is zero."""
        return self._series("p_values")

    def conf_int(self, level: float = 0.95) -> Any:
        """Intervals by term, as a pandas frame."""
        import pandas

        names, found = self._table(level)
        return pandas.DataFrame({"low": found["low"], "high": found["high"]}, index=names)

    def _series(self, name: str) -> Any:
        import pandas

        names, found = self._table(0.95)
        return pandas.Series(found[name], index=names)

    def summary(self, level: float = 0.95) -> Any:
        """The table of the estimator, with the names that the formula gives."""
        table = self.estimator.summary(level)
        names = {f"{f.text}={k}": f"{f.text}[T.{name}]" for f in self.model.levels for k, name in enumerate(f.names)}
        names["(Intercept)"] = "Intercept"
        told: dict[str, Any] = {"names": tuple(names.get(str(name), str(name)) for name in table.names)}
        if self.method == "logit":
            told |= {"classes": tuple(map(str, self.words)), "outcome": self.outcome}
        return replace(table, **told)

    @property
    def outcome(self) -> str:
        """The left side of the formula."""
        return self.formula.partition("~")[0].strip()

    @property
    def words(self) -> list[Any]:
        """Of a classifier: its classes, those of a Flag as the codebook writes them."""
        of = self.model.y.levels[0].of if isinstance(self.model.y, Labelled) else None
        if of is not None and is_flag(of, self.book):
            kind = self.book.usable(of.columns[0])
            return [kind.no, kind.yes]
        found: list[Any] = self.estimator.classes_.tolist()
        return found

    def facts(self) -> Facts:
        """What a reader may rely on."""
        found: Facts = self.estimator._facts(self.summary())
        return found

    def statement(self, voice: str = "methods") -> str:
        """What was promised and how it was kept: for a "methods" section, an "ethics" board, or the "people" in the data."""
        return tell(self.facts(), voice)

    def reaches(self) -> dict[str, float]:
        """By term, half of the column's declared range, and all of it for levels and flags: what makes slopes comparable."""

        def reach(column: Column) -> float:
            levels = all(isinstance(f, Levels) or f.truth or is_flag(f, self.book) for f, _ in column.parts)
            return (1.0 if levels else 0.5) * (column.range.high - column.range.low)

        several = self.words[1:] if self.method == "logit" and len(self.words) > 2 else [None]
        return {
            column.name if word is None else f"{word}: {column.name}": reach(column)
            for word in several
            for column in self.model.x
        }

    def plot(self, **options: Any) -> Any:
        """What the estimator draws of itself, with the names of levels."""
        figure = self.estimator.plot(**options)
        for axis in figure.axes:
            for f in self.model.levels:
                if axis.get_xlabel() == f.text.replace("$", r"\$"):  # no accidental formulas
                    axis.set_xticks(range(len(f.names)), [name.replace("$", r"\$") for name in f.names])
        return figure

    def _table(self, level: float) -> tuple[list[str], dict[str, NDArray[Any]]]:
        """The intercept first, as R and statsmodels have it."""
        table = self.summary(level)
        known = ~np.asarray(table.undetermined)
        values, errors = (np.where(known, v, np.nan) for v in (table.estimates, table.errors))
        low, high = np.where(known[:, None], table.intervals, np.nan).T
        found = {"estimates": values, "errors": errors, "p_values": 2.0 * norm.sf(np.abs(values) / errors)}
        found |= {"low": low, "high": high}
        order = sorted(range(len(known)), key=lambda k: table.names[k] != "Intercept")
        return [table.names[k] for k in order], {key: value[order] for key, value in found.items()}

    def predict(self, table: Any) -> NDArray[Any]:
        """For the rows of any table with the same columns; NaN (or None) where one is missing or not declared. Costs nothing."""
        if self.method != "logit":
            return self._answers(table, self.estimator._predict)
        words, classes = np.array(self.words), self.estimator.classes_
        return self._answers(table, lambda x: words[np.searchsorted(classes, self.estimator._predict(x))])

    def predict_proba(self, table: Any) -> NDArray[Any]:
        """Probabilities of the classes, of a classifier."""
        if not hasattr(self.estimator, "_predict_proba"):
            raise InputError(f"{self.method} predicts numbers, not probabilities; use predict.")
        return self._answers(table, self.estimator._predict_proba)

    def _answers(self, table: Any, function: Callable[[Any], Any]) -> NDArray[Any]:
        data, layout = open_data(table), Layout(self.book, self.model.x)
        for name in layout.columns:
            if name not in data.columns:
                raise InputError(
                    f"{name!r}, which the formula needs, is not among the {len(data.columns)} columns of the table."
                )
        ends = np.array([(column.range.low, column.range.high) for column in self.model.x])
        x = np.clip(data.encoded(layout), *ends.T)  # as in the fit: values beyond a range are moved to its edge
        known = np.all(np.isfinite(x), axis=1)
        some = np.asarray(function(np.ascontiguousarray(np.where(known[:, None], x, 0.0))))
        gap = np.nan if some.dtype.kind == "f" else None
        found = some.astype(float if gap is not None else object)
        found[~known] = gap
        return found

    def to_json(self) -> str:
        """Everything inside is public."""
        content = {"schema": SCHEMA, "method": self.method, "formula": self.formula}
        return json.dumps(content | {"codebook": self.book.to_dict(), "model": json.loads(self.estimator.to_json())})

    @classmethod
    def from_json(cls, text: str) -> Fit:
        """The inverse of :meth:`to_json`."""
        try:
            content = json.loads(text)
            method, formula, book, stored = (content[key] for key in ("method", "formula", "codebook", "model"))
            fine = content["schema"] == SCHEMA
        except (ValueError, KeyError, TypeError):
            fine = False
        if not fine:
            raise InputError("this is not a model that a study wrote.")
        return cls(method, formula, Codebook.from_dict(book), from_json(json.dumps(stored)))

    def lines(self) -> list[list[str]]:
        """The coefficient table as text, a header first; empty for a model without coefficients."""
        if self.method == "smooth":
            return []
        names, found = self._table(0.95)
        keys = ("estimates", "errors", "p_values", "low", "high")
        body = []
        for name, (b, s, p, *ends) in zip(names, zip(*(found[k] for k in keys), strict=True), strict=True):
            tail = "<2e-16" if p < 2e-16 else f"{p:.3g}"
            told = [f"{b:.5g}", f"{s:.5g}", tail, *(f"{end:.5g}" for end in ends)]
            body.append([name, *([TOO_FEW, "", "", "", ""] if math.isnan(b) else told)])
        return [["term", "estimate", "std. error", "p", "2.5 %", "97.5 %"], *body]

    @property
    def compared(self) -> str:
        """Of a classifier: whose log odds the coefficients are."""
        return f", {self.summary().compared}" if self.method == "logit" else ""

    @property
    def caution(self) -> str:
        """That intervals may not keep their level, where the rows are too few to undo the clipping; empty otherwise."""
        table = self.summary()
        return table.caution if table.corrected is False else ""

    def __str__(self) -> str:
        if self.method == "smooth":  # its terms have no single coefficient
            return f"{self.method}: {self.formula}\n{self.summary()}"
        rows = self.lines()
        widths = [max(len(line[j]) for line in rows if line[1] != TOO_FEW or j == 0) for j in range(6)]
        told = [
            "  ".join(
                f"{cell:{'<' if j == 0 else '>'}{w}}" for j, (cell, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in rows
        ]
        release = self.estimator.release_
        note = "" if release.private else " Not private: made with a seed."
        if any(line[1] == TOO_FEW for line in rows):
            told.append(LEFT_OUT)
        if self.caution:
            told.append(self.caution)
        return "\n".join(
            [
                f"{self.method}: {self.formula}{self.compared}",
                *told,
                f"({release.epsilon:.3g}, {release.delta:g})-differentially private.{note}",
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        caption = escape(f"{self.method}: {self.formula}{self.compared}")
        note = f"<p>{escape(self.caution)}</p>" if self.caution else ""
        return _html(self.lines() or self.summary().table(), f"<caption>{caption}</caption>") + note


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """Column by column: mean, spread and quartiles of numbers with the shares missing and beyond the range; counts of levels."""

    columns: dict[str, dict[str, Estimate]]

    def __getitem__(self, name: str) -> dict[str, Estimate]:
        return self.columns[name]

    def to_frame(self) -> Any:
        """One row for each released number."""
        import pandas

        lines = list(self._lines())
        index = pandas.MultiIndex.from_tuples([line[:2] for line in lines], names=["column", "what"])
        return pandas.DataFrame([line[2:] for line in lines], index=index, columns=["value", "low", "high"])

    def _lines(self) -> Iterator[tuple[Any, ...]]:
        for name, parts in self.columns.items():
            for what, estimate in parts.items():
                numbers = (np.ravel(v).tolist() for v in (estimate.value, estimate.low, estimate.high))
                for labels, *found in zip(estimate.lines(), *numbers, strict=True):
                    shown = " ".join(text for text in labels if text != name)
                    yield name, f"{what} {shown}".strip() if what != "count" else shown, *found

    def __str__(self) -> str:
        lines = [f"{a:<18}{b:<22}{v:>12.5g}{low:>12.5g}{high:>12.5g}" for a, b, v, low, high in self._lines()]
        return "\n".join([f"{'column':<18}{'':<22}{'value':>12}{'2.5 %':>12}{'97.5 %':>12}", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = [[a, b, *(f"{v:.5g}" for v in numbers)] for a, b, *numbers in self._lines()]
        return _html([["column", "", "value", "2.5 %", "97.5 %"], *cells])


def _html(lines: list[list[str]], caption: str = "") -> str:
    """A header and its rows."""
    marked = [("th" if row == 0 else "td", line) for row, line in enumerate(lines)]
    rows = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line) for tag, line in marked)
    return f"<table>{caption}<tr>{'</tr><tr>'.join(rows)}</tr></table>"


def storable(result: Any) -> dict[str, Any]:
    """A result as JSON."""
    if isinstance(result, Fit):
        return {"fit": result.to_json()}
    if isinstance(result, Description):
        return {
            "description": [[n, [[k, storable(e)] for k, e in parts.items()]] for n, parts in result.columns.items()]
        }
    if isinstance(result, Estimate):
        return {"estimate": {f.name: encode(getattr(result, f.name)) for f in fields(Estimate)}}
    return {"value": encode(result)}


def restored(content: dict[str, Any]) -> Any:
    """The inverse of :func:`storable`."""
    if "fit" in content:
        return Fit.from_json(content["fit"])
    if "description" in content:
        return Description({n: {k: restored(e) for k, e in parts} for n, parts in content["description"]})
    if "estimate" in content:
        return Estimate(**{name: decode(value) for name, value in content["estimate"].items()})
    return decode(content["value"])


def signed(result: Any, what: str, unit: str, enforced: str, bought: Mapping[str, Any]) -> Any:
    """The same with what was asked on its record, who is protected, how the rows of one are kept to what was said, and what
    was bought before."""

    def sign(release: Release) -> Release:
        record = release.record
        found = record.bought + Record.of("", "", "", {}, bought).bought
        return replace(release, record=replace(record, what=what, unit=unit, enforced=enforced, bought=found))

    if isinstance(result, Fit):
        result.estimator.release_ = sign(result.estimator.release_)
    if isinstance(result, Estimate):
        return replace(result, release=sign(result.release))
    if isinstance(result, Description):
        return Description(
            {
                name: {k: signed(e, f"describe {name}: {k}", unit, enforced, bought) for k, e in parts.items()}
                for name, parts in result.columns.items()
            }
        )
    return result
