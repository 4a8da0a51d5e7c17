"""Tables as HTML, and what matplotlib paints as SVG on white paper: the same bytes for the same numbers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

__all__ = ["painted", "pictures", "table_html"]


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

    with plt.rc_context({"svg.hashsalt": "eptr", "axes.spines.top": False, "axes.spines.right": False}):
        figure, axis = plt.subplots(figsize=(7.2, max(2.0, height)), layout="constrained")
        paint(axis)
        return _drawn(figure, caption)


def pictures(estimator: Any) -> tuple[str, ...]:
    """What an estimator draws of itself: axes of matplotlib's, or a figure."""
    import matplotlib

    matplotlib.use("Agg")
    drawn = np.ravel(np.asarray(estimator.plot(), dtype=object))
    figures = dict.fromkeys(getattr(one, "figure", one) for one in drawn)
    return tuple(_drawn(figure, "What was released; grey: too few rows to say.") for figure in figures)


def _drawn(figure: Any, caption: str) -> str:
    """As SVG on white paper, whatever the page; the same bytes for the same numbers."""
    import matplotlib.pyplot as plt

    text = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "eptr"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    drawing = text.getvalue()
    drawing = drawing[drawing.index("<svg") :].replace("<svg", f"<svg role='img' aria-label='{escape(caption)}'", 1)
    return f"<figure><div class='picture'>{drawing}</div><figcaption>{escape(caption)}</figcaption></figure>"
