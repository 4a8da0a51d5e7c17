"""make bench-accuracy: our estimators against the non-private fit, the published algorithm and the strongest rivals.

Seeded. Prints every table with ratios and saves it under results/. --replications N shortens a run, --only NAME picks tables.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import itertools
import math
import warnings

import numpy as np
from joblib import Parallel, delayed

import eptr
from eptr.rivals import DPGD, AdaSSP, BoostedAdaSSP

from .tables import RESULTS, progress, show

# One fixed setting for every cell of the grid: clipped descent must also work on ill-conditioned designs.
METHODS = {
    "AdaSSP": lambda *a, **k: AdaSSP(*a, fit_intercept=False, **k),
    "BoostedAdaSSP": lambda *a, **k: BoostedAdaSSP(*a, fit_intercept=False, **k),
    "clipped descent": lambda *a, steps=10, rate=0.3, **k: DPGD(
        *a, form="clipped", steps=steps, step_size=rate, fit_intercept=False, **k
    ),
}


OURS = {"default": {}, "symmetric": {"symmetric_errors": True}}


def our_forms():
    """The default, and what is assumed publicly where this version can assume it."""
    known = inspect.signature(eptr.LinearRegression).parameters
    return {name: more for name, more in OURS.items() if set(more) <= set(known)}


def ordinary(X, y):
    return np.linalg.lstsq(X, y, rcond=None)[0]


def _quiet():
    warnings.simplefilter("ignore", eptr.EptrWarning)


def parallel(task, arguments, label):
    runs = Parallel(n_jobs=2, return_as="generator")(delayed(task)(*a) for a in arguments)
    return list(itertools.islice((r for r, _ in zip(runs, progress(arguments, label), strict=True)), len(arguments)))


# -- least squares: the rows of the headline table ---------------------------------------------------------------------

SETTINGS = [
    (8000, 1.0, 0.01),
    (8000, 0.25, 0.01),
    (8000, 4.0, 0.01),
    (2000, 1.0, 0.01),
    (8000, 1.0, 1e-6),
    (8000, 4.0, 1e-6),
]


def one_regression(n, epsilon, delta, seed, p=5):
    _quiet()
    rng = np.random.default_rng([seed, n])
    theta = 1 / np.arange(1, p + 1)
    theta /= np.linalg.norm(theta)
    X = rng.normal(size=(n, p))
    y = X @ theta + rng.normal(size=n)
    error = lambda estimate: float(np.sum((estimate - theta) ** 2))  # noqa: E731
    result = {"non-private": error(ordinary(X, y))}
    for name, method in METHODS.items():
        options = {"steps": 6, "rate": 0.9} if name == "clipped descent" else {}
        result[name] = error(method(epsilon, delta, 4.0, 4.0, random_state=seed, **options).fit(X, y).coef_)
    forms = {"paper": {"strategy": "paper"}, "tight": {"strategy": "tight"}}
    for name, more in (forms | our_forms()).items():
        model = eptr.LinearRegression(epsilon, delta, 4.0, 4.0, c0=0.5, fit_intercept=False, random_state=seed, **more)
        result["refined" if name == "default" else name] = error(model.fit(X, y).coef_)
    return result


def best_cut(n, epsilon, delta, p=5, draws=400_000):
    """The least ratio of errors that one noisy sum of cut gradients can have, were all the budget and the truth in it.

    Gradients r z cut at a length c have variance a(c) and slope d(c), their mean noise 2c/(n mu): (a + 4 c^2/(n mu^2))/d^2. Of
    all functions with such a bound, cut gradients have the least variance (Hampel 1978, Krasker 1980).
    """
    rng = np.random.default_rng(0)
    z, r = rng.normal(size=(draws, p)), rng.normal(size=draws)
    length, mu = np.linalg.norm(z, axis=1) * abs(r), eptr.gaussian_mu(epsilon, delta)
    ratios = []
    for cut in np.quantile(length, np.linspace(0.5, 0.9999, 60)):
        variance = np.mean((z * (r * np.minimum(1.0, cut / length))[:, None]) ** 2)
        slope = np.mean((length <= cut)[:, None] * z**2)
        ratios.append((variance + 4.0 * cut**2 / (n * mu**2)) / slope**2)
    return min(ratios)


def regression(replications):
    rows = []
    for setting in SETTINGS:
        runs = parallel(one_regression, [(*setting, s) for s in range(replications)], f"least squares {setting}")
        rows += summary_rows(setting, runs)
        floor = best_cut(*setting)
        rows.append([*setting, "no cut can be better", floor * rows[-len(runs[0])][4], 0.0, floor])
    show(
        "Least squares, p=5: squared error (mean)",
        ["n", "epsilon", "delta", "method", "error", "s.e.", "ratio"],
        rows,
        "accuracy_ols",
    )


def summary_rows(key, runs, base="non-private"):
    means = {m: float(np.mean([r[m] for r in runs])) for m in runs[0]}
    errors = {m: float(np.std([r[m] for r in runs]) / math.sqrt(len(runs))) for m in runs[0]}
    return [[*key, m, means[m], errors[m], means[m] / means[base]] for m in means]


# -- least squares over the grid ----------------------------------------------------------------------------------------

GRID = list(itertools.product((1000, 2000, 8000, 50_000), (5, 20), (1, 100), (0.3, 1.0)))
BUDGETS = list(itertools.product((0.25, 0.5, 1.0, 2.0, 4.0), (1e-2, 1e-6)))


def one_design(n, p, condition, noise, seed):
    _quiet()
    rng = np.random.default_rng([seed, n, p, condition, int(10 * noise)])
    spectrum = np.geomspace(1.0, 1.0 / condition, p)
    spectrum *= p / spectrum.sum()
    basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
    root = (basis * np.sqrt(spectrum)) @ basis.T
    X = rng.normal(size=(n, p)) @ root
    theta = 1 / np.arange(1, p + 1)
    theta /= np.linalg.norm(root @ theta)
    y = X @ theta + noise * rng.normal(size=n)
    R, Y = 1.5 * math.sqrt(p), 3.0 * math.sqrt(1.0 + noise**2)
    risk = lambda estimate: float(np.sum((root @ (estimate - theta)) ** 2))  # noqa: E731
    results = {}
    for epsilon, delta in BUDGETS:
        found = {
            name: risk(make(epsilon, delta, R, Y, random_state=seed).fit(X, y).coef_) for name, make in METHODS.items()
        }
        for name, more in our_forms().items():
            model = eptr.LinearRegression(epsilon, delta, R, Y, fit_intercept=False, random_state=seed, **more)
            found["refined" if name == "default" else name] = risk(model.fit(X, y).coef_)
        found["non-private"] = risk(ordinary(X, y))
        results[epsilon, delta] = found
    return results


def first_version():
    """Risk of version 0.1's default in every cell, as it was measured with the same seeds before that default changed."""
    with (RESULTS / "accuracy_grid_v0_1.csv").open(newline="") as file:
        return {tuple(float(row.pop(k)) for k in [*row][:-1]): float(row["v0_1"]) for row in csv.DictReader(file)}


