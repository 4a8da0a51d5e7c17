"""make compare: every rival, in every form, against our estimators, on simulated and on real data; seeded.

Writes results/compare_TASK.csv and the tables in docs/rivals.md; classification by log odds is in odds.py. The same rows, bounds
and seeds for all; bounds, steps and levels are public. A method that cannot keep its claim in a setting shows as refused; forms
that are not private are marked.
"""

from __future__ import annotations

import argparse

import numpy as np

import eptr
from eptr import rivals
from eptr.datasets import load_california_housing, load_credit_default, load_wine_quality

from . import odds
from .accuracy import _quiet, curve, parallel
from .tables import show

DELTA = 0.01


def attempt(model, fit):
    """The error of a fit, or NaN where the method refuses the setting."""
    try:
        return fit(model)
    except eptr.PrivacyError:
        return float("nan")


def strategies(make):
    return {f"ePTR {s}": make(s) for s in ("paper", "tight", "refined")}


def linear_methods(epsilon, seed, x_bound, y_bound, coef_bound, c0, intercept, clip=5.0, c0_tight=None):
    shared = {"fit_intercept": intercept, "random_state": seed}
    common = {"epsilon": epsilon, "delta": DELTA, "x_bound": x_bound, "y_bound": y_bound, **shared}
    return {
        **strategies(lambda s: eptr.LinearRegression(**common, coef_bound=coef_bound, c0=c0, strategy=s)),
        "AdaSSP": rivals.AdaSSP(**common),
        "AdaSSP, published noise": rivals.AdaSSP(**common, form="literature"),
        "BoostedAdaSSP": rivals.BoostedAdaSSP(**common),
        "BoostedAdaSSP, public code (NOT private)": rivals.BoostedAdaSSP(**common, form="literature"),
        "DPGD, clipped gradients": rivals.DPGD(**common, form="clipped", clip=clip),
        "DPGD": rivals.DPGD(**common, coef_bound=coef_bound),
        "DPGD, published noise": rivals.DPGD(**common, coef_bound=coef_bound, form="literature"),
        "FM (pure)": rivals.FunctionalMechanism(**common, coef_bound=coef_bound),
        "FM, published (pure)": rivals.FunctionalMechanism(**common, coef_bound=coef_bound, form="literature"),
        "DPJL": rivals.DPJL(**common),
        "DPJL, published sketch": rivals.DPJL(**common, form="literature"),
        "TukeyEM (no bounds)": rivals.TukeyEM(epsilon, DELTA, **shared),
    }


def class_methods(epsilon, seed, x_bound, c0):
    common = {"epsilon": epsilon, "delta": DELTA, "x_bound": x_bound, "random_state": seed}
    return {
        **strategies(lambda s: eptr.BayesClassifier(**common, c0=c0, fallback="paper", strategy=s)),
        "NoisyStatistics": rivals.NoisyStatistics(**common),
        "PTR": rivals.PTR(**common, c0=c0),
        "DPNB (pure)": rivals.DPNB(**common),
        "DPNB, by coordinates (pure)": rivals.DPNB(**common, form="coordinates"),
        "DPNB, published (NOT private)": rivals.DPNB(**common, form="literature"),
        "DPNBSS (not verified)": rivals.DPNBSS(**common),
        "DPNBSS, Gaussian": rivals.DPNBSS(**common, form="gaussian"),
        "DPNBSS, published (NOT private)": rivals.DPNBSS(**common, form="literature"),
    }


