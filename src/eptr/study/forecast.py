"""What a study's regression will be able to tell, before any row is read: widths of intervals, and what they would cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from ..errors import InputError, positive, probability
from .expression import Expression
from .interval import Interval
from .journal import Journal
from .models import Model
from .terms import Column, Levels

__all__ = ["Forecast", "forecast"]

_LEAST, _MOST = 1e-3, 64.0  # epsilons that are tried
_STEPS = 10


@dataclass(frozen=True, slots=True)
class Forecast:
    """Widths of intervals by term, at the share and epsilon of the plan; ``buys`` is the epsilon that a wish would take."""

    widths: dict[str, float]
    share: float
    epsilon: float
    level: float
    wished: bool = False
    buys: float = math.nan

    def __str__(self) -> str:
        size = max(map(len, self.widths))
        lines = [
            f"{self.share:.1%} of the budget, epsilon {self.epsilon:.3g}; {self.level:.0%} intervals will be about so wide:"
        ]
        for name, width in self.widths.items():
            lines.append(f"  {name:<{size}}  {'too few rows to say' if math.isinf(width) else f'{width:.3g}'}")
        if self.wished:
            found = (
                "no epsilon: more rows would" if math.isinf(self.buys) else f"epsilon {self.buys:.2g} for this analysis"
            )
            lines.append(f"The wished width takes {found}.")
        return "\n".join(lines)

    __repr__ = __str__


def forecast(
    model: Model,
    n: int,
    journal: Journal,
    share: float,
    width: Any,
    spread: Any,
    level: float,
    settings: dict[str, Any],
) -> Forecast:
    """From fits to simulated rows in the declared ranges, with levels of equal sizes and the spreads that are expected."""
    model = replace(model, settings=model.settings | _expected(model, spread))
    names = [column.name for column in model.x] + (["Intercept"] if model.settings["fit_intercept"] else [])
    shares = {j: 1.0 / _sizes(column) for j, column in enumerate(model.x) if _sizes(column) > 1}
    reach = 2.0 * float(norm.isf((1.0 - probability("level", level)) / 2.0))
    wider = np.array(
        [*map(_against_reference, model.x), *([_at_zero(model)] if model.settings["fit_intercept"] else [])]
    )

    def widths(epsilon: float) -> dict[str, float]:
        planned = model.make(epsilon=epsilon, delta=journal.total.delta, **settings)
        errors = wider * planned.plan(n, len(model.x), shares=shares).standard_errors
        return dict(zip(names, (reach * errors).tolist(), strict=True))

    epsilon = journal.epsilon(share)
    found = Forecast(widths(epsilon), share, epsilon, level)
    if width is None:
        return found
    wished = dict.fromkeys(names, positive("width", width)) if not isinstance(width, Mapping) else dict(width)
    if unknown := [name for name in wished if name not in names]:
        raise InputError(
            f"width names {len(unknown)} terms that the formula does not have; its terms are {', '.join(names)}."
        )

    def enough(epsilon: float) -> bool:
        have = widths(epsilon)
        return all(have[name] <= positive("width", wish) for name, wish in wished.items())

    buys = math.inf
    if enough(_MOST):
        low, high = math.log(_LEAST), math.log(_MOST)
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if enough(math.exp(middle)) else (middle, high)
        buys = math.exp(high)
    return replace(found, wished=True, buys=buys)


def _expected(model: Model, spread: Any) -> dict[str, Any]:
    """Ranges of which simulated rows use as much as they are expected to: errors an eighth, numbers a sixth."""
    assert isinstance(model.y, Expression)
    numbers = {column.name: j for j, column in enumerate(model.x) if _sizes(column) == 1}
    told = {} if spread is None else dict(spread) if isinstance(spread, Mapping) else {model.y.text: spread}
    if unknown := [name for name in told if name != model.y.text and name not in numbers]:
        raise InputError(
            f"spread names {len(unknown)} terms that are no numbers of the formula; the outcome is {model.y.text!r}."
        )
    y_range, x_range = model.settings["y_range"], list(model.settings["x_range"])

    def around(ends: Any, reach: float) -> tuple[float, float]:
        return 0.5 * sum(ends) - reach, 0.5 * sum(ends) + reach

    for name, wide in told.items():
        if name == model.y.text:
            y_range = around(y_range, 4.0 * positive("spread", wide))
        else:
            x_range[numbers[name]] = around(x_range[numbers[name]], 3.0 * positive("spread", wide))
    return {"y_range": y_range, "x_range": x_range}


def _at_zero(model: Model) -> float:
    """The same of the intercept: n/s^2 times its variance is 1 + sum of L - 1 with levels that exclude each other, and 1 + the
    number of factors with levels that come and go, beside what numbers far from 0 add to both.
    """
    ends = np.array(model.settings["x_range"], dtype=float).reshape(-1, 2)
    far = sum(
        float(6.0 * (low + high) / 2.0 / (high - low)) ** 2
        for column, (low, high) in zip(model.x, ends, strict=True)
        if _sizes(column) == 1
    )
    sizes = [_sizes(column) for column in model.x if _against_reference(column) > 1.0]
    return math.sqrt((1.0 + len(sizes) + far) / (1.0 + sum(1.0 / (size - 1) for size in sizes) + far))


def _against_reference(column: Column) -> float:
    """Simulated levels come and go by themselves; of L equal ones that exclude each other, one differs from the first by more."""
    sizes = [len(f.names) for f, _ in column.parts if isinstance(f, Levels)]
    return math.sqrt(2.0 - 2.0 / sizes[0]) if len(sizes) == len(column.parts) == 1 else 1.0


def _sizes(column: Column) -> int:
    """How many cells of levels a column of zeros and ones is one of; 1 for numbers."""
    sizes = [
        len(f.names) if isinstance(f, Levels) else 2 if f.range == Interval(0.0, 1.0) else 1 for f, _ in column.parts
    ]
    return math.prod(sizes) if min(sizes) > 1 else 1
