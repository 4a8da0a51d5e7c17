"""What a private statistic answers: values with intervals, and the Release that says what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from itertools import product
from typing import Any

import numpy as np

from ..errors import InputError
from ..privacy.claim import Release
from ..privacy.facts import Facts
from ..privacy.voices import tell

__all__ = ["Estimate"]

_NUMBERS = ("value", "low", "high", "se_sampling", "se_privacy")
_MOST_LINES = 30


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Released numbers alone; it may be published.

    Parameters
    ----------
    value, low, high : float or array
        The estimate, and the ends of an interval that holds the truth with probability ``level``, each value by itself.
    level : float
        NaN, as the intervals, if none were asked for.
    se_sampling, se_privacy : float or array
        Standard errors: what the rows are a sample of, and the noise with what it may hide.
    names : tuple of tuples of str
        Labels of every axis of ``value``; empty for a single number.
    release : Release
        The guarantee, and what was charged.
    """

    value: Any
    low: Any
    high: Any
    level: float
    se_sampling: Any
    se_privacy: Any
    names: tuple[tuple[str, ...], ...]
    release: Release

    def __post_init__(self) -> None:
        shape = tuple(map(len, self.names))
        for name in _NUMBERS:
            numbers = np.array(getattr(self, name), dtype=float).reshape(shape)
            numbers.setflags(write=False)
            object.__setattr__(self, name, numbers if shape else float(numbers))

    def lines(self) -> list[tuple[str, ...]]:
        """The labels of every value, in the order of ``np.ravel(value)``."""
        return list(product(*self.names))

    def to_frame(self) -> Any:
        """A pandas data frame, one row for each value."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise InputError("to_frame needs pandas; install it with: pip install pandas.") from None
        index: Any = [self.release.strategy]
        if self.names:
            index = [label[0] for label in self.lines()]
            if len(self.names) > 1:
                index = pandas.MultiIndex.from_tuples(self.lines())
        return pandas.DataFrame({name: np.ravel(getattr(self, name)) for name in _NUMBERS}, index=index)

    def plot(self, ax: Any = None) -> Any:
        """Values and intervals as bars, on ``ax`` or new axes of matplotlib's, which are returned."""
        if ax is None:
            try:
                from matplotlib import pyplot
            except ModuleNotFoundError:
                raise InputError("plot needs matplotlib; install it with: pip install 'eptr[figures]'.") from None
            ax = pyplot.figure().add_subplot()
        value, low, high = (np.ravel(getattr(self, name)) for name in _NUMBERS[:3])
        reach = None if np.isnan(self.level) else np.maximum([value - low, high - value], 0.0)
        ax.bar(range(len(value)), value, yerr=reach, capsize=3, color="0.8", edgecolor="0.3", ecolor="0.3")
        ax.set_xticks(range(len(value)), [", ".join(label) for label in self.lines()], rotation=45, ha="right")
        ax.set_ylabel(self.release.strategy)
        return ax

    def facts(self) -> Facts:
        """What a reader may rely on: the facts of the Release, and how wide the intervals are."""
        widths = np.ravel(np.asarray(self.high) - np.asarray(self.low))
        known = widths[np.isfinite(widths) & (widths > 0.0)]  # what is known beforehand has none: correlations of 1
        if math.isnan(self.level) or not known.size:
            return self.release.facts()
        return replace(self.release.facts(), level=self.level, widths=(float(known.min()), float(known.max())))

    def statement(self, voice: str = "methods") -> str:
        """What was promised and how it was kept: for a "methods" section, an "ethics" board, or the "people" in the data."""
        return tell(self.facts(), voice)

    def __str__(self) -> str:
        labels, numbers = self.lines(), np.array([np.ravel(getattr(self, name)) for name in _NUMBERS]).T.tolist()
        told = [_sentence(k, v, self.level) for k, v in zip(labels[:_MOST_LINES], numbers, strict=False)]
        if len(labels) > _MOST_LINES:
            told.append(f"and {len(labels) - _MOST_LINES} more; to_frame() has them all.")
        note = "" if self.release.private else " Not private: made with a seed."
        return f"{self.release.strategy}{' ' if len(told) == 1 else chr(10)}{chr(10).join(told)}{note}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in ("", *_NUMBERS))
        columns = (np.ravel(getattr(self, name)) for name in _NUMBERS)
        body = "".join(
            f"<tr><th>{escape(', '.join(label))}</th>{''.join(f'<td>{v:.5g}</td>' for v in found)}</tr>"
            for label, *found in zip(self.lines(), *columns, strict=True)
        )
        intervals = "" if math.isnan(self.level) else f", {self.level:.0%} intervals"
        caption = f"{self.release.strategy}{intervals}"
        return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def _sentence(label: tuple[str, ...], numbers: list[float], level: float) -> str:
    value, low, high, sampling, privacy = numbers
    if math.isnan(level):
        return f"{', '.join(label) + ': ' if label else 'is '}{value:.5g}."
    return (
        f"{', '.join(label) + ': ' if label else 'is '}{value:.5g}, {100 * level:.4g} % interval {low:.5g} to {high:.5g} "
        f"(standard error {_two_digits(sampling)} from sampling, {_two_digits(privacy)} from privacy)."
    )


def _two_digits(value: float) -> str:
    """270 and not 2.7e+02."""
    return f"{float(f'{value:.2g}'):g}"
