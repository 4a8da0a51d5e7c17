"""What a fitted additive model says about its terms: effects with bands, tests, and a table.  Post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from ...errors import probability
from ...privacy.claim import Release
from .axes import EVEN, Levels, Stretched, nearby
from .jumps import jumps
from .problem import AdditiveFitted

__all__ = ["AdditiveSummary", "Effect", "effect", "summarise", "too_few"]

Array = NDArray[np.float64]
FADING = (
    "Bands allow for skewed or heteroscedastic errors, provided that large ones are rare, and for curves with kinks: variation\n"
    "at frequencies above those fitted is included as if it decayed as that of a kink."
)
JUMPS = "A jump, or a bend as steep, is blurred; the band there covers both sides. Smaller jumps may go unnoticed."
ROUGH = "Rough terms: bends too steep for this many rows to resolve privately; near them the band does not hold."
TOO_FEW_ROWS = (
    "Too few rows, or too small an epsilon, to undo the clipping of large errors: if the outcome is skewed, mostly zero,\n"
    "binary or a count, the fit may differ from least squares, and bands may not keep their level."
)


class Effect(NamedTuple):
    """At some points: the effect, its band, and the half width that sampling alone would have."""

    value: Array
    low: Array
    high: Array
    sampling: Array


def effect(fitted: AdditiveFitted, term: int, points: Array, level: float, *, centred: bool = True) -> Effect:
    """The shrunken effect, in a band around the unshrunken one, wide enough to hold both and what is beyond.

    Shrinkage lowers the error but biases, so a band around the shrunken curve would not hold where it was shrunk. Where the rows
    are too few to say the band is everything, and at a jump it is that of both sides.
    """
    found = _pointwise(fitted, term, points, level, centred)
    low, high, span = found.low.copy(), found.high.copy(), 1.0 / fitted.counts[term]
    for jump in jumps_of(fitted, term):
        axis = _axis(fitted, term)
        place = axis.along(jump)
        around = axis.back(place + span * np.linspace(-1.5, 1.5, 13))[:, None]
        both, near = _pointwise(fitted, term, around, level, centred), abs(axis.along(points[:, 0]) - place) <= span
        low[near], high[near] = np.minimum(low[near], np.min(both.low)), np.maximum(high[near], np.max(both.high))
    return found._replace(low=low, high=high)


def _axis(fitted: AdditiveFitted, term: int) -> Any:
    return fitted.expansion.axes[fitted.terms[term][0]]


def jumps_of(fitted: AdditiveFitted, term: int) -> list[float]:
    """Where a rough term of one column jumps."""
    if not fitted.rough[term] or len(fitted.terms[term]) > 1:
        return []
    part, seen = fitted.part(term), fitted.expansion.over_rows(term)
    estimate, variance = fitted.centre[part], fitted.covariance[part, part]
    return jumps(_axis(fitted, term), *seen, estimate, variance, float(fitted.beyond[term]))


def _pointwise(fitted: AdditiveFitted, term: int, points: Array, level: float, centred: bool) -> Effect:
    part, functions = fitted.part(term), fitted.expansion.of_term(term, points)
    places = np.append(np.arange(part.start, part.stop), [] if centred else [len(fitted.coef)]).astype(int)
    functions = functions - fitted.middles[part] if centred else np.column_stack([functions, np.ones(len(functions))])
    shrunken = np.append(fitted.coef, fitted.intercept)[places]
    value, middle = functions @ shrunken, functions @ fitted.centre[places]
    total, privacy = (_variances(functions, m[np.ix_(places, places)]) for m in (fitted.covariance, fitted.privacy))
    total = total + (fitted.offsets[term] if centred else 0.0)
    privacy = privacy + (fitted.offsets[term] if centred else 0.0)
    quantile = float(norm.isf((1.0 - probability("level", level)) / 2.0))
    half = quantile * np.sqrt(total + np.where(too_few(fitted, term, points), math.inf, fitted.beyond[term]))
    sampling = quantile * np.sqrt(np.maximum(total - privacy, 0.0))
    return Effect(value, np.minimum(middle - half, value), np.maximum(middle + half, value), sampling)


def _variances(functions: Array, covariance: Array) -> Array:
    return np.asarray(np.einsum("ij,jk,ik->i", functions, covariance, functions))


def too_few(fitted: AdditiveFitted, term: int, points: Array) -> NDArray[np.bool_]:
    """Where fewer rows than can be told from none lie within reach of one function, on any of the term's columns."""
    found = np.zeros(len(points), dtype=bool)
    expansion = fitted.expansion
    for place, j in enumerate(fitted.terms[term]):
        axis, x = expansion.axes[j], points[:, place]
        if isinstance(axis, Levels):
            level = np.argmin(np.abs(x[:, None] - axis.levels), axis=1)
            found |= (axis.shares[level] * fitted.n_rows < fitted.few) | ~axis.seen[level]
            continue
        cell, density = axis.cell(x), nearby(axis.density)
        most = max(1, *(degree[place] for degree in expansion.degrees[term]))
        few = fitted.n_rows * density[cell] / ((EVEN + (1.0 - EVEN) * density[cell]) * most) < fitted.few
        found |= few | ~axis.seen[cell]
    return found


