"""One panel for each term: the effect, its band in two colours, and grey where the rows are too few to say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .axes import Levels
from .effects import effect, grid_of, too_few
from .problem import AdditiveFitted

__all__ = ["draw_term"]

Array = NDArray[np.float64]
CURVE, SAMPLING, PRIVACY, GREY = "#1D2530", "#0072B2", "#D55E00", "#D9D9D9"
POINTS, PIXELS = 201, 61


def draw_term(fitted: AdditiveFitted, term: int, columns: list[str], axis: Any, level: float) -> None:
    """On an axis of matplotlib's; of three columns the last is in the middle of its range."""
    axes, places = fitted.expansion.axes, fitted.terms[term]
    columns = [name.replace("$", r"\$") for name in columns]  # no accidental formulas
    axis.set_xlabel(columns[places[0]])
    first = axes[places[0]]
    if len(places) > 1:
        _surface(fitted, term, columns, axis, level)
    elif isinstance(first, Levels):
        found = effect(fitted, term, first.levels[:, None], level)
        grey, ticks = too_few(fitted, term, first.levels[:, None]), range(len(first.levels))
        spread = np.abs(np.stack([found.low, found.high]) - found.value)
        axis.errorbar(ticks, found.value, spread, fmt="none", ecolor=PRIVACY, capsize=4)
        axis.errorbar(ticks, found.value, np.minimum(found.sampling, spread), fmt="none", ecolor=SAMPLING, elinewidth=5)
        axis.scatter(ticks, found.value, color=np.where(grey, GREY, CURVE), zorder=3)
        axis.set_xticks(ticks, [f"{v:g}" for v in first.levels])
    else:
        x = grid_of(first, POINTS)
        found, grey = effect(fitted, term, x[:, None], level), too_few(fitted, term, x[:, None])
        middle = (found.low + found.high) / 2.0
        inner = np.minimum(found.sampling, (found.high - found.low) / 2.0)
        axis.fill_between(x, found.low, found.high, color=PRIVACY, alpha=0.35, lw=0, label="privacy")
        axis.fill_between(x, middle - inner, middle + inner, color=SAMPLING, alpha=0.8, lw=0, label="sampling")
        axis.plot(x, found.value, color=CURVE, lw=2)
        ends = axis.get_ylim()
        axis.fill_between(
            x, *ends, where=grey, color=GREY, lw=0, zorder=3, label="too few rows" if grey.any() else None
        )
        axis.set_ylim(ends)
        axis.legend(frameon=False, fontsize="small")
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
