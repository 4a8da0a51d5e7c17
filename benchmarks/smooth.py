"""Smooth functions: our additive model and kernel against the rivals, how often bands hold, housing prices, and time; seeded.

``python -m benchmarks.smooth curves | skewed | uneven | pair | california | speed --replications N``; ``make bench-smooth``: all.
Every cell of ``curves`` is saved when it is done; ``--curve NAME`` makes those of one curve anew.
Errors are mean squares over 201 points of [0, 1]; every method sees the same rows and knows the same range of y. A rival is ahead
if our error exceeds 1.1 times that of the best one by 1.645 standard errors of the paired difference.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import eptr
from eptr import rivals
from eptr.datasets import load_california_housing

from .accuracy import _quiet
from .tables import kept, progress, show

DELTA, SD, GRID = 0.01, 0.2, np.linspace(0.0, 1.0, 201)
EPSILONS, SIZES = (0.5, 1.0, 4.0), (500, 2000, 20_000)
PLACES = [(0,), (1, 2), (3,)]  # of California: income, place as a pair, age


def as_published(x, place):
    return np.sin(2 * np.pi * x) + 0.5 * np.cos(4 * np.pi * x)


def kink_and_jump(x, place):
    """The jump, of about .7, is at a place of its own in every replication, or a rival's cells might happen to fit it."""
    return np.where(x < place, 1.6 * np.abs(x - place / 2.0) - 0.7, 0.6 - 0.4 * x)


CURVES = {
    "as published": as_published,
    "line": lambda x, place: 2.0 * x - 1.0,
    "exponential": lambda x, place: np.exp(2.0 * x) / 4.0 - 1.0,
    "bump": lambda x, place: np.exp(-0.5 * ((x - place) / 0.06) ** 2) - 0.2,
    "kink and jump": kink_and_jump,
}


def sample(curve, n, seed):
    """Rows, and the curve at the points of the grid."""
    rng = np.random.default_rng([seed, 41])
    place, x = rng.uniform(0.3, 0.7), rng.uniform(size=(n, 1))
    return x, CURVES[curve](x[:, 0], place) + SD * rng.normal(size=n), CURVES[curve](GRID, place)


def additive(epsilon, seed):
    return eptr.AdditiveRegressor(epsilon, DELTA, (0, 1), (-1.5, 1.5), random_state=seed)


def methods(n, epsilon, seed):
    common = {"epsilon": epsilon, "delta": DELTA, "domain": (0, 1), "y_bound": 1.5, "random_state": seed}
    h = 0.2 * n**-0.2
    return {
        "additive": additive(epsilon, seed),
        "kernel": eptr.KernelRegressor(**common, bandwidth=h),
        "BinnedKernel": rivals.BinnedKernel(**common, bandwidth=h),
        "cosine": rivals.WaveletEstimator(**common),
        "Haar": rivals.WaveletEstimator(**common, basis="haar"),
    }


def one(curve, n, epsilon, seed):
    """Errors of all methods, and the share of points that the additive model's band holds, its width, and whether it jumps."""
    x, y, truth = sample(curve, n, seed)
    fits = {name: model.fit(x, y) for name, model in methods(n, epsilon, seed).items()}
    _, low, high = fits["additive"].partial_effect(0, GRID, centred=False)
    band = np.mean((low <= truth) & (truth <= high)), np.median(high - low), fits["additive"].rough_[0]
    return {name: float(np.mean((m.predict(GRID[:, None]) - truth) ** 2)) for name, m in fits.items()}, band


def cell(curve, n, epsilon, count):
    """One line of each of two tables."""
    found, bands = zip(*(one(curve, n, epsilon, seed) for seed in range(count)), strict=True)
    errors = {name: np.array([each[name] for each in found]) for name in found[0]}
    means = {name: float(np.mean(values)) for name, values in errors.items()}
    best = min(("BinnedKernel", "cosine", "Haar"), key=means.__getitem__)
    excess = errors["additive"] - 1.1 * errors[best]
    ahead = "rival" if np.mean(excess) > 1.645 * np.std(excess) / np.sqrt(count) else ""
    setting = [curve, n, epsilon, count]
    error = [*setting, *means.values(), means["additive"] / means[best], ahead]
    return error, [*setting, *map(float, np.mean(bands, axis=0))]