def function_methods(epsilon, seed, y_bound, h, d):
    low, high = (-y_bound, y_bound) if np.ndim(y_bound) == 0 else y_bound
    terms = "additive" if d == 1 else [(0,), (1, 2)]  # place is a pair
    smooth = eptr.AdditiveRegressor(epsilon, DELTA, (0, 1), (low, high), terms, random_state=seed)
    common = {"epsilon": epsilon, "delta": DELTA, "domain": (0, 1), "y_bound": y_bound, "random_state": seed}
    binned = {"BinnedKernel": rivals.BinnedKernel(**common, bandwidth=h)} if d <= 3 else {}
    return {
        "ePTR refined": eptr.KernelRegressor(**common, bandwidth=h),
        "ePTR refined, trend": eptr.KernelRegressor(**common, bandwidth=h, trend="linear"),
        "Additive": smooth,
        **binned,
        "Series, cosine": rivals.WaveletEstimator(**common),
        "Series, Haar": rivals.WaveletEstimator(**common, basis="haar"),
        "Series, published (pure)": rivals.WaveletEstimator(**common, form="literature"),
    }


def simulated_regression(epsilon, seed):
    _quiet()
    rng = np.random.default_rng([seed, 21])
    theta = 1 / np.arange(1, 6)
    theta /= np.linalg.norm(theta)
    X = rng.normal(size=(8000, 5))
    y = X @ theta + rng.normal(size=8000)
    error = lambda m: float(np.sum((m.fit(X, y).coef_ - theta) ** 2))  # noqa: E731
    found = {"non-private": float(np.sum((np.linalg.lstsq(X, y, rcond=None)[0] - theta) ** 2)), "constant 0": 1.0}
    methods = linear_methods(epsilon, seed, 4.0, 4.0, 1.0, 0.5, False)
    return found | {name: attempt(model, error) for name, model in methods.items()}


def balanced(predicted, truth):
    return float(np.mean([np.mean(predicted[truth == k] != k) for k in np.unique(truth)]))


def plain_bayes(X, y):
    labels = np.unique(y)
    means, share = np.array([X[y == k].mean(axis=0) for k in labels]), np.array([np.mean(y == k) for k in labels])
    return lambda Z: labels[np.argmax(Z @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(share), axis=1)]


def simulated_classification(epsilon, seed):
    _quiet()
    rng = np.random.default_rng([seed, 22])
    centres = 3 * np.eye(10)[:3]
    y = rng.choice(3, p=[0.75, 0.15, 0.10], size=5000)
    X = rng.normal(size=(5000, 10)) + centres[y]
    truth = np.repeat(np.arange(3), 5000)
    test = rng.normal(size=(15_000, 10)) + centres[truth]
    found = {"non-private": balanced(plain_bayes(X, y)(test), truth), "no information": 2 / 3}
    methods = class_methods(epsilon, seed, 8.0, 0.08)
    return found | {n: attempt(m, lambda m: balanced(m.fit(X, y).predict(test), truth)) for n, m in methods.items()}


def smoother(X, y, points, h):
    weights = np.exp(-0.5 * (((points[:, None, :] - X[None]) / h) ** 2).sum(axis=2))
    return weights @ y / np.maximum(weights.sum(axis=1), 1e-300)


def simulated_function(epsilon, seed):
    _quiet()
    rng = np.random.default_rng([seed, 23])
    X = rng.uniform(size=(2000, 1))
    y = curve(X[:, 0]) + 0.2 * rng.normal(size=2000)
    points, h = np.linspace(0, 1, 200)[:, None], 0.2 * 2000**-0.2
    truth = curve(points[:, 0])
    found = {
        "non-private": float(np.mean((smoother(X, y, points, h) - truth) ** 2)),
        "constant 0": float(np.mean(truth**2)),
    }
    methods = function_methods(epsilon, seed, 2.0, h, 1)
    return found | {n: float(np.mean((m.fit(X, y).predict(points) - truth) ** 2)) for n, m in methods.items()}


