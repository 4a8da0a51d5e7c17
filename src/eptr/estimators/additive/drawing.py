"""One panel for each term: the effect, its band in two colours, and grey where the rows are too few to say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .axes import Levels
from .effects import effect, grid_of, jumps_of, note, too_few
from .problem import AdditiveFitted

__all__ = ["CLIPPED", "draw_term"]

Array = NDArray[np.float64]
CURVE, SAMPLING, PRIVACY, GREY = "#1D2530", "#0072B2", "#D55E00", "#D9D9D9"
POINTS, PIXELS = 201, 61
CLIPPED = "Too few rows to undo the clipping of large errors:\nif errors are skewed, bands may not keep their level."


def draw_term(fitted: AdditiveFitted, term: int, columns: list[str], axis: Any, level: float) -> None:
    """On an axis of matplotlib's; of three columns the last is in the middle of its range."""
    axes, places = fitted.expansion.axes, fitted.terms[term]
    columns = [name.replace("$", r"\$") for name in columns]  # no accidental formulas
    axis.set_xlabel(columns[places[0]])
    axis.set_title(note(fitted.rough[term], jumps_of(fitted, term)), fontsize="small")
    first = axes[places[0]]
    if len(places) > 1:
        _surface(fitted, term, columns, axis, level)
    elif isinstance(first, Levels):
        found = effect(fitted, term, first.levels[:, None], level)
        grey, ticks = too_few(fitted, term, first.levels[:, None]), range(len(first.levels))
        spread = np.where(grey, np.nan, np.abs(np.stack([found.low, found.high]) - found.value))
        axis.errorbar(ticks, found.value, spread, fmt="none", ecolor=PRIVACY, capsize=4)
        axis.errorbar(ticks, found.value, np.minimum(found.sampling, spread), fmt="none", ecolor=SAMPLING, elinewidth=5)
        axis.scatter(ticks, found.value, color=np.where(grey, GREY, CURVE), zorder=3)
        axis.set_xticks(ticks, [f"{v:g}" for v in first.levels])
    else:
        x = grid_of(first, POINTS)
        found, grey = effect(fitted, term, x[:, None], level), too_few(fitted, term, x[:, None])
        value, low, high = (np.where(grey, np.nan, end) for end in found[:3])
        inner = np.maximum(value - found.sampling, low), np.minimum(value + found.sampling, high)
        axis.fill_between(x, low, high, color=PRIVACY, alpha=0.35, lw=0, label="privacy")
        axis.fill_between(x, *inner, color=SAMPLING, alpha=0.8, lw=0, label="sampling")
        axis.plot(x, value, color=CURVE, lw=2)
        if grey.any():
            side = {"transform": axis.get_xaxis_transform(), "step": "mid", "color": GREY, "lw": 0}
            axis.fill_between(x, 0.0, 1.0, where=grey, label="too few rows", **side)
        axis.legend(fontsize="small")
    if len(places) == 1:
        axis.axhline(0.0, color="#999999", lw=0.8)
        axis.set_ylabel("effect")


def _surface(fitted: AdditiveFitted, term: int, columns: list[str], axis: Any, level: float) -> None:
    axes, places = fitted.expansion.axes, fitted.terms[term]
    x, y = (grid_of(axes[j], PIXELS) for j in places[:2])
    points = np.column_stack([m.ravel() for m in np.meshgrid(x, y)])
    for j in places[2:]:
        points = np.column_stack([points, np.full(len(points), np.mean(grid_of(axes[j], 3)))])
    found = effect(fitted, term, points, level)
    shown = np.ma.masked_where(too_few(fitted, term, points), found.value).reshape(len(y), len(x))
    axis.set_facecolor(GREY)
    image = axis.pcolormesh(x, y, shown, cmap="viridis", shading="auto", rasterized=True)
    axis.set_ylabel(columns[places[1]])
    axis.figure.colorbar(image, ax=axis, label="effect")
