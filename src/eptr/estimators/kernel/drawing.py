"""A released function as a curve or a map; grey where the rows are too few to say."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError

__all__ = ["draw_function"]

CURVE, GREY = "#D55E00", "#D9D9D9"
POINTS, PIXELS = 101, 61


def draw_function(model: Any, domain: list[tuple[float, float]], names: list[str], ax: Any = None) -> Any:
    """Of a model with ``predict`` and ``too_few``, on ``ax`` or new axes."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError:
            raise InputError("plot needs matplotlib; install it with: pip install 'eptr[figures]'.") from None
        _, ax = pyplot.subplots(layout="constrained")
    count = POINTS if len(domain) == 1 else PIXELS
    grids = [np.linspace(low, high, count) for low, high in domain[:2]]
    shown = [m.ravel() for m in np.meshgrid(*grids)]
    rest = [np.full(len(shown[0]), (low + high) / 2.0) for low, high in domain[2:]]
    points = np.column_stack([*shown, *rest])
    values, grey = model._predict(points), model.too_few(points)
    names = [name.replace("$", r"\$") for name in names]  # no accidental formulas
    ax.set_xlabel(names[0])
    if len(domain) == 1:
        ax.plot(grids[0], np.ma.masked_where(grey, values), color=CURVE, lw=2)
        ax.fill_between(grids[0], *ax.get_ylim(), where=grey, color=GREY, lw=0)
        return ax
    ax.set_facecolor(GREY)
    surface = np.ma.masked_where(grey, values).reshape(count, count)
    image = ax.pcolormesh(*grids, surface, cmap="viridis", shading="auto", rasterized=True)
    ax.figure.colorbar(image, ax=ax)
    ax.set_ylabel(names[1])
    return ax
