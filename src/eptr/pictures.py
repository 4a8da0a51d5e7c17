"""Tables as HTML, and what matplotlib paints as SVG in the ink of the page: the same bytes for the same numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

__all__ = ["painted", "pictures", "table_html"]

_PAPER = {"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "auto", "legend.facecolor": "none"}
# What must be seen on light and on dark pages: lines and letters, and the grey of "too few rows to say".
_INKS = {
    "#000000": "currentColor", "#1d2530": "currentColor", "#d9d9d9": "rgb(128 128 128 / 30%)", "#0072b2": "var(--sampling)",
    "#d55e00": "var(--privacy)",
}  # fmt: skip


def table_html(lines: Sequence[Sequence[str]], caption: str, *, words: bool = False) -> str:
    """A header and rows; the first cell of each names it."""
    header, *rows = lines
    head = "".join(f"<th scope='col'>{escape(h)}</th>" for h in header)
    body = "".join(
        f"<tr><th scope='row'>{escape(first)}</th>" + "".join(f"<td>{escape(c)}</td>" for c in rest) + "</tr>"
        for first, *rest in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    kind = " class='words'" if words else ""
    return f"<div class='wide'><table{kind}>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def painted(paint: Any, caption: str, height: float) -> str:
    """What ``paint`` does to an axis."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({**_PAPER, "svg.hashsalt": "eptr", "axes.spines.top": False, "axes.spines.right": False}):
        figure, axis = plt.subplots(figsize=(7.2, max(2.0, height)), layout="constrained")
        paint(axis)
        return _drawn(figure, caption)


def pictures(estimator: Any) -> tuple[str, ...]:
    """What an estimator draws of itself: axes of matplotlib's, or a figure."""
    import matplotlib

    matplotlib.use("Agg")
    with matplotlib.rc_context(_PAPER):
        drawn = np.ravel(np.asarray(estimator.plot(), dtype=object))
    figures = dict.fromkeys(getattr(one, "figure", one) for one in drawn)
    return tuple(_drawn(figure, "What was released; grey: too few rows to say.") for figure in figures)


def _drawn(figure: Any, caption: str) -> str:
    """As SVG on the paper of the page, in its ink; the same bytes for the same numbers."""
    import matplotlib.pyplot as plt

    text = io.StringIO()
    with plt.rc_context({**_PAPER, "svg.hashsalt": "eptr"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    drawing = re.sub("|".join(_INKS), lambda found: _INKS[found[0]], text.getvalue())
    drawing = drawing[drawing.index("<svg") :].replace("<svg", f"<svg role='img' aria-label='{escape(caption)}'", 1)
    return f"<figure><div class='picture'>{drawing}</div><figcaption>{escape(caption)}</figcaption></figure>"
