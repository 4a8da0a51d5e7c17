"""A public model beside private rows: what it says about a block of them, and the budget to ask with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..privacy.spending import Spending
from ..rows.engine import Engine, RowFunction
from ..rows.namespace import on_host, tiled
from .estimate import Estimate
from .mean import Means
from .question import Question

__all__ = ["Losses", "Scored", "Told"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Told:
    """A public model, as it goes to the rows: what it says about a block of them."""

    model: Any
    y_range: tuple[float, float]

    def said(self, x: Array, method: str) -> Array:
        """What a method of the model answers; None for a row that it refuses, as some do large numbers; see score.md."""
        with np.errstate(all="ignore"):
            try:
                return self._asked(x, method)
            except Exception:  # about a value: nobody is told, and other rows stay in a block of the same size
                odd = self._refused(x, method)
                found = self._asked(np.where(odd[:, None], 0.0, x), method).astype(object)
                found[odd] = None
                return found

    def answers(self, columns: int, method: str, classes: int) -> None:
        """A model that cannot answer at all says so here, about a row of zeros, which tells nothing."""
        found = self._asked(np.zeros((1, columns)), method)
        shape, kind = ((1,), "label" if classes else "number") if method == "predict" else ((1, classes), "number")
        if found.shape != shape or (kind == "number" and not np.issubdtype(found.dtype, np.number)):
            raise InputError(f"model must answer {method} with one {kind} per row{' and class' * (len(shape) - 1)}.")

    def _asked(self, x: Array, method: str) -> Array:
        names, rows = getattr(self.model, "feature_names_in_", None), tiled(x)
        found = np.asarray(getattr(self.model, method)(rows if names is None else _frame(rows, names)))
        return found[: len(x)] if found.shape[:1] == (len(rows),) else found

    def _refused(self, x: Array, method: str) -> NDArray[np.bool_]:
        """Which rows, by halves."""
        try:
            self._asked(x, method)
        except Exception:
            half = len(x) // 2
            return (
                np.append(self._refused(x[:half], method), self._refused(x[half:], method))
                if half
                else np.ones(1, bool)
            )
        return np.zeros(len(x), dtype=bool)

    def error(self, x: Array, y: Array) -> Array:
        """y - f(x), both within the public range; a prediction that is no number counts as 0."""
        found = np.nan_to_num(np.asarray(self.said(x, "predict"), dtype=float))
        return np.asarray(np.clip(y, *self.y_range) - np.clip(found, *self.y_range))

    def probabilities(self, x: Array) -> Array:
        """One column per class, in the order of the labels."""
        found = np.nan_to_num(np.asarray(self.said(x, "predict_proba"), dtype=float))
        return np.asarray(np.clip(found, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Scored:
    """What a score asks: rows, a public model and the budget."""

    question: Question
    rows: Engine
    spending: Spending
    told: Told

    def single(self, value: Any, sampling: Any, privacy: Any, noise: float, **ends: Any) -> Estimate:
        value, sampling, privacy = (float(np.ravel(v)[0]) for v in (value, sampling, privacy))
        return self.question.answer(self.spending, value, sampling, privacy, (), noise_scale=noise, **ends)

    def mean(self, top: float, loss: Means, most: float) -> Estimate:
        """``top`` minus a mean of losses between 0 and ``most``, and so are its interval's ends."""
        least, largest = loss.interval(self.question)
        low, value, high = (top - float(np.clip(v, 0.0, most).item()) for v in (largest, loss.value, least))
        return self.single(value, loss.sampling, loss.privacy, loss.noise, low=low, high=high)


class Losses:
    """Rows of which a statistic sees the loss alone: a function of one row and a public model. see score.md"""

    n_features = 1

    def __init__(self, rows: Engine, loss: Callable[[Array, Array], Array]) -> None:
        self.rows, self.loss, self.n, self.each = rows, loss, rows.n, rows.each

    def check(self) -> None:
        self.rows.check()

    def sum(self, fn: RowFunction) -> tuple[Array, ...]:
        loss = self.loss  # which goes to the rows; these do not

        def of_loss(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            return fn(np.asarray(loss(x, y), dtype=float)[:, None], y, keep)

        return self.rows.sum(on_host(of_loss))


def _frame(x: Array, names: Any) -> Any:
    """A block with the names that the model was fitted with, where pandas is there to carry them."""
    try:
        import pandas
    except ModuleNotFoundError:
        return x
    return pandas.DataFrame(x, columns=list(names))
