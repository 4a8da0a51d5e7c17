"""Formulas as models: which estimator, its columns and target, and the public settings that follow from the codebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..codebook import Category, Codebook
from ..errors import InputError
from ..estimators.catalogue import OURS
from .expression import Expression, parse
from .formula import Formula, design, outcome_of, read_formula
from .interval import Interval
from .layout import Labelled
from .terms import Column, Levels, columns_of, levels_of

__all__ = ["METHODS", "Model", "is_flag", "model"]


@dataclass(frozen=True, slots=True)
class Model:
    """What a formula asks for."""

    estimator: str
    x: tuple[Column, ...]
    y: Expression | Labelled
    settings: dict[str, Any]
    levels: tuple[Levels, ...] = ()  # of plain terms that an estimator knows as numbers

    def make(self, **settings: Any) -> Any:
        """The estimator, not yet fitted."""
        known = {entrant.estimator.__name__: entrant.estimator for entrant in OURS}
        if self.estimator not in known:
            raise InputError(f"this version of eptr has no {self.estimator}.")
        return known[self.estimator](**self.settings, **settings)


def model(method: str, text: Any, book: Codebook) -> Model:
    """The formula, read and admitted."""
    return METHODS[method](text, book)


def _ols(text: Any, book: Codebook) -> Model:
    formula = read_formula(text, book)
    columns, y = design(formula), _number(formula, book)
    settings = {"x_range": columns.ranges, "y_range": (y.range.low, y.range.high), "fit_intercept": columns.intercept}
    return Model("LinearRegression", columns.columns, y, settings)


def _logit(text: Any, book: Codebook) -> Model:
    formula = read_formula(text, book)
    columns, found = design(formula), outcome_of(formula.outcome, book)
    if isinstance(found, Levels):
        kind = book[found.column]
        named = kind.levels if isinstance(kind, Category) and len(kind.levels) == len(kind.shown) else found.names
        y = Labelled.of(found, names=named)
    elif found.truth or is_flag(found, book):
        y = Labelled.of(Levels(found.text, found.text, ("0", "1"), (0, 1), whole=True, of=found), names=(0, 1))
    else:
        raise InputError(
            f"the outcome of logit must be a Category, a Flag or a comparison, such as I({formula.outcome} > 0); study.ols fits "
            "numbers."
        )
    settings = {"x_range": columns.ranges, "classes": y.classes.tolist(), "fit_intercept": columns.intercept}
    return Model("LogisticRegression", columns.columns, y, settings)


def _smooth(text: Any, book: Codebook) -> Model:
    formula = read_formula(text, book, smooth=True)
    y = _number(formula, book)
    if not formula.smooths:
        raise InputError("the formula of smooth needs a term s(column); study.ols fits straight lines.")
    plain = [f for f in formula.factors if isinstance(f, Levels) or is_flag(f, book)]
    if len(plain) < len(formula.factors) or set(formula.right.split()) & {":", "*", "/", "^", "**", "-", "(", ")"}:
        raise InputError("smooth adds up s(column) and categories: wage ~ s(age) + sex; write s(column) for a number.")
    names = list(dict.fromkeys(name for term in formula.smooths for name in term))
    smooths = [parse(f"`{name}`", book) for name in names]
    codes = [f if isinstance(f, Levels) else levels_of(f.columns[0], book) for f in plain]
    settings = {
        "x_range": [(c.range.low, c.range.high) for c in smooths] + [(0.0, len(f.names) - 1.0) for f in codes],
        "y_range": (y.range.low, y.range.high),
        "terms": [tuple(names.index(name) for name in term) for term in formula.smooths],
        "categories": {len(names) + k: list(range(len(f.names))) for k, f in enumerate(codes)} or None,
    }
    return Model("AdditiveRegressor", columns_of([*smooths, *map(_positions, codes)]), y, settings, tuple(codes))


METHODS: dict[str, Callable[[Any, Codebook], Model]] = {"ols": _ols, "logit": _logit, "smooth": _smooth}


def _number(formula: Formula, book: Codebook) -> Expression:
    found = outcome_of(formula.outcome, book)
    if isinstance(found, Levels):
        raise InputError(
            f"the outcome {found.column!r} is a Category; study.logit fits those, or write I(column == 'level')."
        )
    return found


def is_flag(found: Any, book: Codebook) -> bool:
    """Whether it is a column of yes and no as it stands."""
    return isinstance(found, Expression) and found.plain and book[found.columns[0]].kind == "flag"


def _positions(levels: Levels) -> Expression:
    """Levels as numbers, for estimators that know categories."""
    most = Interval(0.0, len(levels.names) - 1.0)
    return Expression(levels.text, levels.columns, most, False, levels.positions, plain=True)
