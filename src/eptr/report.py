"""The page of one fit to a file: in the units of the data, with its bounds."""

from __future__ import annotations

import html
import math
from dataclasses import replace
from typing import Any

import numpy as np

from .bounds import is_range, stretched
from .files import FileModel, plain
from .page import page
from .panel import FAR, Panel, panel
from .pictures import painted, table_html
from .privacy.voices import rows_counted
from .svg import Line

__all__ = ["render"]

GREY, FEW = "#D9D9D9", " Grey: too few rows to say."


def render(model: FileModel) -> str:
    """A complete page."""
    estimator, kind = model.estimator, model.entrant
    found = panel(estimator, kind.title)
    if estimator.released_:
        make = {"coefficients": _coefficients, "means": _means, "function": _surface, "effects": _effects}[kind.panel]
        found = make(model, found)
    found = replace(
        found, extra=(*(f"<p class='claim bad'>{html.escape(w)}</p>" for w in model.warnings()), *found.extra)
    )
    columns = len(model.bounds.columns)
    counted = rows_counted(replace(found.facts, rows=model.rows))
    note = f"{counted}; {columns} column{'s' if columns > 1 else ''}, strategy “{found.release.strategy}”."
    if found.release.private:
        note += " This page holds released numbers only; it may be published with the model."
    return page([found], f"{kind.title}: {model.target}", note=note, codebook=_bounds(model))


def _coefficients(model: FileModel, found: Panel) -> Panel:
    """Slopes in the units of the data; comparable in the figure as the change over half of a column's range."""
    sampling = {line.name: line.sampling for line in found.lines}
    slopes = [c for c in model.coefficients() if c.determined]
    lines = tuple(Line(c.name, c.value, c.low, c.high, sampling.get(c.name, math.nan)) for c in slopes)
    odds = model.entrant.task == "classification"
    compared = getattr(model.summary, "compared", f"log odds of {model.target}")
    what, changed = ("Log odds", f"the {compared}") if odds else ("Slopes", model.target)
    note = f"{what} per unit of the column; the figure shows the change {FAR}."
    if model.summary is None:
        note = "Slopes per unit of the column, without intervals: strategy “refined” of this version releases them."
    return replace(
        found, lines=lines, factors=tuple(c.reach for c in slopes), extra=(f"<p class='note'>{note}</p>", *found.extra),
        zero=True, axis=f"change of {changed}\n{FAR}", odds=odds,
    )  # fmt: skip


def _means(model: FileModel, found: Panel) -> Panel:
    names, classes, table = model.bounds.names(), model.estimator.classes_, model.table()
    means = model.estimator.means_
    shares = np.array([model.bounds.scaled(row) for row in means]) if model.raw else means

    def paint(axis: Any) -> None:
        image = axis.imshow(shares, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        axis.set_xticks(range(len(names)), [plain(n) for n in names], rotation=30, ha="right")
        axis.set_yticks(range(len(classes)), [plain(str(label)) for label in classes])
        axis.figure.colorbar(image, ax=axis, label="−1: low end, 1: high end")  # noqa: RUF001

    size = 0.5 * len(classes) + 1.8
    picture = painted(paint, "Class means, each column on its declared range.", size)
    return replace(found, extra=(table_html(table, "Shares and means of the classes."), picture))


def _effects(model: FileModel, found: Panel) -> Panel:
    note = f"<p class='note'>Each term with a test of no effect. {html.escape(model.caution())}</p>"
    table = table_html(model.table(), "The terms, and what is not smooth.")
    return replace(found, extra=(table, note, *found.extra))


def _surface(model: FileModel, found: Panel) -> Panel:
    names = list(model.bounds.columns)
    grid = np.linspace(-1.0, 1.0, 101 if len(names) == 1 else 61)
    places = [stretched(grid, *model.bounds.columns[name]) for name in names[:2]]
    if len(names) == 1:
        values = stretched(model.estimator.predict(grid[:, None]), *model.bounds.target)
        grey = model.estimator.too_few(grid[:, None])

        def paint(axis: Any) -> None:
            axis.plot(places[0], np.ma.masked_where(grey, values), color="#D55E00", lw=2)
            axis.fill_between(places[0], *axis.get_ylim(), where=grey, color=GREY, lw=0)
            axis.set(xlabel=plain(names[0]), ylabel=plain(model.target))

        return replace(found, extra=(painted(paint, f"The released function.{FEW}", 3.2),))
    points = np.zeros((len(grid) ** 2, len(names)))
    points[:, 0], points[:, 1] = (m.ravel() for m in np.meshgrid(grid, grid))
    plane = stretched(model.estimator.predict(points), *model.bounds.target)
    values = np.ma.masked_where(model.estimator.too_few(points), plane).reshape(len(grid), len(grid))

    def paint_plane(axis: Any) -> None:
        axis.set_facecolor(GREY)
        image = axis.pcolormesh(*places, values, cmap="viridis", shading="auto", rasterized=True)
        axis.set(xlabel=plain(names[0]), ylabel=plain(names[1]))
        axis.figure.colorbar(image, ax=axis, label=plain(model.target))

    rest = "" if len(names) == 2 else " Other columns are in the middle of their range."
    picture = painted(paint_plane, f"The released function over the first two columns.{rest}{FEW}", 3.8)
    return replace(found, extra=(picture,))


def _bounds(model: FileModel) -> list[tuple[str, str]]:
    bounds = [*model.bounds.columns.items(), (f"{model.target} (target)", model.bounds.target)]
    rows = [(name, f"{b[0]:g} … {b[1]:g}" if is_range(b) else ", ".join(b)) for name, b in bounds]
    if not model.raw and model.entrant.task != "function":
        rows.append(("norm of a scaled row", f"{model.bounds.radius():.4g}; rows beyond it are cut"))
    return [*rows, ("values beyond a range", "are moved to its edge")]