def grid(replications):
    ours = ["symmetric"] if "symmetric" in our_forms() else []
    names, before = ["refined", *ours, *METHODS, "non-private"], first_version()
    rows, losses = [], []
    tasks = [(*cell, s) for cell in GRID for s in range(max(2, replications // (1 + 4 * (cell[0] > 8000))))]
    by_cell = {}
    for task, result in zip(tasks, parallel(one_design, tasks, "least squares grid"), strict=True):
        by_cell.setdefault(task[:4], []).append(result)
    for cell, runs in by_cell.items():
        for budget in BUDGETS:
            means = {m: float(np.mean([min(r[budget][m], 1e3) for r in runs])) for m in names}
            rows.append([*cell, *budget, *(means[m] for m in names), before[*cell, *budget]])
            losses += [[*cell, *budget, m, means["refined"] / means[m]] for m in METHODS if means["refined"] > means[m]]
    header, names = ["n", "p", "condition", "noise", "epsilon", "delta"], [*names, "v0_1"]
    show("Grid: mean excess risk, every cell", [*header, *names], rows, "accuracy_grid")
    show("Cells in which a rival beats refined", [*header, "rival", "refined / rival"], losses, "accuracy_grid_losses")
    risks = {m: np.array([row[len(header) + k] for row in rows]) for k, m in enumerate(names)}
    means = {m: float(np.exp(np.mean(np.log(risk)))) for m, risk in risks.items()}
    wins = {m: [int(np.sum(risks["refined"] > much * risk)) for much in (1.0, 1.1)] for m, risk in risks.items()}
    show(
        f"Grid of {len(rows)} cells: geometric mean excess risk",
        ["method", "risk", "refined / method", "cells it wins", "by more than 10 %"],
        [[m, means[m], means["refined"] / means[m], *wins[m]] for m in names],
        "accuracy_grid_summary",
    )


# -- Bayes classifier ----------------------------------------------------------------------------------------------------

PRIORS = np.array([0.75, 0.15, 0.10])


def one_classification(epsilon, seed, n=5000, c0=0.04, delta=0.01):
    _quiet()
    rng = np.random.default_rng([seed, 11])
    centres = 3 * np.eye(10)[:3]
    y = rng.choice(3, p=PRIORS, size=n)
    X = rng.normal(size=(n, 10)) + centres[y]
    test_y = np.repeat(np.arange(3), 10_000)
    test_X = rng.normal(size=(30_000, 10)) + centres[test_y]

    def balanced(predicted):
        return float(np.mean([np.mean(predicted[test_y == k] != k) for k in range(3)]))

    means, share = np.array([X[y == k].mean(axis=0) for k in range(3)]), np.bincount(y) / n
    scores = test_X @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(share)
    result = {"non-private": balanced(np.argmax(scores, axis=1))}
    for name, strategy, floor in [
        ("paper", "paper", c0),
        ("tight", "tight", c0),
        ("tight c0=.08", "tight", 0.08),
        ("refined", "refined", c0),
    ]:
        model = eptr.BayesClassifier(
            epsilon, delta, 8.0, c0=floor, strategy=strategy, fallback="paper", random_state=seed
        )
        result[name] = balanced(model.fit(X, y).predict(test_X))
    return result


def bayes(replications):
    rows = []
    for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0, 3.0):
        rows += summary_rows(
            (epsilon,),
            parallel(one_classification, [(epsilon, s) for s in range(replications)], f"Bayes epsilon={epsilon}"),
        )
    show(
        "Bayes, n=5000, priors .75/.15/.10, delta=.01: balanced error",
        ["epsilon", "method", "error", "s.e.", "ratio"],
        rows,
        "accuracy_bayes",
    )


# -- kernel regression -----------------------------------------------------------------------------------------------------


def curve(x):
    return np.sin(2 * np.pi * x) + 0.5 * np.cos(4 * np.pi * x)


def one_smooth(epsilon, seed, n=2000, delta=0.01):
    _quiet()
    rng = np.random.default_rng([seed, 12])
    X = rng.uniform(size=(n, 1))
    y = curve(X[:, 0]) + 0.2 * rng.normal(size=n)
    h, points = 0.2 * n**-0.2, np.linspace(0, 1, 200)[:, None]
    weights = np.exp(-0.5 * ((points - X.T) / h) ** 2)
    error = lambda f: float(np.mean((f - curve(points[:, 0])) ** 2))  # noqa: E731
    result = {"non-private": error(weights @ y / weights.sum(axis=1))}
    options = {"domain": (0, 1), "y_bound": 2.0, "bandwidth": h, "random_state": seed}
    result["refined, epsilon in all"] = error(eptr.KernelRegressor(epsilon, delta, **options).fit(X, y).predict(points))
    for strategy in ("paper", "tight"):
        # Four fits of fifty queries: two hundred deltas of .01 would add up to no guarantee at all, and are refused.
        fits = [
            eptr.KernelRegressor(epsilon, delta, c0=0.4, queries=part, budget="each", strategy=strategy, **options)
            .fit(X, y)
            .values_
            for part in np.array_split(points, 4)
        ]
        result[f"{strategy}, epsilon per query"] = error(np.concatenate(fits))
    return result


def kernel(replications):
    rows = []
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        rows += summary_rows(
            (epsilon,), parallel(one_smooth, [(epsilon, s) for s in range(replications)], f"kernel epsilon={epsilon}")
        )
    show(
        "Kernel regression, d=1, n=2000, delta=.01: mean squared error over [0, 1]",
        ["epsilon", "method", "error", "s.e.", "ratio"],
        rows,
        "accuracy_kernel",
    )


# -- the published study's own figures ------------------------------------------------------------------------------------

STUDY_BAYES = {0.5: 0.341, 1.0: 0.126, 1.5: 0.079, 2.0: 0.068, 3.0: 0.052}
STUDY_KERNEL = {1.0: 0.237, 2.0: 0.088, 3.0: 0.048, 5.0: 0.0195}


def one_query(epsilon, seed, n=2000):
    _quiet()
    rng = np.random.default_rng([seed, 13])
    X = rng.uniform(size=(n, 1))
    y = curve(X[:, 0]) + 0.2 * rng.normal(size=n)
    model = eptr.KernelRegressor(
        epsilon,
        n**-3.0,
        (0, 1),
        y_bound=1.0,
        bandwidth=0.2 * n**-0.2,
        c0=0.4,
        strategy="paper",
        fallback="paper",
        random_state=seed,
    )
    return {"paper": float((model.fit(X, y).predict([[0.5]])[0] - 0.5) ** 2)}


def agreement(replications):
    rows = []
    for name, task, study, runs in (
        ("bayes-eps", one_classification, STUDY_BAYES, 60),
        ("nw-eps", one_query, STUDY_KERNEL, 300),
    ):
        for epsilon, published in study.items():
            values = [
                r["paper"]
                for r in parallel(task, [(epsilon, s) for s in range(replications)], f"{name} epsilon={epsilon}")
            ]
            # Both sides are Monte Carlo: the study's with `runs` replications, ours with `replications`.
            error = float(np.std(values)) * math.sqrt(1 / runs + 1 / len(values))
            rows.append(
                [name, epsilon, published, float(np.mean(values)), error, (float(np.mean(values)) - published) / error]
            )
    show(
        "strategy='paper' against the published study's own figures",
        ["experiment", "epsilon", "published", "ours", "s.e.", "z"],
        rows,
        "agreement",
    )


# What the README shows of the tables above: a label, the table, its rows.
HEADLINE = [
    (f"least squares, n={n}, epsilon={epsilon:g}, delta={delta:g}", "accuracy_ols", (n, epsilon, delta))
    for n, epsilon, delta in SETTINGS
]
HEADLINE += [(f"Bayes, n=5000, epsilon={e:g}, delta=0.01", "accuracy_bayes", (e,)) for e in (0.1, 0.5)]
HEADLINE += [("kernel, n=2000, epsilon=1, delta=0.01", "accuracy_kernel", (1.0,))]
COLUMNS = {
    "non-private": ["non-private"],
    "published ePTR": ["paper", "paper, epsilon per query"],
    "AdaSSP": ["AdaSSP"],
    "BoostedAdaSSP": ["BoostedAdaSSP"],
    "clipped descent": ["clipped descent"],
    "tight": ["tight", "tight, epsilon per query"],
    "default": ["refined", "refined, epsilon in all"],
    "symmetric": ["symmetric"],
    "floor of any cut": ["no cut can be better"],
}


def headline():
    """One line a setting, one column a method, from the tables as they were saved."""
    rows = []
    for label, name, key in HEADLINE:
        with (RESULTS / f"{name}.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        found = {r["method"]: r["error"] for r in lines if tuple(float(v) for v in [*r.values()][: len(key)]) == key}
        rows.append([label, *(next((found[m] for m in methods if m in found), "") for methods in COLUMNS.values())])
    show("Mean error in the paper's settings", ["setting", *COLUMNS], rows, "headline")


TABLES = {"ols": regression, "grid": grid, "bayes": bayes, "kernel": kernel, "agreement": agreement}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--quick", action="store_const", const=20, dest="replications", help="20 replications")
    parser.add_argument("--only", choices=TABLES, action="append")
    arguments = parser.parse_args()
    for name in arguments.only or TABLES:
        TABLES[name](arguments.replications if name != "grid" else max(4, arguments.replications // 10))
    headline()


if __name__ == "__main__":
    main()
