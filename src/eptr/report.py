"""The HTML page of a fitted model: one file that works offline, made from the released numbers alone."""

from __future__ import annotations

import html
import io
import math
from typing import Any

import numpy as np

from .files import FileModel, plain
from .privacy.gaussian import gaussian_mu

__all__ = ["render"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2530; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #dde2e8; }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #eef1f4; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption, .note { color: #5b6673; font-size: .9rem; }
.claim { font-size: 1.15rem; background: #f4f7fa; padding: .8rem 1rem; border-left: 4px solid #0072B2; }
.bad { border-color: #D55E00; background: #fdf3ec; }
"""


def render(model: FileModel) -> str:
    """A complete page: what was released, the guarantee, the bounds, the estimate as a figure, and the price of privacy."""
    release = model.estimator.release_
    title = model.entrant.title
    columns = len(model.bounds.columns)
    publish = " This page holds released numbers only; it may be published with the model." if release.private else ""
    pieces = [
        f"<h1>{title}: {html.escape(model.target)}</h1>",
        f"<p class='note'>{model.rows:,} rows, {columns} column{'s' if columns > 1 else ''}, strategy "
        f"“{html.escape(release.strategy)}”.{publish}</p>",
        _guarantee(release),
        *(f"<p class='claim bad'>{html.escape(text)}</p>" for text in model.warnings()),
        "<h2>What was released</h2>",
        *_estimates(model),
        "<h2>Bounds declared beforehand</h2>",
        _bounds(model),
        "<h2>What a smaller epsilon costs</h2>",
        _price(model),
        "<h2>Privacy statement</h2>",
        *(f"<p>{html.escape(p)}</p>" for p in model.estimator.privacy_statement().split("\n\n")),
    ]
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}: {html.escape(model.target)}</title>"
        f"<link rel='icon' href='data:,'><style>{_STYLE}</style></head><body>\n"
        + "\n".join(pieces)
        + "\n</body></html>\n"
    )


def _guarantee(release: Any) -> str:
    if not release.private:
        return "<p class='claim bad'>This fit used a fixed seed. It is reproducible and protects nobody: do not publish it.</p>"
    replaced = "of the same size that differ in one row", "replaced by any other"
    dropped = "that are the same but for one row, which counts in one of them only", "left out"
    apart, changed = replaced if release.neighbours == "replace-one" else dropped
    e, d, factor = f"{release.epsilon:g}", f"{release.delta:g}", math.exp(min(release.epsilon, 700.0))
    return (
        f"<p class='claim'>(ε, δ) = ({e}, {d}): for any two datasets X, X&prime; {apart}, and "
        f"every set B of outcomes, P(M(X) ∈ B) ≤ e<sup>{e}</sup> P(M(X&prime;) ∈ B) + {d}.</p>"
        f"<p>In words: if one person's row were {changed}, the chance of everything written here would change by at "
        f"most a factor {factor:.3g}, up to a chance of {d}.</p>"
    )


def _estimates(model: FileModel) -> list[str]:
    estimator = model.estimator
    if not estimator.released_:
        return [
            "<p class='claim bad'>No reply: the private test did not release this fit. Predictions are the public fallback.</p>"
        ]
    return {"coefficients": _coefficients, "means": _means, "function": _surface}[model.entrant.panel](model)


def _coefficients(model: FileModel) -> list[str]:
    found = model.coefficients()
    known = model.summary is not None
    what = "Log odds" if model.entrant.task == "classification" else "Slopes"
    note = f"{what} per unit of the column. Intervals count sampling error and privacy noise. {model.caution()}"
    if not known:
        note = "Slopes per unit of the column, without intervals: strategy “refined” of this version releases them."
    slopes = [c for c in found if c.reach and c.determined]
    names = [c.name for c in slopes]

    def paint(axis: Any) -> None:
        places = np.arange(len(names))[::-1]
        middle = np.array([c.value * c.reach for c in slopes])
        spread = np.array([0.5 * (c.high - c.low) * c.reach if known else 0.0 for c in slopes])
        axis.errorbar(middle, places, xerr=spread, fmt="o", color="#D55E00", capsize=3 if known else 0)
        axis.axvline(0.0, color="#999999", lw=1)
        axis.set_yticks(places, [plain(n) for n in names])
        axis.set_ylim(-0.6, len(names) - 0.4)
        changed = plain(model.target) if what == "Slopes" else f"the log odds of {plain(model.target)}"
        axis.set_xlabel(f"change of {changed} over half of the column's range")

    caption = "Coefficients, comparable across columns" + (", with 95 % intervals." if known else ".")
    figure = [_figure(paint, caption, 0.4 * len(names) + 1.2)] if slopes else []
    return [_table(model.table()), f"<p class='note'>{note}</p>", *figure]


def _means(model: FileModel) -> list[str]:
    names, classes, table = model.bounds.names(), model.estimator.classes_, model.table()

    def paint(axis: Any) -> None:
        image = axis.imshow(model.estimator.means_, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        axis.set_xticks(range(len(names)), [plain(n) for n in names], rotation=30, ha="right")
        axis.set_yticks(range(len(classes)), [plain(str(label)) for label in classes])
        axis.figure.colorbar(image, ax=axis, label="−1: low end, 1: high end")  # noqa: RUF001

    size = 0.5 * len(classes) + 1.8
    return [_table(table), _figure(paint, "Class means, each column on its declared range.", size)]


def _surface(model: FileModel) -> list[str]:
    names = list(model.bounds.columns)
    low, high = model.bounds.target
    grid = np.linspace(-1.0, 1.0, 101 if len(names) == 1 else 61)

    def to_target(values: Any) -> Any:
        return 0.5 * (low + high) + 0.5 * (high - low) * values

    def axis_values(name: str) -> Any:
        a, b = model.bounds.columns[name]
        return 0.5 * (a + b) + 0.5 * (b - a) * grid

    if len(names) == 1:
        values = to_target(model.estimator.predict(grid[:, None]))

        def paint(axis: Any) -> None:
            axis.plot(axis_values(names[0]), values, color="#D55E00", lw=2)
            axis.set(xlabel=plain(names[0]), ylabel=plain(model.target))

        return [_figure(paint, "The released function.", 3.2)]
    points = np.zeros((len(grid) ** 2, len(names)))
    points[:, 0], points[:, 1] = (m.ravel() for m in np.meshgrid(grid, grid))
    values = to_target(model.estimator.predict(points)).reshape(len(grid), len(grid))

    def paint_plane(axis: Any) -> None:
        image = axis.pcolormesh(
            axis_values(names[0]), axis_values(names[1]), values, cmap="viridis", shading="auto", rasterized=True
        )
        axis.set(xlabel=plain(names[0]), ylabel=plain(names[1]))
        axis.figure.colorbar(image, ax=axis, label=plain(model.target))

    rest = "" if len(names) == 2 else " Other columns are in the middle of their range."
    return [_figure(paint_plane, f"The released function over the first two columns.{rest}", 3.8)]


def _bounds(model: FileModel) -> str:
    rows = []
    for name, bound in [*model.bounds.columns.items(), (f"{model.target} (target)", model.bounds.target)]:
        rows.append([name, f"{bound[0]:g} … {bound[1]:g}" if isinstance(bound, tuple) else ", ".join(bound)])
    edge, shorter = (
        "Values beyond a range are moved to its edge.",
        "Values beyond a range and rows beyond the norm are cut.",
    )
    norm = (
        []
        if model.raw or model.entrant.task == "function"
        else [["norm of a scaled row", f"{model.bounds.radius():.4g}"]]
    )
    return _table([["column", "declared"], *rows, *norm]) + f"<p class='note'>{shorter if norm else edge}</p>"


def _price(model: FileModel) -> str:
    """Noise relative to this fit's: 1/mu(epsilon, delta) for Gaussian parts."""
    release = model.estimator.release_
    epsilons = np.geomspace(0.05, 10.0, 60)
    delta = release.delta or 1e-6
    base = 1.0 / gaussian_mu(release.epsilon, delta)
    relative = [1.0 / gaussian_mu(float(e), delta) / base for e in epsilons]

    def paint(axis: Any) -> None:
        axis.loglog(epsilons, relative, color="#0072B2", lw=2)
        axis.plot([release.epsilon], [1.0], "o", color="#D55E00", label="this fit")
        axis.set(xlabel="epsilon", ylabel="noise relative to this fit")
        for ticks in (axis.xaxis, axis.yaxis):
            ticks.set_major_formatter("{x:g}")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)

    halved = (1.0 / gaussian_mu(release.epsilon / 2.0, delta)) / base
    text = (
        f"<p>Half the epsilon would have meant {halved:.2f} times the privacy noise at the same delta; sampling error stays "
        "as it is.</p>"
    )
    return text + _figure(paint, "Privacy noise against epsilon at the same delta.", 2.8)


def _table(lines: list[list[str]]) -> str:
    header, *rows = lines
    head = "".join(f"<th>{html.escape(h)}</th>" for h in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _figure(paint: Any, caption: str, height: float) -> str:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "eptr", "axes.spines.top": False, "axes.spines.right": False}):
        figure, axis = plt.subplots(figsize=(7.2, max(2.0, height)), layout="constrained")
        paint(axis)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        plt.close(figure)
    drawing = text.getvalue()
    return f"<figure>{drawing[drawing.index('<svg') :]}<figcaption>{html.escape(caption)}</figcaption></figure>"
