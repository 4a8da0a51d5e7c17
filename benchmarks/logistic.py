"""Logistic regression against scikit-learn without penalty: coefficients, intervals, prediction and speed; seeded.

`python -m benchmarks.logistic coefficients | census | speed`. Distances are in robust standard errors of the
non-private fit to the same rows. A method is a function of (rows, labels, bounds, epsilon, seed); METHODS lists them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import eptr

from .accuracy import _quiet, parallel
from .life import correlation, covered, sigmoid
from .tables import show

DELTA = 1e-6
SLOPES = np.array([0.5, -0.3, 0.2])


@dataclass(frozen=True)
class Setting:
    """Log odds ``intercept`` + x'slopes. ``columns(rng, n)`` draws x; ``bounds`` is what a careful user knows."""

    name: str
    columns: Callable
    slopes: np.ndarray
    intercept: float
    bounds: dict
    cells: tuple = ((30_000, 1.0), (30_000, 4.0))

    def sample(self, n, seed):
        rng = np.random.default_rng([seed, n, *self.name.encode()])
        x = self.columns(rng, n)
        return x, (rng.uniform(size=n) < sigmoid(x @ self.slopes + self.intercept)).astype(int)

    @property
    def truth(self):
        return np.append(self.slopes, self.intercept)


def normal(rng, n):
    return rng.normal(size=(n, 3)) @ np.linalg.cholesky(correlation(3)).T


def heavy(rng, n):
    return rng.standard_t(4, size=(n, 3)) / np.sqrt(2.0)


def shares(levels):
    """Of the levels of a factor: the first is common, the last rare."""
    weights = 1.0 / np.arange(1, levels + 1) ** 1.2
    return weights / weights.sum()


def one_hot(factors):
    """Columns of zeros and ones, the first level of every factor left out."""

    def draw(rng, n):
        return np.hstack([rng.choice(k, size=n, p=shares(k))[:, None] == np.arange(1, k) for k in factors]).astype(
            float
        )

    return draw


NEAR = {"x_bound": 1.5 * np.sqrt(3.0)}
FEW_FACTORS, MANY_FACTORS = (4, 3, 3), (8, 7, 7, 6, 6, 5, 5, 5, 4, 5, 2)
SETTINGS = [
    Setting("balanced", normal, SLOPES, 0.0, NEAR),
    Setting("10 % positives", normal, SLOPES, -2.35, NEAR),
    Setting("3 % positives", normal, SLOPES, -3.65, NEAR),
    Setting("heavy-tailed columns", heavy, SLOPES, -1.0, NEAR),
    Setting("one-hot columns", one_hot(FEW_FACTORS), np.linspace(-1.0, 1.0, 7), -1.0, {"x_range": (0, 1)}),
]


def census(seed):
    """A design like a census extract: 49 one-hot columns, 24 % positives, a non-private log loss of about .33."""
    rng = np.random.default_rng([seed, 7])
    effects = [np.append(0.0, rng.normal(size=k - 1)) for k in MANY_FACTORS]
    effects = [w * e for w, e in zip(rng.permutation(0.6 ** np.arange(len(effects))), effects, strict=True)]
    spread = sum(shares(len(e)) @ (e - shares(len(e)) @ e) ** 2 for e in effects)
    effects = [2.2 * e / np.sqrt(spread) for e in effects]
    middle = sum(shares(len(e)) @ e for e in effects)
    slopes = np.concatenate([e[1:] for e in effects])
    return Setting("census", one_hot(MANY_FACTORS), slopes, -1.95 - middle, {"x_range": (0, 1)})


def related(seed):
    """The same, with columns that go together, as those of a census do: levels follow two traits of a person, which the outcome
    follows in part. Cramer's V of two factors is .2 on average, and up to .4.
    """
    plain, rng = census(seed), np.random.default_rng([seed, 11])
    loads = [rng.normal(size=(2, k)) for k in MANY_FACTORS]

    def draw(rng, n):
        traits = rng.normal(size=(n, 2))
        odds = [
            np.log(shares(k)) + traits @ load + rng.gumbel(size=(n, k))
            for k, load in zip(MANY_FACTORS, loads, strict=True)
        ]
        return np.hstack([each.argmax(axis=1)[:, None] == np.arange(1, each.shape[1]) for each in odds]).astype(float)

    x = draw(rng, 20_000)
    slopes = plain.slopes + 0.5 * np.concatenate([load[0, 1:] - load[0, 0] for load in loads])
    slopes = 2.2 * slopes / np.std(x @ slopes)
    intercept = brentq(lambda a: np.mean(sigmoid(x @ slopes + a)) - 0.24, -30.0, 30.0)
    return Setting("related", draw, slopes, intercept, plain.bounds)


DESIGNS = {"independent": census, "going together": related}


def ours(X, y, bounds, epsilon, seed, **settings):
    return eptr.LogisticRegression(epsilon, DELTA, classes=[0, 1], random_state=seed, **bounds, **settings).fit(X, y)


# What else fits a binary outcome and has predict_proba: a rival is one more line.
METHODS: dict[str, Callable] = {"LogisticRegression": ours}
PREDICTING = METHODS | {"LogisticRegression, zero-out": partial(ours, neighbours="zero-out")}


def plain(X, y):
    """Maximum likelihood and its robust standard errors, the intercept last."""
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(X, y)
    beta = np.append(model.coef_[0], model.intercept_)
    wide = np.column_stack([X, np.ones(len(X))])
    q = sigmoid(wide @ beta)
    inverse = np.linalg.inv((wide * (q * (1 - q))[:, None]).T @ wide)
    score = wide * (y - q)[:, None]
    return model, beta, np.sqrt(np.diag(inverse @ (score.T @ score) @ inverse))


def coefficients(place, n, epsilon, seed):
    """For the non-private fit and every method, in standard errors: estimate - MLE, and ends of intervals - truth."""
    _quiet()
    setting = SETTINGS[place]
    X, y = setting.sample(n, seed)
    _, beta, errors = plain(X, y)
    found = {"MLE": [0.0 * beta, *((beta + s * errors - setting.truth) / errors for s in (-1.96, 1.96))]}
    for name, method in METHODS.items():
        model = method(X, y, setting.bounds, epsilon, seed)
        ends = (
            (model.conf_int().T - setting.truth) / errors
            if hasattr(model, "conf_int")
            else np.full((2, len(beta)), np.nan)
        )
        found[name] = [(np.append(model.coef_[0], model.intercept_) - beta) / errors, *ends]
    return {name: np.array(rows) for name, rows in found.items()}


def by_cell(count, only):
    """``count``: runs of a cell; without it, as many as have 2,000 intervals."""
    for place, setting in enumerate(SETTINGS):
        if only and not any(part in setting.name for part in only):
            continue
        runs = count or 2000 // len(setting.truth)
        for n, epsilon in setting.cells:
            label = f"{setting.name}, n={n}, epsilon={epsilon:g}"
            found = parallel(coefficients, [(place, n, epsilon, seed) for seed in range(runs)], label)
            yield setting, n, epsilon, {name: np.array([run[name] for run in found]) for name in found[0]}


def distances_and_intervals(count, only):
    distances, intervals = [], []
    for setting, n, epsilon, arrays in by_cell(count, only):
        runs = len(arrays["MLE"])
        away = [float(np.sqrt(np.mean(arrays[m][:, 0] ** 2))) for m in METHODS]
        distances.append([setting.name, n, epsilon, runs, *away])
        held, width, told = covered(arrays["LogisticRegression"])
        without, _, _ = covered(arrays["MLE"])
        shown = [held.mean(), held.min(), without.mean(), without.min(), told, width.mean(), width.max()]
        intervals.append([setting.name, n, epsilon, runs, *map(float, shown)])
    cell = ["outcome", "n", "epsilon", "runs"]
    title = f"rms distance from maximum likelihood in its robust s.e., delta={DELTA:g}"
    show(title, [*cell, *METHODS], distances, None if only else "logistic_accuracy")
    header = [*cell, "coverage", "worst", "MLE", "MLE worst", "told", "width / MLE", "widest"]
    title = f"95 % intervals for the population's coefficient, delta={DELTA:g}"
    show(title, header, intervals, None if only else "logistic_coverage")


def prediction(design, epsilon, seed):
    """Log loss relative to the non-private one, points of accuracy and of AUC lost, by method, on 8,000 fresh rows."""
    _quiet()
    setting = DESIGNS[design](seed)
    (X, y), (fresh, truth) = setting.sample(26_000, seed), setting.sample(8000, seed + 10**6)
    exact = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y).predict_proba(fresh)[:, 1]
    found = []
    for method in PREDICTING.values():
        q = method(X, y, setting.bounds, epsilon, seed).predict_proba(fresh)[:, 1]
        found.append(
            [
                log_loss(truth, q) / log_loss(truth, exact) - 1.0,
                accuracy_score(truth, exact > 0.5) - accuracy_score(truth, q > 0.5),
                roc_auc_score(truth, exact) - roc_auc_score(truth, q),
            ]
        )
    return found


def predict_census(count, only):
    rows = []
    for design in DESIGNS:
        for epsilon in (0.1, 0.25, 0.5, 1.0, 4.0):
            tasks = [(design, epsilon, seed) for seed in range(count)]
            runs = 100 * np.array(parallel(prediction, tasks, f"census, {design}, epsilon={epsilon:g}"))
            for k, method in enumerate(PREDICTING):
                worst = float(np.quantile(runs[:, k, 0], 0.95))
                rows.append([design, method, epsilon, count, *map(float, runs[:, k].mean(axis=0)), worst])
    shown = ["log loss, % more", "accuracy, points lost", "AUC, points lost", "log loss, one run in twenty"]
    show(
        f"49 one-hot columns, n=26,000, delta={DELTA:g}, {count} paired runs",
        ["columns", "method", "epsilon", "runs", *shown],
        rows,
        None if only else "logistic_census",
    )


def speed(count, only):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10**6, 20))
    y = (rng.uniform(size=len(X)) < sigmoid(X @ rng.normal(size=20) / 4.0)).astype(int)
    fits = {
        "scikit-learn, lbfgs": lambda: LogisticRegression(C=np.inf).fit(X, y),
        "eptr": lambda: ours(X, y, {"x_bound": 1.5 * np.sqrt(20)}, 1.0, 0),
    }
    times = {name: [] for name in fits}
    for _ in range(count):  # in turn, so that whatever else the machine does meets all of them
        for name, fit in fits.items():
            start = time.perf_counter(), time.process_time()
            fit()
            times[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
    rows = [[name, *map(min, zip(*taken, strict=True))] for name, taken in times.items()]
    header = ["what", "seconds", "CPU seconds"]
    show("a fit of 1e6 x 20, the best of some", header, rows, "logistic_speed")


TABLES = {
    "coefficients": (distances_and_intervals, None),
    "census": (predict_census, 200),
    "speed": (speed, 12),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--replications", type=int)
    parser.add_argument("--only", action="append", help="part of a setting's name; prints without saving")
    arguments = parser.parse_args()
    table, count = TABLES[arguments.table]
    _quiet()
    table(arguments.replications or count, arguments.only)


if __name__ == "__main__":
    main()
