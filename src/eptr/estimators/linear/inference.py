"""Standard errors that count both the sample and the privacy noise.  Proof: inference.md."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ...errors import probability
from ...privacy.claim import Release
from ...privacy.facts import Facts
from ...privacy.voices import rows_counted, share_beyond
from .problem import RegressionFitted

__all__ = ["Summary", "summarise", "wald"]

Array = NDArray[np.float64]
Wald = tuple[Array, Array, Array, Array, float, NDArray[np.bool_]]


FADING = (
    "Intervals allow for skewed or heteroscedastic errors and a misspecified model, provided that large errors are rare:\n"
    "what depends on a handful of rows cannot be measured privately (docs/inference.md)."
)
SYMMETRIC = (
    "Errors were declared symmetric: if the outcome is skewed, mostly zero, binary or a count, estimates may differ from\n"
    "least squares."
)
TOO_FEW_ROWS = (
    "Too few rows, or too small an epsilon, to undo the clipping of large errors: if the outcome is skewed, mostly zero,\n"
    "binary or a count, estimates may differ from least squares, and intervals may not keep their level."
)
STANDS_FOR = (
    'A column with "too few rows to say" has hardly entered the fit: columns correlated with it may pick up its effect, as\n'
    "if it had been left out of the model, and their intervals are for such a model."
)


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A coefficient table; print it."""

    names: tuple[str, ...]
    estimates: Array
    errors: Array
    intervals: Array
    p_values: Array
    level: float
    undetermined: NDArray[np.bool_]
    residual_scale: float
    n: int
    outside: float
    corrected: bool
    release: Release

    def __str__(self) -> str:
        width = max(11, *(len(name) for name in self.names))
        lines = [*self.title, "", "Coefficients:", " " * width + "".join(f"{h:>12}" for h in self.heads)]
        for name, b, s, p, (low, high), unknown in zip(
            self.names, self.estimates, self.errors, self.p_values, self.intervals, self.undetermined, strict=True
        ):
            if unknown:
                lines.append(f"{name:<{width}}   too few rows to say")
                continue
            stars = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "." if p < 0.1 else ""
            tail = "<2e-16" if p < 2e-16 else f"{p:.3g}"
            rest = "".join(f"{value:>12.5g}" for value in self.shown(b, low, high))
            lines.append(f"{name:<{width}}{b:>12.5g}{s:>12.4g}{b / s:>12.3f}{tail:>12}{rest} {stars}")
        lines += [
            "---",
            "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1",
            "",
            self.footing,
            "Standard errors are robust and include sampling and privacy noise. "
            f"({self.release.epsilon:g}, {self.release.delta:g})-differentially private, {self.release.neighbours} neighbours"
            + ("." if self.release.private else "; SEEDED, NOT PRIVATE."),
            self.caution,
            *([STANDS_FOR] if 0 < np.sum(self.undetermined) < len(self.undetermined) else []),
        ]
        return "\n".join(lines)

    @property
    def title(self) -> list[str]:
        return ["Private least squares"]

    @property
    def heads(self) -> tuple[str, ...]:
        """Of the columns."""
        tails = (1 - self.level) / 2
        return "Estimate", "Std. Error", "z value", "Pr(>|z|)", f"{tails:.1%}", f"{1 - tails:.1%}"

    def shown(self, estimate: float, low: float, high: float) -> tuple[float, ...]:
        """The last columns of a line."""
        return low, high

    @property
    def footing(self) -> str:
        """What the table was made of."""
        facts = self._facts
        about = f"roughly {self.residual_scale:.2g}" if self.corrected is False else f"about {self.residual_scale:.4g}"
        return f"Residual standard error {about} on {rows_counted(facts)}. Beyond the bounds: {share_beyond(facts)}."

    @property
    def _facts(self) -> Facts:
        """What is public about the table."""
        return replace(self.release.facts(), rows=self.n, outside=self.outside)

    @property
    def caution(self) -> str:
        """What the table rests on."""
        if self.corrected is None:
            return SYMMETRIC
        return FADING if self.corrected else TOO_FEW_ROWS

    __repr__ = __str__


def summarise(names: list[Any], fitted: RegressionFitted, level: float, release: Release) -> Summary:
    """Wald table from released numbers, around the coefficients before they were shrunk."""
    return Summary(
        tuple(map(str, names)), *wald(fitted.centre, fitted.covariance, fitted.undetermined, level),
        fitted.residual_scale, fitted.n_rows, fitted.outside, fitted.corrected, release,
    )  # fmt: skip


def wald(values: Array, covariance: Array, undetermined: NDArray[np.bool_], level: float) -> Wald:
    """Estimates, errors, intervals, p-values, the level and what is not determined, as a table has them."""
    level = probability("level", level)
    errors = np.where(undetermined, np.inf, np.sqrt(np.diag(covariance)))
    half = norm.isf((1.0 - level) / 2.0) * errors
    intervals = np.column_stack([values - half, values + half])
    p_values = 2.0 * norm.sf(np.abs(values) / errors)
    return values, errors, intervals, p_values, level, undetermined