def curves(count, chosen=None):
    header = ["curve", "n", "epsilon", "runs"]
    errors = [*header, *methods(SIZES[0], 1.0, 0), "additive / best rival", "ahead by 10 %"]
    bands = [*header, "share of points held", "median width", "runs with a jump"]
    names = [name for name in CURVES if chosen in (None, name)]
    for setting in progress([(c, n, e) for c in names for n in SIZES for e in EPSILONS], "curves"):
        error, band = cell(*setting, count)
        found = kept("smooth_accuracy", errors, error, keys=3), kept("smooth_coverage", bands, band, keys=3)
    show("mean squared error, delta .01", errors, found[0], "smooth_accuracy")
    show("pointwise 95 % bands, delta .01", bands, found[1], "smooth_coverage")


def outcomes(rng, x):
    """Skewed ones of the published curve: y, its mean where x is, and a range."""
    f, n = lambda x: as_published(x, 0.0), len(x)
    odds = lambda x: 1.0 / (1.0 + np.exp(2.7 - f(x)))  # noqa: E731
    some = rng.uniform(size=n) < odds(x)
    return {
        "exponential errors": (f(x) + rng.exponential(size=n) - 1.0, f, (-4, 10)),
        "lognormal": (np.exp(f(x) + 0.8 * rng.normal(size=n)), lambda x: np.exp(f(x) + 0.32), (0, 40)),
        "92 % zeros": (some * np.exp(0.5 + 0.7 * rng.normal(size=n)), lambda x: np.exp(0.745) * odds(x), (0, 25)),
        "binary, 8 % ones": (some.astype(float), odds, (0, 1)),
    }


def skewed(count):
    """How often bands hold where clipping is not harmless, with the mean and without it, and what is said about it."""
    header = ["outcome", "n", "epsilon", "runs", "mean squared error", "share of points held", "of the effect alone"]
    header += ["median width", "runs that say clipping is undone"]
    for n, epsilon in progress([(n, e) for n in SIZES[1:] for e in EPSILONS[1:]], "skewed"):
        runs = {}
        for seed in range(count):
            rng = np.random.default_rng([seed, 45])
            x = rng.uniform(size=n)
            for name, (y, mean, within) in outcomes(rng, x).items():
                model = eptr.AdditiveRegressor(epsilon, 1e-6, (0, 1), within, random_state=seed).fit(x[:, None], y)
                (value, low, high), (_, lower, upper) = (
                    model.partial_effect(0, GRID, centred=centred) for centred in (False, True)
                )
                truth = mean(GRID)
                alone = truth - np.mean(mean(x))
                held = np.mean((low <= truth) & (truth <= high)), np.mean((lower <= alone) & (alone <= upper))
                found = np.mean((value - truth) ** 2), *held, np.median(high - low), model.corrected_
                runs.setdefault(name, []).append(found)
        for name, each in runs.items():
            line = [name, n, epsilon, count, *map(float, np.mean(each, axis=0))]
            rows = kept("smooth_skewed", header, line, keys=3)
    show("skewed outcomes, pointwise 95 % bands, delta 1e-6", header, rows, "smooth_skewed")


def uneven(count):
    """The published curve where rows fill a part of the range, looked at where the rows are; and how much of the rest is grey."""
    places = {
        "even on [.18, .8]": lambda rng, n: rng.uniform(0.18, 0.8, size=n),
        "normal, mean .38, sd .08": lambda rng, n: rng.normal(0.38, 0.08, size=n).clip(0, 1),
        "exponential, mean .12": lambda rng, n: rng.exponential(0.12, size=n).clip(0, 1),
    }
    rows = []
    for (name, draw), n in progress([(d, n) for d in places.items() for n in SIZES[1:]], "uneven"):
        found = []
        for seed in range(count):
            rng = np.random.default_rng([seed, 44])
            x = draw(rng, n)
            model = additive(1.0, seed).fit(x[:, None], as_published(x, 0.0) + SD * rng.normal(size=n))
            points = np.sort(draw(rng, 200))
            value, low, high = model.partial_effect(0, points, centred=False)
            truth, grey = as_published(points, 0.0), np.isinf(high - low)
            empty = GRID[[np.min(np.abs(x - u)) > 0.02 for u in GRID]]
            unsaid = np.isinf(model.partial_effect(0, empty)[2])
            held = (low <= truth) & (truth <= high)
            error, width = np.mean((value - truth) ** 2), np.median((high - low)[~grey])
            shares = np.mean(grey), np.mean(unsaid) if len(empty) else np.nan, model.rough_[0]
            found.append((error, np.mean(held[~grey]), width, *shares))
        rows.append([name, n, 1.0, count, *map(float, np.nanmean(found, axis=0))])
    header = ["rows", "n", "epsilon", "runs", "mean squared error", "share of points held", "median width"]
    header += ["rows in grey", "empty range in grey", "runs with a jump"]
    show("uneven columns, delta .01", header, rows, "smooth_uneven")


