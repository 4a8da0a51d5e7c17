"""Figures as small pieces of SVG: text that can be read and selected, colours that follow the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

__all__ = ["Line", "forest", "price"]

WIDTH, LABELS, ROW, MARGIN = 720, 200, 24, 16


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


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a drawing has its names, numbers and rows: beside each other, or on a narrow screen on top of each other."""

    width: int
    labels: int
    row: int
    kind: str
    most: int  # letters of a name
    ticks: float


_BROAD = _Frame(WIDTH, LABELS, ROW, "broad", 28, 5.0)
_NARROW = _Frame(360, MARGIN, 44, "narrow", 44, 3.0)


def forest(lines: Sequence[Line], axis: str, caption: str, *, zero: bool = True) -> str:
    """Values with their intervals, one below the other: the thick part is sampling error, the thin one privacy noise."""
    told = "; ".join(_said(line) for line in lines)
    drawn = [_forest(lines, axis, frame, zero) for frame in (_BROAD, _NARROW)]
    return _figure(drawn, caption, told)


def _forest(lines: Sequence[Line], axis: str, frame: _Frame, zero: bool) -> tuple[_Frame, list[str], float]:
    ends = [v for line in lines for v in (line.value, line.low, line.high) if math.isfinite(v)]
    left, right, narrow = frame.labels, frame.width - MARGIN, frame is _NARROW
    scale = _Scale.of([*ends, *([0.0] if zero else [])], left, right)
    bottom = frame.row * len(lines) + 8
    parts = []
    if scale.low <= 0.0 <= scale.high:
        parts.append(_path("zero", scale(0.0), 0, scale(0.0), bottom))
    for row, line in enumerate(lines):
        y = frame.row * row + (36 if narrow else frame.row / 2 + 4)
        name = (left, y - 16, line.name, "start") if narrow else (left - 10, y + 4, line.name, "end")
        parts.append(_label(*name, frame.most))
        if line.known:
            parts.append(_path("privacy", scale(line.low), y, scale(line.high), y))
            parts += [_path("privacy", scale(end), y - 4, scale(end), y + 4) for end in (line.low, line.high)]
        if math.isfinite(line.sampling):
            middle = 0.5 * (line.low + line.high) if line.known else line.value
            reach = min(line.sampling, 0.5 * (line.high - line.low)) if line.known else line.sampling
            parts.append(_path("sampling", scale(middle - reach), y, scale(middle + reach), y))
        parts.append(f"<circle class='point' cx='{scale(line.value):.1f}' cy='{y:.1f}' r='4'/>")
    parts += [_path("axis", left, bottom, right, bottom), *scale.ticks(bottom, frame.ticks)]
    words = [part for text in axis.split("\n") for part in (wrap(text, frame.most) if narrow else [text])]
    middle = (left + right) / 2
    parts += [_label(middle, bottom + 36 + 16 * k, text, "middle") for k, text in enumerate(words)]
    return frame, parts, bottom + 28 + 16 * len(words)


def price(
    curve: Sequence[tuple[float, float]], here: tuple[float, float], floor: float, label: str, caption: str
) -> str:
    """A quantity against epsilon, both on log scales, and the floor that no epsilon goes below."""
    ends = f"from {curve[0][1]:.3g} at epsilon {curve[0][0]:.3g} to {curve[-1][1]:.3g} at {curve[-1][0]:.3g}"
    drawn = [_price(curve, here, floor, label, frame) for frame in (_BROAD, _NARROW)]
    return _figure(drawn, caption, f"{label} {ends}")


def _price(
    curve: Sequence[tuple[float, float]], here: tuple[float, float], floor: float, label: str, frame: _Frame
) -> tuple[_Frame, list[str], float]:
    left, right, top, bottom = 44, frame.width - MARGIN, 28, 210
    across = _Scale.of([math.log10(x) for x, _ in curve], left, right, pad=0.0)
    shown = [y for _, y in curve] + ([floor] if floor > 0.0 else [])
    up = _Scale.of([math.log10(y) for y in shown], bottom, top, pad=0.05)
    points = " ".join(f"{across(math.log10(x)):.1f},{up(math.log10(y)):.1f}" for x, y in curve)
    parts = [f"<polyline class='curve' points='{points}'/>"]
    if floor > 0.0:
        y = up(math.log10(floor))
        parts += [_path("floor", left, y, right, y), _label(left + 8, y - 6, "sampling error alone", "start")]
    x, y = across(math.log10(here[0])), up(math.log10(here[1]))
    parts += [f"<circle class='point' cx='{x:.1f}' cy='{y:.1f}' r='5'/>", _label(x + 9, y - 7, "this result", "start")]
    parts += [_label(across(math.log10(v)), bottom + 18, f"{v:g}", "middle") for v in _decades(across)]
    parts += [_label(left - 8, up(math.log10(v)) + 4, f"{v:g}", "end") for v in _decades(up)]
    parts += [_path("axis", left, bottom, right, bottom), _path("axis", left, top, left, bottom)]
    parts += [_label((left + right) / 2, bottom + 36, "epsilon", "middle"), _label(8, 14, label, "start")]
    return frame, parts, bottom + 44


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

    def ticks(self, bottom: float, most: float) -> list[str]:
        step = _nice((self.high - self.low) / most)
        first = math.ceil(self.low / step)
        values = [k * step for k in range(first, math.floor(self.high / step) + 1)]
        return [_label(self(v), bottom + 18, _tick(v), "middle") for v in values]


def _tick(value: float) -> str:
    """Thousands apart, as far as there is room for them."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.6g}"


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


def _label(x: float, y: float, text: str, anchor: str, most: int = 28) -> str:
    short = text if len(text) <= most or anchor == "middle" else text[: most - 1] + "…"
    title = "" if short == text else f"<title>{escape(text)}</title>"
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{escape(short)}{title}</text>"


def _figure(drawn: Sequence[tuple[_Frame, list[str], float]], caption: str, told: str) -> str:
    """The page shows the drawing that there is room for."""
    label = escape(f"{caption} {told}.")
    drawings = "".join(
        f"<svg class='{frame.kind}' role='img' viewBox='0 0 {frame.width} {height:.0f}' aria-label='{label}'>"
        f"{''.join(parts)}</svg>"
        for frame, parts, height in drawn
    )
    return f"<figure>{drawings}<figcaption>{escape(caption)}</figcaption></figure>"
