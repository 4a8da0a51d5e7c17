"""One private result as a part of a page: its numbers, a forest plot, and what another epsilon would have meant for them."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from .pictures import pictures, table_html
from .privacy.claim import Release
from .privacy.facts import Facts
from .privacy.gaussian import gaussian_mu
from .svg import Line, forest, price

__all__ = ["FAR", "Panel", "panel", "shown"]

_MOST_BARS, _MOST_LINES = 40, 400
FEW = "Too few rows to say:"
FAR = "over half of a number's range; from one level to another"
_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of epsilon: what it would have meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One result on a page."""

    title: str
    release: Release
    facts: Facts
    lines: tuple[Line, ...] = ()
    undetermined: tuple[str, ...] = ()  # names that the rows are too few for
    level: float = 0.95
    axis: str = ""
    zero: bool = False  # whether the figure should show it
    factors: tuple[float, ...] = ()  # what makes the numbers comparable in the figure, where they are not
    odds: bool = False  # whether they are log odds, whose ratios are told, too
    extra: tuple[str, ...] = ()  # more HTML: tables, figures, notes


def panel(result: Any, title: str = "") -> Panel:
    """Of an Estimate, or a fitted estimator; or of a study's fit, which has an ``estimator`` and names of its own."""
    estimator = getattr(result, "estimator", result)
    facts: Facts = result.facts()
    if hasattr(result, "se_privacy"):
        return _of_estimate(result, title or result.release.strategy, facts)
    drawn = pictures(result) if hasattr(estimator, "plot") and estimator.released_ else ()
    found = Panel(title=title or type(estimator).__name__, release=estimator.release_, facts=facts, extra=drawn)
    table = estimator._table()
    if table is None:
        return found
    if result is not estimator:
        table = result.summary(table.level)
    sampling = getattr(table, "se_sampling", getattr(estimator.fitted_, "se_sampling", None))
    sampling = np.full(len(table.names), np.nan) if sampling is None else _quantile(table.level) * np.ravel(sampling)
    numbers = (np.ravel(table.estimates), *table.intervals.T, sampling)
    every = [Line(str(name), *map(float, row)) for name, *row in zip(table.names, *numbers, strict=True)]
    lines = tuple(line for line in every if line.known)
    undetermined = tuple(line.name for line in every if not line.known)
    found = replace(found, level=table.level, axis="coefficient", zero=True, lines=lines, undetermined=undetermined)
    if result is estimator:
        return found
    reaches = result.reaches()
    changed = f"the {table.compared}" if result.method == "logit" else result.outcome
    factors = tuple(reaches.get(line.name, 0.0) for line in lines)
    return replace(found, factors=factors, axis=f"change of {changed}\n{FAR}", odds=result.method == "logit")


def _of_estimate(estimate: Any, title: str, facts: Facts) -> Panel:
    z = _quantile(estimate.level)
    numbers = (np.ravel(getattr(estimate, name)) for name in ("value", "low", "high", "se_sampling"))
    lines = tuple(
        Line(", ".join(labels) or title, float(v), float(low), float(high), float(z * s))
        for labels, v, low, high, s in zip(estimate.lines(), *numbers, strict=True)
    )
    return Panel(title=title, release=estimate.release, facts=facts, lines=lines, level=estimate.level, axis=title)


def _quantile(level: float) -> float:
    return float(ndtri(0.5 + 0.5 * level))


def shown(p: Panel) -> list[str]:
    """As HTML: numbers, figures, and what another epsilon would have meant for them."""
    pieces = [f"<h2>{html.escape(p.title)}</h2>"]
    if not p.release.replied:
        return [*pieces, "<p class='claim bad'>No reply: the private test did not release this. Predictions are the public "
                "fallback.</p>"]  # fmt: skip
    if p.lines:
        pieces += [_numbers(p), _forest(p)]
    if p.undetermined:
        pieces.append(f"<p class='note'>{FEW} {html.escape(', '.join(p.undetermined))}.</p>")
    pieces += [f"<p class='note'>{html.escape(text)}</p>" for text in p.facts.biases if not text.startswith(FEW)]
    return [*pieces, *p.extra, "<h3>What another epsilon would have meant</h3>", *_price(p)]


