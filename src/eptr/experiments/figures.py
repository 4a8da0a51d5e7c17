"""One style for every figure: readable by everybody, error bands, the non-private line, dashes for what is not private."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .design import Experiment

__all__ = ["draw", "read_summary"]

# Okabe and Ito's palette, which survives every common colour blindness. Ours are the warm, thick lines.
_OURS = ("#D55E00", "#E69F00", "#CC79A7", "#A63603", "#FDAE6B")
_PUBLISHED = ("#000000", "#666666")
_RIVALS = ("#0072B2", "#009E73", "#56B4E9", "#8C6D31", "#7B5EA7", "#4D4D4D", "#B2182B")
_MARKERS = "os^Dvp*Xh"
Cells = dict[tuple[str, float], dict[str, float]]


def read_summary(path: Path) -> Cells:
    """Of the error: mean, standard_error, quantiles and release rate by (method, setting)."""
    cells: Cells = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["measure"] == "error":
                numbers = ("replications", "mean", "standard_error", "q10", "median", "q90", "release_rate")
                cells[row["method"], float(row["setting"])] = {k: float(row[k]) for k in numbers}
    return cells


def draw(experiment: Experiment, summary: Path, targets: Sequence[Path]) -> None:
    """Mean error with a band of two standard errors, one line per method; saved as every file of ``targets``."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = read_summary(summary)
    colours = {
        "ours": iter(_OURS),
        "published": iter(_PUBLISHED),
        "rival": iter(_RIVALS),
        "reference": iter(["#999999"] * 5),
    }
    with plt.rc_context(
        {"svg.hashsalt": "eptr", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    ):
        figure, axis = plt.subplots(figsize=(8.2, 4.6), layout="constrained")
        for index, method in enumerate(experiment.methods):
            xs = [x for x in experiment.grid if (method.name, x) in cells]
            if not xs:
                continue
            means = [cells[method.name, x]["mean"] for x in xs]
            errors = [2.0 * cells[method.name, x]["standard_error"] for x in xs]
            colour = next(colours[method.family])
            if method.family == "reference":
                line: dict[str, Any] = {"linestyle": ":" if index else "-", "linewidth": 2.2 if index == 0 else 1.2}
                axis.plot(xs, means, color="#999999" if index else "#222222", label=method.label, zorder=2, **line)
                continue
            style: dict[str, Any] = {
                "linestyle": "-" if method.private else (0, (5, 3)),
                "linewidth": {"ours": 2.4, "published": 1.8}.get(method.family, 1.1),
                "marker": _MARKERS[index % len(_MARKERS)],
                "markersize": 5 if method.family != "rival" else 3.5,
            }
            axis.plot(xs, means, color=colour, label=method.label, zorder=4 if method.family == "ours" else 3, **style)
            low = [max(m - e, m * 0.2) for m, e in zip(means, errors, strict=True)]
            axis.fill_between(
                xs, low, [m + e for m, e in zip(means, errors, strict=True)], color=colour, alpha=0.15, lw=0
            )
        axis.set(xlabel=experiment.setting, ylabel=f"{experiment.measure}, mean ± 2 standard errors")
        axis.set_title(f"{experiment.title}\n({_replications(summary)} replications)", fontsize=11)
        if experiment.log_y:
            axis.set_yscale("log")
        if experiment.log_x:
            axis.set_xscale("log", base=2)
            axis.set_xticks(*_doubling(experiment.grid))
        axis.grid(alpha=0.25)
        figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
        for target in targets:
            # No date inside, so that the same results give the same file.
            metadata: dict[str, Any] = {"CreationDate": None} if target.suffix == ".pdf" else {"Software": None}
            figure.savefig(target, dpi=130, metadata=metadata)
        plt.close(figure)


def _replications(summary: Path) -> str:
    with summary.open(newline="") as file:
        return next(csv.DictReader(file))["replications"]


def _doubling(grid: tuple[float, ...]) -> tuple[list[float], list[str]]:
    ticks = [2.0**k for k in range(-4, 5) if grid[0] * 0.99 <= 2.0**k <= grid[-1] * 1.01]
    return ticks, [f"{t:g}" for t in ticks]
