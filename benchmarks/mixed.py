"""make bench-mixed: tables drawn at random from what columns and outcomes look like; seeded, delta = 1e-6.

A table has one to six columns of ten kinds, ranges that fit or are three times too wide, sometimes two columns that nearly
coincide, an outcome of one of seven kinds, 3,000 to 30,000 rows. Counted: how often a coefficient gets an interval, how often
the fit says that clipping was undone, and how often an interval that claims to be good is wrong about least squares on the
same rows: by 1.96 and by 3 of its standard errors (which allow for sampling too, so both should be rarer than 5 % and .3 %).
"""

from __future__ import annotations

import argparse

import numpy as np

import eptr
from eptr.demo import robust

from .accuracy import _quiet, parallel
from .tables import show

COLUMNS = {
    "normal": (lambda rng, n: rng.normal(50.0, 10.0, n), (0, 100)),
    "uniform": (lambda rng, n: rng.uniform(18.0, 90.0, n), (0, 110)),
    "lognormal": (lambda rng, n: rng.lognormal(10.0, 0.7, n), (0, 300_000)),
    "mostly zeros": (lambda rng, n: np.where(rng.random(n) < 0.15, rng.lognormal(7.0, 1.0, n), 0.0), (0, 100_000)),
    "binary": (lambda rng, n: (rng.random(n) < 0.4).astype(float), (0, 1)),
    "rare": (lambda rng, n: (rng.random(n) < 0.02).astype(float), (0, 1)),
    "heaped": (lambda rng, n: 5.0 * np.round(rng.uniform(18.0, 90.0, n) / 5.0), (0, 110)),
    "Pareto": (lambda rng, n: 10.0 * (1.0 + rng.pareto(3.0, n)), (0, 2000)),
    "year": (lambda rng, n: np.round(rng.normal(1975.0, 14.0, n)), (1900, 2030)),
    "count": (lambda rng, n: rng.poisson(1.5, n).astype(float), (0, 30)),
}
OUTCOMES = {
    "normal": (lambda rng, eta, z: eta + rng.normal(size=len(eta)), (-15, 15)),
    "t3": (lambda rng, eta, z: eta + rng.standard_t(3, len(eta)), (-30, 30)),
    "binary": (lambda rng, eta, z: (rng.random(len(eta)) < 1.0 / (1.0 + np.exp(1.0 - eta))).astype(float), (0, 1)),
    "lognormal": (lambda rng, eta, z: np.exp(0.5 * eta + 0.8 * rng.normal(size=len(eta))), (0, 60)),
    "mostly zeros": (
        lambda rng, eta, z: np.exp(0.5 * eta + 0.8 * rng.normal(size=len(eta))) * (rng.random(len(eta)) < 0.15),
        (0, 60),
    ),
    "growing": (lambda rng, eta, z: eta + np.exp(np.clip(0.5 * z, -2.0, 2.0)) * rng.normal(size=len(eta)), (-30, 30)),
    "far": (lambda rng, eta, z: 500.0 + eta + rng.gamma(2.0, 1.0, len(eta)), (0, 2000)),
}
CELLS = ((3000, 1.0), (3000, 4.0), (10_000, 1.0), (10_000, 4.0), (30_000, 0.5), (30_000, 1.0), (30_000, 4.0))
AGAIN = 0.2  # of the tables: the second column is nearly the first
BENT = 3.0  # log odds and logarithms level off there, as they do in life


def table(rng, n):
    """Columns, their ranges, an outcome and its range."""
    kinds = rng.choice(list(COLUMNS), size=rng.integers(1, 7))
    x, ranges = [], []
    for kind in kinds:
        draw, (low, high) = COLUMNS[kind]
        x.append(np.clip(draw(rng, n), low, high))
        wide = 0.0 if high == 1 else (high - low) * rng.choice([0.0, 0.0, 1.0])
        ranges.append((low - wide, high + wide))
    if len(x) > 1 and rng.random() < AGAIN:
        same = 0.9 * (x[0] - np.mean(x[0])) / np.std(x[0]) * np.std(x[1])
        x[1] = np.clip(np.mean(x[1]) + same + 0.1 * (x[1] - np.mean(x[1])), *ranges[1])
    X = np.column_stack(x)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = BENT * np.tanh(z @ rng.normal(0.0, 0.5, len(kinds)) / BENT)
    draw, y_range = OUTCOMES[rng.choice(list(OUTCOMES))]
    return X, ranges, np.clip(draw(rng, eta, z[:, 0]), *y_range), y_range


def one_run(n, epsilon, seed):
    """Distance from least squares in the interval's standard errors, and which coefficients have one; whether it says good."""
    _quiet()
    X, ranges, y, y_range = table(np.random.default_rng([seed, n]), n)
    fit = eptr.LinearRegression(epsilon, 1e-6, x_range=ranges, y_range=y_range, random_state=seed).fit(X, y)
    beta, _ = robust(X, y)
    low, high = fit.conf_int().T
    told = np.isfinite(high - low)
    return (fit.fitted_.centre - beta)[told] * 3.92 / (high - low)[told], told, fit.corrected_


def judged(runs):
    """Shares: of coefficients that are told; of fits that claim to be good; of their intervals that are wrong by so much."""
    away = np.concatenate([away for away, _, good in runs if good] or [np.zeros(0)])
    told = np.concatenate([told for _, told, _ in runs])
    wrong = [float(np.mean(abs(away) > by)) if len(away) else "" for by in (1.96, 3.0)]
    return [float(told.mean()), float(np.mean([good for *_, good in runs])), len(away), *wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=300)
    count, rows = parser.parse_args().tables, []
    for n, epsilon in CELLS:
        runs = parallel(one_run, [(n, epsilon, seed) for seed in range(count)], f"n={n}, epsilon={epsilon:g}")
        rows.append([n, epsilon, count, *judged(runs)])
    words = ["told", "says that clipping was undone", "intervals of those", "wrong by 1.96", "wrong by 3"]
    show("tables drawn at random", ["n", "epsilon", "tables", *words], rows, "mixed")


if __name__ == "__main__":
    main()