def pair(count):
    """Two columns that depend on each other, an uneven one and an even one; error of the surface at 4,000 fresh rows."""
    rows = []
    for n, epsilon in progress([(1500, 2.0), (4000, 0.5), (4000, 1.0), (20_000, 1.0)], "pair"):
        errors = []
        for seed in range(count):
            rng, m = np.random.default_rng([seed, 43]), n + 4000
            t, d = rng.uniform(size=(2, m))
            a, b = (np.clip(u + 0.12 * rng.normal(size=m), 0.0, 1.0) for u in (t, 1.0 - t))
            X = np.column_stack([rng.beta(2, 6, size=m), a, b, d])
            truth = np.sin(5.0 * a) * np.cos(4.0 * b) + np.log1p(6.0 * X[:, 0]) + 0.3 * d
            y = truth + 0.5 * rng.normal(size=m)
            model = eptr.AdditiveRegressor(epsilon, DELTA, (0, 1), (-2, 4), PLACES, random_state=seed).fit(X[:n], y[:n])
            errors.append(np.mean((model.predict(X[n:]) - truth[n:]) ** 2))
        rows.append([n, epsilon, count, float(np.mean(errors)), float(np.max(errors)), float(np.var(truth))])
    header = ["n", "epsilon", "runs", "mean squared error", "largest", "variance of the truth"]
    show("a dependent pair of columns, delta .01", header, rows, "smooth_pair")


def california(count):
    X, value = load_california_housing(return_X_y=True)
    rows = []
    for epsilon in progress((1.0, 4.0), "california"):
        errors = {"additive, place as a pair": [], "additive, columns alone": []}
        for seed in range(count):
            order = np.random.default_rng([seed, 42]).permutation(len(X))
            train, test = order[: len(X) // 5], order[len(X) // 5 :]
            for found, terms in zip(errors.values(), (PLACES, "additive"), strict=True):
                model = eptr.AdditiveRegressor(epsilon, DELTA, (0, 1), (0, 5), terms, random_state=seed)
                found.append(np.mean((model.fit(X[train], value[train]).predict(X[test]) - value[test]) ** 2))
        rows.append([epsilon, count, *(float(np.mean(found)) for found in errors.values())])
    header = ["epsilon", "runs", "additive, place as a pair", "additive, columns alone"]
    show(
        "California housing, 4,128 training rows, test mean squared error, delta .01", header, rows, "smooth_california"
    )


def speed(count):
    rng, rows = np.random.default_rng(0), []
    for n in (100_000, 1_000_000):
        X = rng.uniform(size=(n, 4))
        y = np.sin(6.0 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
        wall, work = [], []
        for seed in range(min(count, 5)):
            model = eptr.AdditiveRegressor(1.0, 1e-8, (0, 1), (-3, 3), random_state=seed)
            start, used = time.perf_counter(), time.process_time()
            model.fit(X, y)
            wall.append(time.perf_counter() - start)
            work.append(time.process_time() - used)
        rows.append([n, 4, len(model.coef_), os.cpu_count(), min(wall), min(work)])
    header = ["rows", "columns", "functions", "cores", "seconds", "seconds of all cores"]
    show("a fit in memory, epsilon 1", header, rows, "smooth_speed")


PARTS = {"curves": curves, "skewed": skewed, "uneven": uneven, "pair": pair, "california": california, "speed": speed}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="all if none is named")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--curve", choices=[*CURVES], help="of the table of curves; all if none is named")
    options = parser.parse_args()
    _quiet()
    for part in options.part or PARTS:
        PARTS[part](options.replications, **({"chosen": options.curve} if part == "curves" else {}))


if __name__ == "__main__":
    main()
