"""Figures as small pieces of SVG: text that can be read and selected, colours that follow the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Line", "forest", "price"]

WIDTH, LABELS, ROW, MARGIN = 720, 200, 24, 16
_LONGEST = 28


@dataclass(frozen=True, slots=True)
class Line:
    """One released number: its interval, and the half that sampling alone would have; NaN where it is not known."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    sampling: float = math.nan

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.value, self.low, self.high, self.sampling

    @property
    def known(self) -> bool:
        """Whether it has an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def scaled(self, factor: float) -> Line:
        """In other units."""
        return Line(self.name, *(factor * v for v in self.numbers))


def forest(lines: Sequence[Line], axis: str, caption: str, *, zero: bool = True) -> str:
    """Values with their intervals, one below the other: the thick part is sampling error, the thin one privacy noise."""
    ends = [v for line in lines for v in (line.value, line.low, line.high) if math.isfinite(v)]
    scale = _Scale.of([*ends, *([0.0] if zero else [])], LABELS, WIDTH - MARGIN)
    bottom = ROW * len(lines) + 8
    parts = []
    if scale.low <= 0.0 <= scale.high:
        parts.append(_path("zero", scale(0.0), 0, scale(0.0), bottom))
    for row, line in enumerate(lines):
        y = ROW * row + ROW / 2 + 4
        parts.append(_label(LABELS - 10, y + 4, line.name, "end"))
        if line.known:
            parts.append(_path("privacy", scale(line.low), y, scale(line.high), y))
            parts += [_path("privacy", scale(end), y - 4, scale(end), y + 4) for end in (line.low, line.high)]
        if math.isfinite(line.sampling):
            middle = 0.5 * (line.low + line.high) if line.known else line.value
            reach = min(line.sampling, 0.5 * (line.high - line.low)) if line.known else line.sampling
            parts.append(_path("sampling", scale(middle - reach), y, scale(middle + reach), y))
        parts.append(f"<circle class='point' cx='{scale(line.value):.1f}' cy='{y:.1f}' r='4'/>")
    parts += [_path("axis", LABELS, bottom, WIDTH - MARGIN, bottom), *scale.ticks(bottom)]
    parts.append(_label((LABELS + WIDTH - MARGIN) / 2, bottom + 36, axis, "middle"))
    told = "; ".join(_said(line) for line in lines)
    return _figure(parts, bottom + 44, caption, told)


def price(
    curve: Sequence[tuple[float, float]], here: tuple[float, float], floor: float, label: str, caption: str
) -> str:
    """A quantity against epsilon, both on log scales, and the floor that no epsilon goes below."""
    left, top, bottom = 64, 8, 190
    across = _Scale.of([math.log10(x) for x, _ in curve], left, WIDTH - MARGIN, pad=0.0)
    shown = [y for _, y in curve] + ([floor] if floor > 0.0 else [])
    up = _Scale.of([math.log10(y) for y in shown], bottom, top, pad=0.05)
    points = " ".join(f"{across(math.log10(x)):.1f},{up(math.log10(y)):.1f}" for x, y in curve)
    parts = [f"<polyline class='curve' points='{points}'/>"]
    if floor > 0.0:
        y = up(math.log10(floor))
        parts += [
            _path("floor", left, y, WIDTH - MARGIN, y),
            _label(left + 8, y - 6, "sampling error alone", "start"),
        ]
    x, y = across(math.log10(here[0])), up(math.log10(here[1]))
    parts += [f"<circle class='point' cx='{x:.1f}' cy='{y:.1f}' r='5'/>", _label(x + 9, y - 7, "this result", "start")]
    parts += [_label(across(math.log10(v)), bottom + 18, f"{v:g}", "middle") for v in _decades(across)]
    parts += [_label(left - 8, up(math.log10(v)) + 4, f"{v:g}", "end") for v in _decades(up)]
    parts += [_path("axis", left, bottom, WIDTH - MARGIN, bottom), _path("axis", left, top, left, bottom)]
    parts += [_label((left + WIDTH) / 2, bottom + 36, "epsilon", "middle"), _label(left + 8, top + 10, label, "start")]
    ends = f"from {curve[0][1]:.3g} at epsilon {curve[0][0]:.3g} to {curve[-1][1]:.3g} at {curve[-1][0]:.3g}"
    return _figure(parts, bottom + 44, caption, f"{label} {ends}")


@dataclass(frozen=True, slots=True)
class _Scale:
    """A linear map from numbers to places."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, pad: float = 0.04) -> _Scale:
        low, high = min(values), max(values)
        room = pad * (high - low) or (0.0 if high > low else abs(high) or 1.0)
        return cls(low - room, high + room, start, end)

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self, bottom: float) -> list[str]:
        step = _nice((self.high - self.low) / 5.0)
        first = math.ceil(self.low / step)
        values = [k * step for k in range(first, math.floor(self.high / step) + 1)]
        return [_label(self(v), bottom + 18, f"{v:.6g}", "middle") for v in values]


def _nice(step: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= step * (1.0 - 1e-9))


def _decades(scale: _Scale) -> list[float]:
    """1, 2, 5, 10, ... within a log scale; powers of ten alone where these are many."""
    low, high = sorted((scale.low, scale.high))
    steps = (1.0, 2.0, 5.0) if high - low < 2.5 else (1.0,)
    found = [s * 10.0**k for k in range(math.floor(low), math.ceil(high) + 1) for s in steps]
    return [v for v in found if low - 1e-9 <= math.log10(v) <= high + 1e-9]


def _said(line: Line) -> str:
    return f"{line.name} {line.value:.4g}" + (f" ({line.low:.4g} to {line.high:.4g})" if line.known else "")


def _path(kind: str, x0: float, y0: float, x1: float, y1: float) -> str:
    return f"<line class='{kind}' x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}'/>"


def _label(x: float, y: float, text: str, anchor: str) -> str:
    short = text if len(text) <= _LONGEST or anchor == "middle" else text[: _LONGEST - 1] + "…"
    title = "" if short == text else f"<title>{escape(text)}</title>"
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{escape(short)}{title}</text>"


def _figure(parts: Sequence[str], height: float, caption: str, told: str) -> str:
    return (
        f"<figure><svg role='img' viewBox='0 0 {WIDTH} {height:.0f}' aria-label='{escape(f'{caption} {told}.')}'>"
        f"{''.join(parts)}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )
