"""Classification in `make compare`: log loss, accuracy, AUC, and how far coefficients are from those without privacy; seeded.

Methods come from the catalogue: our refined classifiers and every rival of logistic regression, with one public setting for all
data. The best of several settings of clipped descent is chosen afterwards, by the test rows, and named as such.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from eptr.datasets import load_credit_default
from eptr.estimators.catalogue import OURS
from eptr.rivals import ClippedDescent
from eptr.rivals.catalogue import RIVALS

from .accuracy import _quiet, parallel
from .tables import show

DELTA, EPSILONS = 1e-6, (0.1, 0.5, 1.0, 4.0)
MEASURES = ("log loss", "accuracy", "AUC", "s.e. from maximum likelihood")
HINDSIGHT = "ClippedDescent, best in hindsight"
ALL_SETTINGS = [{"steps": steps, "clip": share} for steps, share in product((10, 40), (0.2, 0.4, 0.8))]


def methods(epsilon, seed, x_bound):
    """By name; none has seen the rows."""
    shared = {"epsilon": epsilon, "delta": DELTA, "x_bound": x_bound, "classes": [0, 1], "random_state": seed}
    ours = [e for e in OURS if e.task == "classification" and e.variant == "refined"]
    found = {e.name: e.make(**shared | dict(e.needs)) for e in ours}
    found |= {e.name: e.make(**shared) for e in RIVALS if e.two_classes and e.private}
    for k, setting in enumerate(ALL_SETTINGS):
        clip = setting["clip"] * x_bound
        found[f"{HINDSIGHT} {k}"] = ClippedDescent(**shared | setting | {"clip": clip})
    return found


def likelihood_fit(X, y):
    """Maximum likelihood, and standard errors of the slopes."""
    plain = LogisticRegression(C=1e8, max_iter=2000).fit(X, y)
    wide = np.column_stack([X, np.ones(len(X))])
    weight = plain.predict_proba(X).prod(axis=1)
    errors = np.sqrt(np.diag(np.linalg.pinv((wide.T * weight) @ wide)))[:-1]
    return plain, errors


def measured(model, plain, errors, test, truth):
    chance = np.clip(model.predict_proba(test)[:, 1], 1e-6, 1.0 - 1e-6)
    coef = getattr(model, "coef_", np.empty(0))
    away = (coef[0] - plain.coef_[0]) / errors if np.shape(coef) == plain.coef_.shape else math.nan
    return (
        float(log_loss(truth, chance)),
        float(np.mean((chance > 0.5) == truth)),
        float(roc_auc_score(truth, chance)),
        float(np.sqrt(np.mean(np.square(away)))),
    )


def compared(rows, epsilon, seed, x_bound):
    _quiet()
    X, y, test, truth = rows
    plain, errors = likelihood_fit(X, y)
    fits = {"maximum likelihood": plain, "discriminant analysis": LinearDiscriminantAnalysis().fit(X, y)}
    fits |= {name: model.fit(X, y) for name, model in methods(epsilon, seed, x_bound).items()}
    found = {name: measured(model, plain, errors, test, truth) for name, model in fits.items()}
    found["discriminant analysis"] = (*found["discriminant analysis"][:3], math.nan)
    return found


def normal(epsilon, seed, n=10_000, p=10):
    """Normal columns of unit variance, a quarter of the rows in the second class."""
    rng = np.random.default_rng([seed, 61])
    slopes = 2.0 / np.arange(1, p + 1)
    X = rng.normal(size=(2 * n, p))
    y = (rng.uniform(size=2 * n) < expit(X @ slopes - 1.8)).astype(int)
    return compared((X[:n], y[:n], X[n:], y[n:]), epsilon, seed, 1.5 * math.sqrt(p))


def one_hot(epsilon, seed, n=26_000):
    """Five numbers and five factors of 9, 16, 7, 14 and 4 levels, as in a census: 50 columns, a quarter in the second class."""
    rng = np.random.default_rng([seed, 62])
    parts, slopes = [rng.normal(size=(n + 8000, 5))], [0.8 * rng.normal(size=5)]
    for levels in (9, 16, 7, 14, 4):
        chosen = rng.choice(levels, p=rng.dirichlet(np.full(levels, 2.0)), size=n + 8000)
        parts.append(chosen[:, None] == np.arange(1, levels))
        slopes.append(0.8 * rng.normal(size=levels - 1))
    X, slopes = np.column_stack(parts).astype(float), np.concatenate(slopes)
    odds = X @ slopes
    y = (rng.uniform(size=len(X)) < expit(odds - np.quantile(odds, 0.8))).astype(int)
    return compared((X[:n], y[:n], X[n:], y[n:]), epsilon, seed, 4.0)


def credit(epsilon, seed):
    X, y = load_credit_default(return_X_y=True)
    order = np.random.default_rng([seed, 63]).permutation(len(X))
    train, test = order[:24_000], order[24_000:]
    return compared((X[train], y[train], X[test], y[test]), epsilon, seed, 5.0)


TASKS = {
    "normal columns, n=10,000, p=10": (normal, "odds_normal"),
    "numbers and factors, n=26,000, p=50": (one_hot, "odds_factors"),
    "credit default, 24,000 training rows": (credit, "odds_credit"),
}
HEADER = ["epsilon", "method", *MEASURES, "runs"]


def table(runs):
    """One line for each epsilon and method: means over the runs."""
    lines = []
    for epsilon, found in runs.items():
        means = {name: np.mean([run[name] for run in found], axis=0) for name in found[0]}
        tried = {name: means.pop(name) for name in [*means] if name.startswith(HINDSIGHT)}
        means[HINDSIGHT] = min(tried.values(), key=lambda values: values[0])
        for name, values in means.items():
            lines.append([f"{epsilon:g}", name, *("" if math.isnan(v) else f"{v:.4g}" for v in values), len(found)])
    return lines


def main(replications, only=None):
    for title, (task, name) in TASKS.items():
        if only not in (None, name):
            continue
        runs = {e: parallel(task, [(e, s) for s in range(replications)], f"{name} epsilon={e}") for e in EPSILONS}
        show(f"{title}, delta={DELTA:g}, {replications} replications", HEADER, table(runs), f"compare_{name}")
