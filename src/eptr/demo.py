"""The point in one minute: how far a private regression lies from the one that everybody runs, on realistic rows.

``eptr demo`` fits least squares to simulated outcomes (skewed, mostly zero, yes or no, counts) with our default and with
three published methods, all at one guarantee, and writes demo.png and demo.csv. The unit is the standard error that
ordinary least squares has on the same rows: below 1 a distance is lost in the sampling error, above it is another answer.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import EptrWarning
from .estimators.linear import LinearRegression
from .rivals import DPGD, AdaSSP, BoostedAdaSSP

Array = NDArray[np.float64]
Table = dict[str, dict[str, float]]

EPSILON, DELTA, ROWS = 1.0, 1e-6, 30_000
SLOPES = np.array([0.5, -0.3, 0.2])


def _spending(rng: np.random.Generator, eta: Array) -> Array:
    amount = np.exp(0.5 + 0.5 * eta + 0.7 * rng.normal(size=len(eta)))
    return np.asarray(amount * (rng.uniform(size=len(eta)) < 1 / (1 + np.exp(2.6 - eta))))


# What y is, given x'b, and a bound on |y| that a careful user would know.
OUTCOMES: dict[str, tuple[Callable[[np.random.Generator, Array], NDArray[Any]], float]] = {
    "normal errors": (lambda rng, eta: 1 + eta + rng.normal(size=len(eta)), 6.0),
    "yes or no, one in ten": (lambda rng, eta: (rng.uniform(size=len(eta)) < 1 / (1 + np.exp(2.35 - eta))) * 1.0, 1.0),
    "counts, mean .3": (lambda rng, eta: rng.poisson(0.3 * np.exp(eta)) * 1.0, 7.0),
    "incomes (lognormal)": (lambda rng, eta: np.exp(eta + 0.8 * rng.normal(size=len(eta))), 40.0),
    "spending, 92 % zeros": (_spending, 25.0),
}
METHODS = {  # name: colour, marker, label; colours that everybody can tell apart
    "default": ("#009E73", "o", "eptr"),
    "clipped descent": ("#CC79A7", "D", "clipped gradient descent"),
    "BoostedAdaSSP": ("#0072B2", "^", "BoostedAdaSSP"),
    "AdaSSP": ("#D55E00", "s", "AdaSSP"),
}


def robust(X: Array, y: Array) -> tuple[Array, Array]:
    """Ordinary least squares, intercept last, and HC1 standard errors; solved in scaled columns."""
    centre, scale = X.mean(axis=0), X.std(axis=0)
    wide = np.column_stack([(X - centre) / scale, np.ones(len(X))])
    inverse = np.linalg.inv(wide.T @ wide)
    beta = inverse @ (wide.T @ y)
    score = wide * (y - wide @ beta)[:, None]
    covariance = inverse @ (score.T @ score) @ inverse * len(X) / (len(X) - wide.shape[1])
    back = np.diag(np.append(1 / scale, 1.0))
    back[-1, :-1] = -centre / scale
    return back @ beta, np.sqrt(np.diag(back @ covariance @ back.T))


def fits(X: Array, y: Array, y_bound: float, seed: int) -> dict[str, Array]:
    """Slopes and intercept by method: the same rows, bounds and guarantee."""
    p = X.shape[1]
    x_bound = 1.5 * np.sqrt(p)
    given = (EPSILON, DELTA, x_bound, y_bound)
    # Descent is clipped where residuals of a third of the bound, on columns of unit size, rarely are.
    descent: dict[str, Any] = {"steps": 14, "step_size": 0.65, "clip": 0.5 * y_bound * np.sqrt(p + 1)}
    models = {
        "default": LinearRegression(*given, random_state=seed),
        "clipped descent": DPGD(*given, form="clipped", random_state=seed, **descent),
        "BoostedAdaSSP": BoostedAdaSSP(*given, random_state=seed),
        "AdaSSP": AdaSSP(*given, random_state=seed),
    }
    return {name: np.append(m.fit(X, y).coef_, m.intercept_) for name, m in models.items()}


def run(replications: int = 12, rows: int = ROWS) -> Table:
    """Distance from least squares by outcome and method: root mean square over coefficients and replications."""
    table: Table = {}
    for outcome, (draw_y, y_bound) in OUTCOMES.items():
        squares: dict[str, list[float]] = {name: [] for name in METHODS}
        for seed in range(replications):
            rng = np.random.default_rng([seed, *outcome.encode()])
            X = rng.normal(size=(rows, len(SLOPES)))
            y = draw_y(rng, X @ SLOPES)
            beta, errors = robust(X, y)
            for name, found in fits(X, y, y_bound, seed).items():
                squares[name].append(float(np.mean(((found - beta) / errors) ** 2)))
        table[outcome] = {name: float(np.sqrt(np.mean(values))) for name, values in squares.items()}
        print(f"{outcome}: done", file=sys.stderr, flush=True)
    return table


def draw(table: Mapping[str, Mapping[str, float]], path: str, far: float = 60.0, **save: Any) -> None:
    """One line for each outcome, one mark for each method; what lies beyond ``far`` stands at the edge with its number."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 1.6 + 0.33 * len(table)), layout="constrained")
    axis.axvspan(0.01, 1, color="#009E73", alpha=0.08, lw=0)
    for place, distances in enumerate(table.values()):
        axis.plot([min(distances.values()), min(max(distances.values()), far)], [place] * 2, color="0.85", zorder=1)
        for name, (colour, marker, _) in METHODS.items():
            size, height = (8, 4) if name == "default" else (6, 3)
            axis.plot(min(distances[name], far), place, marker, color=colour, ms=size, zorder=height)
        beyond = sorted(d for d in distances.values() if d > far)
        if beyond:
            ends = dict.fromkeys(f"{float(f'{d:.2g}'):,.0f}" for d in (beyond[0], beyond[-1]))
            axis.annotate(" to ".join(ends) + " →", (far * 1.12, place), va="center", fontsize=8)
    for name, (colour, marker, label) in METHODS.items():
        axis.plot([], [], marker, color=colour, ms=8 if name == "default" else 6, label=label)
    axis.set(xscale="log", xlim=(0.3, far * (2.6 if any(max(d.values()) > far for d in table.values()) else 1)))
    figure.supxlabel(
        "distance from ordinary least squares, in its standard errors (smaller is better)\n"
        "shaded: privacy adds less error than sampling does",
        fontsize="medium",
    )
    ticks = [t for t in (0.3, 0.5, 1, 2, 5, 10, 20, 50) if t <= far]
    axis.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axis.set_yticks(range(len(table)), list(table))
    axis.set_ylim(len(table) - 0.4, -0.6)
    axis.minorticks_off()
    axis.grid(axis="x", alpha=0.3)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=len(METHODS), frameon=False)
    figure.savefig(path, dpi=130, **save)
    plt.close(figure)


def main() -> None:
    """Run, print, save."""
    warnings.simplefilter("ignore", EptrWarning)
    table = run()
    print(
        f"Distance from ordinary least squares in its standard errors: {ROWS:,} rows, ({EPSILON:g}, {DELTA:g})-private\n"
    )
    print(f"{'outcome':<24}" + "".join(f"{name:>18}" for name in METHODS))
    with open("demo.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["outcome", *METHODS])
        for outcome, distances in table.items():
            writer.writerow([outcome, *distances.values()])
            print(f"{outcome:<24}" + "".join(f"{distances[name]:>18.2f}" for name in METHODS))
    draw(table, "demo.png", far=20.0)
    print("\nFigure: demo.png    Numbers: demo.csv    (simulated rows, seeded: reproducible, hence not private)")