def split(n, seed):
    order = np.random.default_rng([seed, 24]).permutation(n)
    return order[: n // 5], order[n // 5 :]


def wine(epsilon, seed):
    _quiet()
    X, quality = load_wine_quality(return_X_y=True)
    y = (quality - 5.0) / 5.0
    train, test = split(len(X), seed)
    error = lambda f: float(np.mean((5.0 + 5.0 * f - quality[test]) ** 2))  # noqa: E731
    wide = np.column_stack([X, np.ones(len(X))])
    found = {
        "non-private": error(wide[test] @ np.linalg.lstsq(wide[train], y[train], rcond=None)[0]),
        "mean of training rows": error(np.full(len(test), y[train].mean())),
    }
    methods = linear_methods(epsilon, seed, 2.0, 1.0, 1.0, 0.062, True, clip=1.0)
    return found | {
        n: attempt(m, lambda m: error(m.fit(X[train], y[train]).predict(X[test]))) for n, m in methods.items()
    }


def credit(epsilon, seed):
    _quiet()
    X, y = load_credit_default(return_X_y=True)
    train, test = split(len(X), seed)
    inside = X[train] * np.minimum(1.0, 4.0 / np.linalg.norm(X[train], axis=1))[:, None]
    found = {"non-private": balanced(plain_bayes(inside, y[train])(X[test]), y[test]), "no information": 0.5}
    methods = class_methods(epsilon, seed, 4.0, 0.08)
    return found | {
        n: attempt(m, lambda m: balanced(m.fit(X[train], y[train]).predict(X[test]), y[test]))
        for n, m in methods.items()
    }


def california(epsilon, seed):
    """Income and place, three axes, so that every method can play."""
    _quiet()
    X, value = load_california_housing(return_X_y=True)
    X = X[:, :3]
    train, test = split(len(X), seed)
    test = test[:2000]
    h = 0.5 * len(train) ** (-1 / 7)
    error = lambda f: float(np.mean((f - value[test]) ** 2))  # noqa: E731
    found = {"non-private": error(smoother(X[train], value[train], X[test], h)), "constant 2.5": error(2.5)}
    methods = function_methods(epsilon, seed, (0, 5), h, 3)
    return found | {n: error(m.fit(X[train], value[train]).predict(X[test])) for n, m in methods.items()}


TASKS = {
    "least squares, simulated (squared error; n=8000, p=5)": (simulated_regression, (0.25, 1.0, 4.0), "ols"),
    "wine quality (test MSE; 1,299 training rows)": (wine, (0.25, 1.0, 4.0), "wine"),
    "classification, simulated (balanced error; n=5000)": (simulated_classification, (0.1, 0.5, 2.0), "bayes"),
    "credit default (balanced error; 6,000 training rows)": (credit, (0.1, 0.5, 2.0), "credit"),
    "regression function, simulated (MSE over [0, 1]; n=2000)": (simulated_function, (0.5, 1.0, 4.0), "function"),
    "California housing (test MSE; 4,128 training rows, 3 axes)": (california, (0.5, 1.0, 4.0), "california"),
}


def cell(values):
    if np.isnan(values).all():
        return "refused"
    mean, median = float(np.mean(values)), float(np.median(values))
    return f"{mean:.3g} ({median:.3g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help="some of ols, wine, bayes, credit, function, california; all if none")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument(
        "--odds", default=None, help="one classification table alone: odds_normal, odds_factors, odds_credit"
    )
    options = parser.parse_args()
    count = options.replications
    if not options.tables:
        odds.main(count, options.odds)
    if options.odds is not None:
        return
    for title, (task, epsilons, name) in TASKS.items():
        if not options.tables or name in options.tables:
            table(title, task, epsilons, name, count)


def table(title, task, epsilons, name, count):
    runs = {e: parallel(task, [(e, s) for s in range(count)], f"{name} epsilon={e}") for e in epsilons}
    base, rows = {e: np.mean([r["non-private"] for r in runs[e]]) for e in epsilons}, []
    for m in runs[epsilons[0]][0]:
        values = [[r[m] for r in runs[e]] for e in epsilons]
        ratio = np.mean(values[1]) / base[epsilons[1]]
        rows.append([m, *(cell(v) for v in values), "" if np.isnan(ratio) else f"{ratio:.3g}"])
    header = ["method", *(f"epsilon={e:g}" for e in epsilons), f"ratio to non-private at {epsilons[1]:g}"]
    show(title, header, rows, f"compare_{name}")


if __name__ == "__main__":
    main()
