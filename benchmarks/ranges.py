"""make bench-ranges: what ranges that are too wide cost, and columns with long tails; seeded, at (1, 1e-6).

First the quickstart's example: every range is as wide as a careful user would have it, or so many times that around the same
middle. Then ages beside amounts, of which a few rows may hold most. Distances from the non-private value are in its standard
errors, rms over the runs that gave an interval; intervals are judged by the population.
"""

from __future__ import annotations

import argparse

import numpy as np

import eptr
from eptr.demo import robust
from eptr.stats import mean

from .accuracy import _quiet, parallel
from .tables import show

RANGES, TRUTH, MEAN = (
    ((0, 110), (0, 200_000), (-1000, 3000)),
    (200 / 60, 0.01, -200 * 50 / 60),
    float(np.exp(10.5 + 0.5**2 / 2)),
)

WHAT = ("age", "income", "intercept", "mean income")


def wider(low, high, times):
    return (low + high) / 2 - times * (high - low) / 2, (low + high) / 2 + times * (high - low) / 2


def one_run(n, times, seed):
    """Of the slopes of age and income, the intercept and the mean income: distance, whether the interval holds and is one."""
    _quiet()
    rng = np.random.default_rng([seed, n])
    age, income = rng.uniform(20, 80, n), rng.lognormal(10.5, 0.5, n)
    X, y = np.column_stack([age, income]), 200 * (age - 50) / 60 + 0.01 * income + 150 * rng.normal(size=n)
    *x_range, y_range = (wider(*ends, times) for ends in RANGES)
    fit = eptr.LinearRegression(1.0, 1e-6, x_range=x_range, y_range=y_range, random_state=seed).fit(X, y)
    (beta, errors), ends = robust(X, y), fit.conf_int()
    found = [(fit.fitted_.centre[j] - beta[j], errors[j], *(ends[j] - TRUTH[j])) for j in (0, 1, 2)]
    answer = mean(income, x_range[1], epsilon=1.0, random_state=seed)
    found.append((answer.value - income.mean(), income.std() / np.sqrt(n), answer.low - MEAN, answer.high - MEAN))
    return [(away / error, low <= 0 <= high, np.isfinite(high - low)) for away, error, low, high in found]


AMOUNTS = {
    "nine tenths zeros": lambda rng, n: np.where(rng.random(n) < 0.1, rng.lognormal(8.5, 1.0, n), 0.0),
    "lognormal": lambda rng, n: rng.lognormal(8.0, 1.0, n),
    "Pareto": lambda rng, n: 1000.0 * (1.0 + rng.pareto(2.0, n)),
    "half the range": lambda rng, n: rng.uniform(2e4, 7e4, n),
}


def one_tail(kind, n, seed):
    """Of the slopes of age and amount: distance, whether the interval holds and is one."""
    _quiet()
    rng = np.random.default_rng([seed, n, 1])
    age, amount = rng.uniform(20, 80, n), np.minimum(AMOUNTS[kind](rng, n), 1e5)
    X, truth = np.column_stack([age, amount]), (0.03, 2e-4)
    y = 0.03 * (age - 50) + 2e-4 * amount + rng.normal(size=n)
    x_range = [(0, 110), (0, 1e5)]
    fit = eptr.LinearRegression(1.0, 1e-6, x_range=x_range, y_range=(-10, 30), random_state=seed).fit(X, y)
    (beta, errors), ends = robust(X, y), fit.conf_int()
    found = [(fit.fitted_.centre[j] - beta[j], errors[j], *(ends[j] - truth[j])) for j in (0, 1)]
    return [(away / error, low <= 0 <= high, np.isfinite(high - low)) for away, error, low, high in found]


def judged(runs):
    """Distance, and the share of intervals that hold, where there is one; the share of runs that gave one."""
    away, held, told = runs.T
    some = told > 0
    return (
        [float(np.sqrt(np.mean(away[some] ** 2))), float(held[some].mean()), float(told.mean())]
        if some.any()
        else ["", "", 0.0]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    count, rows = parser.parse_args().replications, []
    for n in (5000, 20_000):
        for times in (1, 3, 10, 100):
            tasks = [(n, times, seed) for seed in range(count)]
            runs = np.array(parallel(one_run, tasks, f"n={n}, {times} times too wide"), dtype=float)
            rows.append([n, times, count, *(x for k in range(len(WHAT)) for x in judged(runs[:, k]))])
    words = [f"{what}{part}" for what in WHAT for part in ("", ", held", ", told")]
    title = "ranges that are too wide: distance from the non-private value, intervals that hold, runs that give one"
    show(title, ["n", "times too wide", "runs", *words], rows, "ranges")
    rows = []
    for kind in AMOUNTS:
        for n in (5000, 20_000, 100_000):
            runs = np.array(
                parallel(one_tail, [(kind, n, seed) for seed in range(count)], f"{kind}, n={n}"), dtype=float
            )
            rows.append([kind, n, count, *(x for k in (0, 1) for x in judged(runs[:, k]))])
    words = [f"{what}{part}" for what in ("age", "amount") for part in ("", ", held", ", told")]
    show("columns with long tails", ["amount is", "n", "runs", *words], rows, "long_tails")


if __name__ == "__main__":
    main()