def grid_of(axis: Levels | Stretched, count: int) -> Array:
    """Points that show all of a column."""
    return axis.levels if isinstance(axis, Levels) else np.linspace(axis.low, axis.high, count)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveSummary:
    """One line for each term; print it. ``names``, ``estimates`` and ``intervals`` are those of the plain coefficients."""

    terms: tuple[str, ...]
    functions: NDArray[np.int64]
    freedom: Array  # effective degrees of freedom: what shrinkage left
    scores: Array
    p_values: Array
    rough: NDArray[np.bool_]
    jumps: tuple[list[float], ...]  # where a rough term of one column has them
    names: tuple[str, ...]
    estimates: Array
    intervals: Array
    se_sampling: Array  # the part of their standard errors that is not privacy noise
    level: float
    residual_scale: float
    n: int
    outside: float
    corrected: bool
    release: Release

    @property
    def errors(self) -> Array:
        """Standard errors of the plain coefficients."""
        return np.asarray(np.ptp(self.intervals, axis=1) / (2.0 * norm.isf(0.5 - 0.5 * self.level)))

    @property
    def undetermined(self) -> NDArray[np.bool_]:
        """Plain coefficients that the rows are too few for."""
        return np.asarray(~np.isfinite(self.intervals).all(axis=1))

    def table(self) -> list[list[str]]:
        """Lines of text, a header first."""
        lines = [["term", "functions", "effective df", "chi-square", "Pr(>chi2)", ""]]
        for name, count, freedom, score, p, note in zip(
            self.terms, self.functions, self.freedom, self.scores, self.p_values, self.notes, strict=True
        ):
            tail = "<2e-16" if p < 2e-16 else f"{p:.3g}"
            lines.append([name, str(count), f"{freedom:.1f}", f"{score:.1f}", tail, note])
        return lines

    def __str__(self) -> str:
        tails, lines = (1 - self.level) / 2, self.table()
        width = max(11, *(len(name) for name in (*self.terms, *self.names)))
        text = ["Private additive model", "", "Terms, each with a test of no effect:"]
        text += [
            f"{line[0]:<{width}}" + "".join(f"{cell:>14}" for cell in line[1:5]) + f"  {line[5]}".rstrip()
            for line in lines
        ]
        text += ["", f"{'Coefficients':<{width + 14}}{tails:>13.1%} {1 - tails:>13.1%}"]
        for name, value, (low, high) in zip(self.names, self.estimates, self.intervals, strict=True):
            told = f"{value:>14.5g}{low:>14.5g}{high:>14.5g}" if high - low < math.inf else "   too few rows to say"
            text.append(f"{name:<{width}}{told}")
        text += [
            "---",
            f"Residual standard error about {self.residual_scale:.4g} on {self.n} rows; "
            f"about {self.outside:.1%} of them beyond the ranges.",
            f"({self.release.epsilon:g}, {self.release.delta:g})-differentially private, {self.release.neighbours} neighbours"
            + ("." if self.release.private else "; SEEDED, NOT PRIVATE."),
            self.caution,
        ]
        return "\n".join(text)

    @property
    def caution(self) -> str:
        """What the table rests on."""
        found = FADING if self.corrected else TOO_FEW_ROWS
        jump = any(self.jumps)
        rough = any(rough and not places for rough, places in zip(self.rough, self.jumps, strict=True))
        return "\n".join([found, *[JUMPS] * jump, *[ROUGH] * rough])

    @property
    def notes(self) -> list[str]:
        """What the bands of each term cannot show."""
        return [note(rough, places) for rough, places in zip(self.rough, self.jumps, strict=True)]

    __repr__ = __str__


def summarise(names: list[str], fitted: AdditiveFitted, level: float, release: Release) -> AdditiveSummary:
    """A Wald test for each term, around its coefficients before they were shrunk; levels against their first one."""
    quantile = float(norm.isf((1.0 - probability("level", level)) / 2.0))
    scores, p_values, freedom, plain = [], [], [], []
    sampling = fitted.covariance - fitted.privacy
    for k, term in enumerate(fitted.terms):
        part = fitted.part(k)
        estimate, variance = fitted.centre[part], fitted.covariance[part, part]
        scores.append(float(estimate @ np.linalg.solve(variance, estimate)))
        p_values.append(float(chi2.sf(scores[-1], len(estimate))))
        freedom.append(float(np.sum(fitted.kept[part])))
        axis = fitted.expansion.axes[term[0]]
        if isinstance(axis, Levels):
            functions = fitted.expansion.of_term(k, axis.levels[:, None])
            against = functions[1:] - functions[0]
            value, error = against @ estimate, np.sqrt(_variances(against, variance))
            alone = np.sqrt(np.maximum(_variances(against, sampling[part, part]), 0.0))
            unknown = too_few(fitted, k, axis.levels[1:, None]) | too_few(fitted, k, axis.levels[:1, None])
            error = np.where(unknown, math.inf, error)
            plain += [
                (f"{names[k]}={level:g}", v, e, s)
                for level, v, e, s in zip(axis.levels[1:], value, error, alone, strict=True)
            ]
    whole, rest = (math.sqrt(max(float(m[-1, -1]), 0.0)) for m in (fitted.covariance, sampling))
    plain.append(("(Intercept)", float(fitted.centre[-1]), whole, rest))
    estimates, errors, alone = (np.array([p[j] for p in plain]) for j in (1, 2, 3))
    intervals = np.column_stack([estimates - quantile * errors, estimates + quantile * errors])
    return AdditiveSummary(
        tuple(names), np.array(fitted.counts), np.array(freedom), np.array(scores), np.array(p_values),
        fitted.rough, tuple(jumps_of(fitted, k) for k in range(len(fitted.terms))), tuple(p[0] for p in plain),
        estimates, intervals, alone, level, fitted.residual_scale, fitted.n_rows, fitted.outside, fitted.corrected, release,
    )  # fmt: skip


def note(rough: bool, places: list[float]) -> str:
    """Of a term in a table or over a panel."""
    return f"jump near {', '.join(f'{x:.3g}' for x in places)}" if places else "rough" if rough else ""


def term_names(fitted: AdditiveFitted, columns: Any) -> list[str]:
    """s(age), s(latitude, longitude), sex."""
    axes = fitted.expansion.axes
    return [
        columns[term[0]] if isinstance(axes[term[0]], Levels) else f"s({', '.join(columns[j] for j in term)})"
        for term in map(tuple, fitted.terms)
    ]