def _numbers(p: Panel) -> str:
    known, split = any(line.known for line in p.lines), any(math.isfinite(line.sampling) for line in p.lines)
    tail = 50.0 * (1.0 - p.level) if known else math.nan
    head = [
        "",
        "value",
        *([f"{tail:.3g} %", f"{100 - tail:.4g} %"] if known else []),
        *(["sampling alone"] if split else []),
        *(["odds ratio", *(["its interval"] if known else [])] if p.odds else []),
    ]
    rows = []
    for line in p.lines[:_MOST_LINES]:
        ends = [number(v, 5) if math.isfinite(v) else "" for v in (line.low, line.high)] if known else []
        alone = [f"± {number(line.sampling)}" if math.isfinite(line.sampling) else ""] if split else []
        rows.append([line.name, number(line.value, 5), *ends, *alone, *(_ratios(line, known) if p.odds else [])])
    more = len(p.lines) - _MOST_LINES
    caption = f"{p.level:.0%} intervals count sampling error and privacy noise." if known else "Without intervals."
    return table_html([head, *rows], caption + (f" {more} more lines are not shown." if more > 0 else ""))


def _ratios(line: Line, known: bool) -> list[str]:
    """The odds ratio of a log odds, and its interval."""
    ratio, low, high = (number(math.exp(min(v, 700.0)), 4) for v in (line.value, line.low, line.high))
    return [ratio, *([f"{low} to {high}" if line.known else ""] if known else [])]


def number(value: float, digits: int = 3) -> str:
    """With so many digits that count, and the thousands apart; powers of ten where there are no other ways."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e15 and rounded.is_integer() else f"{rounded:,.{digits + 3}g}"


def _forest(p: Panel) -> str:
    lines = p.lines
    if p.factors:
        lines = tuple(line.scaled(f) for line, f in zip(lines, p.factors, strict=True) if f)
    if not lines:
        return ""
    shown = lines[:_MOST_BARS]
    rest = f" The first {_MOST_BARS} of {len(lines)}." if len(lines) > _MOST_BARS else ""
    known = any(line.known for line in shown)
    split = any(math.isfinite(line.sampling) for line in shown)
    caption = (f"Values with {p.level:.0%} intervals." if known else "Values, without intervals.") + rest
    thin = "with privacy noise and what it may hide" if split else "sampling error and privacy noise"
    thick = "Thick, <span class='sampling'>blue: sampling error alone</span>; " if split else ""
    key = f"<p class='key note'>{thick}{'thin' if split else 'Thin'}, <span class='privacy'>orange: {thin}</span>.</p>"
    return forest(shown, p.axis, caption, zero=p.zero) + (key if known else "")


def _price(p: Panel) -> list[str]:
    """Half widths are sqrt(sampling^2 + privacy^2), and the second goes as 1/mu(epsilon, delta) if all else stays the same."""
    release = p.release
    here = _mu(release, 1.0)
    split = [line for line in p.lines if line.known and math.isfinite(line.sampling) and line.high > line.low]
    noise = {factor: here / _mu(release, factor) for factor in _FACTORS}
    curve = [(release.epsilon * f, here / _mu(release, f)) for f in np.geomspace(0.1, 10.0, 41).tolist()]
    if not split:
        text = (
            f"Half the epsilon would have meant {noise[0.5]:.2f} times the privacy noise at the same delta; sampling error stays "
            "as it is."
        )
        figure = price(curve, (release.epsilon, 1.0), 0.0, "privacy noise", "Privacy noise relative to this result's.")
        return [f"<p>{text}</p>", figure]
    head = ["", *(f"epsilon {release.epsilon * f:.3g}" for f in _FACTORS), "without privacy"]
    rows = [
        [
            line.name,
            *(f"± {number(_half(line, noise[f]))}" for f in _FACTORS),
            f"± {number(min(line.sampling, _half(line, 1.0)))}",
        ]
        for line in split[:_MOST_BARS]
    ]
    caption = "Half widths of these intervals at other budgets, if all else had stayed the same; delta as it is."
    widths = [(epsilon, _typical(split, times)) for epsilon, times in curve]
    figure = price(
        widths, (release.epsilon, 1.0), _typical(split, 0.0), "width of a typical interval", "Width relative to this result's."
    )  # fmt: skip
    return [table_html([head, *rows], caption), figure]


def _mu(release: Release, factor: float) -> float:
    """mu at another epsilon and the same delta; for pure releases noise goes as 1/epsilon."""
    epsilon = release.epsilon * factor
    return gaussian_mu(epsilon, release.delta) if release.delta else epsilon


def _half(line: Line, noise: float) -> float:
    """Half of the interval, with so many times the privacy noise."""
    half = 0.5 * (line.high - line.low)
    sampling = min(line.sampling, half)
    return math.sqrt(sampling**2 + noise**2 * (half**2 - sampling**2))


def _typical(lines: Sequence[Line], noise: float) -> float:
    return float(np.median([_half(line, noise) / _half(line, 1.0) for line in lines]))
