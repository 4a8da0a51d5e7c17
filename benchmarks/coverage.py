"""make bench-coverage: how often the 95 % intervals of the refined least squares fit hold the truth; seeded."""

from __future__ import annotations

import argparse
import itertools

import numpy as np

import eptr

from .accuracy import _quiet, parallel
from .tables import show


def one_fit(design, n, epsilon, delta, seed, p=5):
    """``centred``: unit normal columns. ``off-centre``: range-scaled columns, nearly collinear with the intercept."""
    _quiet()
    rng = np.random.default_rng([seed, n, 21])
    theta = 1 / np.arange(1, p + 1)
    truth = np.append(theta / np.linalg.norm(theta), 0.3)
    X = rng.normal(size=(n, p)) if design == "centred" else np.clip(0.3 * rng.normal(size=(n, p)) - 0.5, -1, 1)
    y = X @ truth[:-1] + truth[-1] + rng.normal(size=n)
    bound = 4.0 if design == "centred" else 1.7
    low, high = eptr.LinearRegression(epsilon, delta, bound, 4.0, random_state=seed).fit(X, y).conf_int().T
    return float(np.mean((low <= truth) & (truth <= high))), float(np.median(high - low))


CELLS = [
    *itertools.product(["centred"], (2000, 8000, 50_000), (0.5, 1.0, 4.0), (1e-2, 1e-6)),
    *itertools.product(["off-centre"], (8000,), (0.5, 1.0, 4.0), (1e-6,)),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--quick", action="store_const", const=40, dest="replications", help="40 replications")
    count = parser.parse_args().replications
    rows = []
    for cell in CELLS:
        runs = np.array(parallel(one_fit, [(*cell, s) for s in range(count)], f"coverage {cell}"))
        cover, width = float(runs[:, 0].mean()), float(np.median(runs[:, 1]))
        ratio = width / (2 * 1.96 / np.sqrt(cell[1])) if cell[0] == "centred" else ""
        rows.append([*cell, cover, width, ratio, "" if 0.93 <= cover <= 0.97 else "outside 93-97 %"])
    show(
        f"95 % intervals, p=5 and an intercept, {count} runs",
        ["design", "n", "epsilon", "delta", "coverage", "median width", "width / non-private", "note"],
        rows,
        "coverage",
    )


if __name__ == "__main__":
    main()
