"""make bench-quantiles: misclassified points of quantiles, ours and published, on the same rows; coverage; seeded.

A quantile misclassifies as many points as lie between its rank and the one it should have; a value that ties with points
may take any of their ranks. Mean over nine deciles of 1,000 points; all but the first two methods on an eighth of the runs.
--only runs some data sets, --part some tables, and the other rows of a table stay as they are.
"""

from __future__ import annotations

import argparse
import csv
import time

import numpy as np

from eptr import rivals, stats

from .accuracy import _quiet, parallel
from .tables import RESULTS, show

N, EPSILON, DECILES = 1000, 1.0, np.arange(1, 10) / 10
# Name, simulator, public bounds, and a step if values are known to be multiples of it.
DATA = {
    "normal, as published": (lambda rng, n: rng.normal(0, 5, n), (-100, 100), None),
    "uniform, as published": (lambda rng, n: rng.uniform(-5, 5, n), (-100, 100), None),
    "lognormal incomes": (lambda rng, n: rng.lognormal(10, 1, n), (0, 1e7), None),
    "exponential": (lambda rng, n: rng.exponential(1, n), (0, 100), None),
    "Student t, 2 degrees": (lambda rng, n: rng.standard_t(2, n), (-1e4, 1e4), None),
    "Cauchy around 5": (lambda rng, n: 5 + rng.standard_cauchy(n), (-1e6, 1e6), None),
    "incomes in thousands": (lambda rng, n: np.round(rng.lognormal(10, 1, n), -3), (0, 1e7), None),
    "ages": (lambda rng, n: rng.integers(18, 90, n).astype(float), (0, 120), 1),
    "Poisson(3)": (lambda rng, n: rng.poisson(3, n).astype(float), (0, 100), 1),
}

# Where rows that are dropped are compared, too.
BOTH = ("normal, as published", "lognormal incomes", "ages")


def ours(x, q, bounds, step=None, **settings):
    return stats.quantiles(x, q, bounds, step=step, level=None, **settings)


def with_intervals(x, q, bounds, step=None, **settings):
    return stats.quantiles(x, q, bounds, step=step, **settings)


METHODS = {
    "ours": ours,
    "JointExp": rivals.JointExp,
    "ours with intervals": with_intervals,
    "ApproximateQuantiles": rivals.ApproximateQuantiles,
    "OneByOne": rivals.OneByOne,
}


def misclassified(x, found):
    """Mean number of points between a quantile and the rank it should have."""
    ordered, wanted = np.sort(x), DECILES * len(x)
    below, until = (np.searchsorted(ordered, found, side) for side in ("left", "right"))
    return float(np.maximum(0.0, np.maximum(below - wanted, wanted - until)).mean())


def one_run(name, relation, seed, some):
    """Errors of every method on the same rows, or of ``some`` of them."""
    _quiet()
    simulate, bounds, step = DATA[name]
    x, errors = simulate(np.random.default_rng([seed, 15]), N), np.full(len(METHODS), np.nan)
    for k, method in enumerate([*METHODS.values()][:some]):
        steps = {"step": step} if method in (ours, with_intervals) else {}
        # The first two draw with the same bits: they differ by what they are, and little by chance.
        settings = {"epsilon": EPSILON, "neighbours": relation, "random_state": 1000 * max(0, k - 1) + seed} | steps
        errors[k] = misclassified(x, method(x, DECILES, bounds, **settings).value)
    return errors


def compare(name, relation, count):
    """One row of the table."""
    # All but the first two are far off: an eighth of the runs tells as much.
    tasks = [(name, relation, seed, None if seed < count // 8 else 2) for seed in range(count)]
    errors = np.array(parallel(one_run, tasks, f"{name}, {relation}"))
    apart = errors[:, 0] - errors[:, 1]
    return [*np.nanmean(errors, axis=0).tolist(), float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(count))]


def one_interval(name, n, epsilon, truth, seed):
    """Whether intervals hold, and their width over sampling's, level by level."""
    _quiet()
    simulate, bounds, step = DATA[name]
    x = simulate(np.random.default_rng([seed, n]), n)
    found = stats.quantiles(x, DECILES, bounds, epsilon=epsilon, step=step, random_state=seed)
    width = np.hypot(found.se_sampling, found.se_privacy) / np.maximum(found.se_sampling, 1e-300)
    return (found.low <= truth) & (truth <= found.high), width


def coverage(name, n, epsilon, count):
    """Share of intervals that hold the quantile of the population, mean and worst level, and their width over sampling's."""
    truth = np.quantile(DATA[name][0](np.random.default_rng(77), 4_000_000), DECILES, method="inverted_cdf")
    tasks = [(name, n, epsilon, truth, seed) for seed in range(count)]
    held, widths = np.array(parallel(one_interval, tasks, f"coverage, {name}, {n}, {epsilon:g}")).swapaxes(0, 1)
    return [float(held.mean()), float(held.mean(axis=0).min()), float(np.median(widths))]


def kept(name, header, fresh, keys):
    """Rows of an earlier run with the fresh ones in their places."""
    path = RESULTS / f"{name}.csv"
    old = list(csv.reader(path.open(newline="")))[1:] if path.exists() else []
    told = {tuple(map(str, row[:keys])): row for row in [*old, *fresh]}
    return list(told.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=240)
    parser.add_argument("--only", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--relation", nargs="*", default=["replace-one", "zero-out"])
    parser.add_argument("--part", nargs="*", default=["errors", "coverage", "speed"])
    options = parser.parse_args()
    count = options.replications
    if "errors" in options.part:
        header = ["data", "relation", "runs", *METHODS, "ours - JointExp", "standard error"]
        cells = [(name, r) for name in options.only for r in options.relation if r == "replace-one" or name in BOTH]
        rows = [[*cell, count, *compare(*cell, count)] for cell in cells]
        title = f"misclassified points, 9 deciles of {N} points, epsilon {EPSILON:g}, paired runs"
        show(title, header, kept("quantiles", header, rows, 2), "quantiles")
    if "coverage" in options.part:
        header = ["data", "n", "epsilon", "intervals", "coverage", "worst decile", "width / sampling alone"]
        chosen = [name for name in options.only if DATA[name][2] is None and "thousands" not in name]
        cells = [(name, n, e) for name in chosen for n, e in ((1000, 1.0), (10_000, 0.5))]
        rows = [[*cell, len(DECILES) * count, *coverage(*cell, count)] for cell in cells]
        title = "95 % intervals of 9 deciles"
        show(title, header, kept("quantiles_coverage", header, rows, 3), "quantiles_coverage")
    if "speed" in options.part:
        x, times = np.random.default_rng(0).lognormal(10, 1, 1_000_000), []
        for method in (ours, with_intervals):
            start = time.perf_counter()
            method(x, DECILES, (0, 1e7), epsilon=EPSILON)
            times.append([method.__name__.replace("_", " "), time.perf_counter() - start])
        show("9 deciles of 1,000,000 values, exact noise, seconds", ["quantiles", "seconds"], times, "quantiles_speed")


if __name__ == "__main__":
    main()
