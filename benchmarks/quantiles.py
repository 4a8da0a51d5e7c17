"""make bench-quantiles: misclassified points of quantiles, ours and published, on the same rows; coverage; seeded.

A quantile misclassifies as many points as lie between its rank and the one it should have; a value that ties with points
may take any of their ranks. Mean over nine deciles of 1,000 points; all but the first two methods on a tenth of the runs.
--only runs some data sets, --part some tables, and the other rows of a table stay as they are.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np

from eptr import rivals, stats

from .accuracy import _quiet, parallel
from .stats import note
from .tables import kept, show

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
BOTH = ("lognormal incomes",)
# Where intervals are counted, with the number of rows and epsilon: they go by ranks, which all continuous columns share.
COVERED = [("normal, as published", 1000, 1.0), ("ages", 1000, 1.0), ("lognormal incomes", 10_000, 0.5)]


def ours(x, q, bounds, step=None, **settings):
    return stats.quantiles(x, q, bounds, step=step, level=None, **settings)


METHODS = {
    "ours": ours,
    "JointExp": rivals.JointExp,
    "ApproximateQuantiles": rivals.ApproximateQuantiles,
    "OneByOne": rivals.OneByOne,
}


def misclassified(x, found):
    """Mean number of points between a quantile and the rank it should have."""
    ordered, wanted = np.sort(x), DECILES * len(x)
    below, until = (np.searchsorted(ordered, found, side) for side in ("left", "right"))
    return float(np.maximum(0.0, np.maximum(below - wanted, wanted - until)).mean())


def errors(name, relation, seed, methods):
    """Misclassified points of the first methods, on the same rows."""
    _quiet()
    simulate, bounds, step = DATA[name]
    x, found = simulate(np.random.default_rng([seed, 15]), N), [np.nan] * len(METHODS)
    for k, method in enumerate(list(METHODS.values())[:methods]):
        # The first two draw with the same bits: they differ by what they are, and little by chance.
        settings = {"epsilon": EPSILON, "neighbours": relation, "random_state": 1000 * max(0, k - 1) + seed}
        settings |= {"step": step} if method is ours else {}
        found[k] = misclassified(x, method(x, DECILES, bounds, **settings).value)
    return found


def compare(name, relation, count):
    """One row of the table: the first two methods in all runs; others are far off, and a tenth tells as much."""
    arguments = [(name, relation, seed, len(METHODS) if seed < count // 10 else 2) for seed in range(count)]
    found = np.array(parallel(errors, arguments, f"{name}, {relation}"))
    apart = found[:, 0] - found[:, 1]
    return [*np.nanmean(found, axis=0).tolist(), float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(count))]


def held(name, n, epsilon, truth, seed):
    """Which intervals hold the quantiles of the population, and their width over that of sampling alone."""
    _quiet()
    simulate, bounds, step = DATA[name]
    x = simulate(np.random.default_rng([seed, n]), n)
    found = stats.quantiles(x, DECILES, bounds, epsilon=epsilon, step=step, random_state=seed)
    wider = np.hypot(found.se_sampling, found.se_privacy) / np.maximum(found.se_sampling, 1e-300)
    return (found.low <= truth) & (truth <= found.high), wider


def coverage(name, n, epsilon, count):
    """Share of intervals that hold the truth, of all deciles and of the worst, and their width over sampling's."""
    truth = np.quantile(DATA[name][0](np.random.default_rng(77), 4_000_000), DECILES, method="inverted_cdf")
    found = parallel(held, [(name, n, epsilon, truth, seed) for seed in range(count)], f"coverage, {name}, {n}")
    shares, wider = np.mean([h for h, _ in found], axis=0), float(np.median([w for _, w in found]))
    cover = float(shares.mean())
    return [cover, float(shares.min()), wider, note(cover)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--samples", type=int, default=223, help="of nine intervals each")
    parser.add_argument("--only", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--relation", nargs="*", default=["replace-one", "zero-out"])
    parser.add_argument("--part", nargs="*", default=["errors", "coverage", "speed"])
    options = parser.parse_args()
    count = options.replications
    if "errors" in options.part:
        header = ["data", "relation", "runs", *METHODS, "ours - JointExp", "standard error"]
        for name, relation in product(options.only, options.relation):
            if relation == "replace-one" or name in BOTH:
                row = [name, relation, count, *compare(name, relation, count)]
                rows = kept("quantiles", header, row, 2)
        title = f"misclassified points, 9 deciles of {N} points, epsilon {EPSILON:g}, paired runs"
        show(title, header, rows, "quantiles")
    if "coverage" in options.part:
        header = ["data", "n", "epsilon", "intervals", "coverage", "worst decile", "width / sampling alone", "note"]
        for cell in COVERED:
            if cell[0] in options.only:
                row = [*cell, len(DECILES) * options.samples, *coverage(*cell, options.samples)]
                rows = kept("quantiles_coverage", header, row, 3)
        show("95 % intervals of 9 deciles", header, rows, "quantiles_coverage")
    if "speed" in options.part:
        x, times = np.random.default_rng(0).lognormal(10, 1, 1_000_000), []
        for name, level in (("ours", None), ("with intervals", 0.95)):
            start = time.perf_counter()
            stats.quantiles(x, DECILES, (0, 1e7), epsilon=EPSILON, level=level)
            times.append([name, time.perf_counter() - start])
        show("9 deciles of 1,000,000 values, exact noise, seconds", ["quantiles", "seconds"], times, "quantiles_speed")


if __name__ == "__main__":
    main()
