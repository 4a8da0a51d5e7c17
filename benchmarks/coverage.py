"""make bench-coverage: how often the 95 % intervals of the refined least squares fit hold the truth; seeded."""

from __future__ import annotations

import argparse
import itertools

import numpy as np

import eptr

from .accuracy import _quiet, parallel
from .tables import show


def one_fit(n, epsilon, delta, seed, p=5):
    _quiet()
    rng = np.random.default_rng([seed, n, 21])
    theta = 1 / np.arange(1, p + 1)
    truth = np.append(theta / np.linalg.norm(theta), 0.3)
    X = rng.normal(size=(n, p))
    y = X @ truth[:-1] + truth[-1] + rng.normal(size=n)
    low, high = eptr.LinearRegression(epsilon, delta, 4.0, 4.0, random_state=seed).fit(X, y).conf_int().T
    return float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2000)
    count = parser.parse_args().replications
    rows = []
    for n, epsilon, delta in itertools.product((2000, 8000, 50_000), (0.5, 1.0, 4.0), (1e-2, 1e-6)):
        runs = np.array(
            parallel(one_fit, [(n, epsilon, delta, s) for s in range(count)], f"coverage n={n} epsilon={epsilon}")
        )
        cover, width = runs.mean(axis=0)
        ideal = 2 * 1.96 / np.sqrt(n)
        rows.append(
            [
                n,
                epsilon,
                delta,
                float(cover),
                float(width),
                float(width / ideal),
                "" if 0.93 <= cover <= 0.97 else "outside 93-97 %",
            ]
        )
    show(
        f"95 % intervals, p=5 and an intercept, {count} runs",
        ["n", "epsilon", "delta", "coverage", "width", "width / non-private", "note"],
        rows,
        "coverage",
    )


if __name__ == "__main__":
    main()
