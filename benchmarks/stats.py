"""make bench-stats: statistics against their non-private values and CoinPress, how often intervals hold the truth, and speed.

--only makes some tables, --match those of their rows whose label matches; others stay as they are.
"""

from __future__ import annotations

import argparse
import re
import time

import numpy as np
from sklearn import metrics

import eptr
from eptr import rivals, stats

from .accuracy import _quiet, parallel
from .tables import kept, show

DELTA = 1e-6
WIDE = 40.0  # ten times too wide for normal columns: four standard deviations would do
# CoinPress takes three steps, with which it does best here. It must know the scale: for means all of it, for covariances a bound,
# which is ten times the variance.
KNOWN = {"mean": 1.0, "covariance": np.sqrt(10.0)}


def normal_mean(n, d, mu, relation, seed):
    """Distances from the true mean: of the sample's, of ours, of CoinPress's."""
    _quiet()
    rng = np.random.default_rng([seed, n, d])
    truth = rng.uniform(-3, 3, size=d)
    X, settings = truth + rng.normal(size=(n, d)), _settings(mu, relation, seed)
    ours = stats.mean(X, (-WIDE, WIDE), **settings).value
    rival = rivals.CoinPress(steps=3, scale=KNOWN["mean"], **settings).mean(X, (-WIDE, WIDE)).value
    return [float(np.linalg.norm(m - truth)) for m in (X.mean(axis=0), ours, rival)]


def normal_covariance(n, d, mu, relation, seed):
    """Frobenius distances from the identity, which is the truth: Mahalanobis'."""
    _quiet()
    rng = np.random.default_rng([seed, n, d])
    X, settings = rng.normal(size=(n, d)), _settings(mu, relation, seed)
    ours = stats.covariance(X, (-WIDE, WIDE), **settings).value
    rival = rivals.CoinPress(steps=3, scale=KNOWN["covariance"], **settings).covariance(X, (-WIDE, WIDE)).value
    return [float(np.linalg.norm(m - np.eye(d))) for m in (np.cov(X.T), ours, rival)]


def _settings(mu, relation, seed):
    return {
        "epsilon": eptr.gaussian_epsilon(delta=DELTA, mu=mu),
        "delta": DELTA,
        "neighbours": relation,
        "random_state": seed,
    }


TASKS = {"mean": (normal_mean, 50, (1000, 10_000)), "covariance": (normal_covariance, 10, (3000, 8000))}

# name: how to draw n values, their mean and variance, public bounds
COLUMNS = {
    "incomes, range 100 x": (lambda g, n: g.lognormal(0, 1, n), np.exp(0.5), (np.e - 1) * np.e, (0, 2000)),
    "normal": (lambda g, n: g.normal(37, 1, n), 37.0, 1.0, (-100, 400)),
    "exponential": (lambda g, n: g.exponential(1, n), 1.0, 1.0, (0, 1000)),
    "uniform": (lambda g, n: g.random(n), 0.5, 1 / 12, (0, 1)),
    "t, 5 degrees": (lambda g, n: g.standard_t(5, n), 0.0, 5 / 3, (-1000, 1000)),
    "t, 3 degrees": (lambda g, n: g.standard_t(3, n), 0.0, 3.0, (-1000, 1000)),
    "share of .3": (lambda g, n: (g.random(n) < 0.3).astype(float), 0.3, 0.21, (0, 1)),
    "share of .002": (lambda g, n: (g.random(n) < 0.002).astype(float), 0.002, 0.002 * 0.998, (0, 1)),
    "counts": (lambda g, n: g.poisson(0.3, n).astype(float), 0.3, 0.3, (0, 100)),
    "nine tenths zeros": (lambda g, n: (g.random(n) < 0.1) * g.exponential(1, n), 0.1, 0.19, (0, 100)),
    "incomes, six tenths zeros": (
        lambda g, n: (g.random(n) < 0.4) * g.lognormal(0, 1, n),
        0.4 * np.exp(0.5),
        0.4 * np.e**2 - 0.16 * np.e,
        (0, 2000),
    ),
    "weekly hours, most 40": (
        lambda g, n: np.where(g.random(n) < 0.6, 40.0, g.integers(1, 70, n)),
        38.0,
        164.0 + 2 / 3,
        (0, 168),
    ),
    "Pareto, 2.5": (lambda g, n: 1.0 + g.pareto(2.5, n), 5 / 3, 20 / 9, (0, 1000)),
}


def column(statistic, name, n, epsilon, seed):
    """Errors of the private value and of the sample's, whether intervals of both hold the truth, and the width of ours."""
    _quiet()
    draw, mean, variance, bounds = COLUMNS[name]
    x = draw(np.random.default_rng([seed, n, 7]), n)
    truth, terms = (mean, x) if statistic == "mean" else (variance, (x - x.mean()) ** 2)
    answer = getattr(stats, statistic)(x, bounds, epsilon=epsilon, delta=DELTA, random_state=seed)
    error = terms.mean() - truth
    plain = abs(error) <= 1.96 * terms.std() / np.sqrt(n)
    return answer.value - truth, error, answer.low <= truth <= answer.high, plain, answer.high - answer.low


def matrix(statistic, n, d, epsilon, seed):
    """Share of entries above the diagonal whose interval holds the truth; columns correlated by .5."""
    _quiet()
    rng = np.random.default_rng([seed, n, 9])
    truth = 0.5 + 0.5 * np.eye(d)
    X = rng.normal(size=(n, d)) @ np.linalg.cholesky(truth).T
    answer = getattr(stats, statistic)(X, (-WIDE, WIDE), epsilon=epsilon, delta=DELTA, random_state=seed)
    found = ((answer.low <= truth) & (truth <= answer.high))[np.triu_indices(d, 1)]
    return float(found.mean())


class Model:
    """A public model of the columns below."""

    classes_ = np.array([0, 1])

    def predict_proba(self, x):
        p = 1.0 / (1.0 + np.exp(-(x @ [0.9, -0.9, 0.4] - 0.8)))
        return np.column_stack([1.0 - p, p])

    def predict(self, x):
        return (self.predict_proba(x)[:, 1] > 0.5).astype(int)


class Line:
    """A public line."""

    def predict(self, x):
        return x @ [0.9, -0.9, 0.4]


class Price:
    """A public line, of outcomes that are skewed."""

    def predict(self, x):
        return 3534.0 + 1760.0 * x[:, 0]


PLAIN = {
    "accuracy": lambda y, model, X: metrics.accuracy_score(y, model.predict(X)),
    "neg_log_loss": lambda y, model, X: -metrics.log_loss(y, model.predict_proba(X)),
    "neg_brier_score": lambda y, model, X: -metrics.brier_score_loss(y, model.predict_proba(X)[:, 1]),
    "roc_auc": lambda y, model, X: metrics.roc_auc_score(y, model.predict_proba(X)[:, 1]),
    "neg_mean_squared_error": lambda y, model, X: -metrics.mean_squared_error(y, model.predict(X)),
    "r2": lambda y, model, X: metrics.r2_score(y, model.predict(X)),
}


SKEWED = ", skewed y"


def held_out(scoring, n, seed):
    """A public model, and rows that it has not seen."""
    rng = np.random.default_rng([seed, n, 11])
    X = rng.normal(size=(n, 3))
    if scoring.endswith(SKEWED):
        return Price(), X, np.exp(8.0 + 0.5 * X[:, 0] + rng.normal(0.0, 0.3, n))
    z = X @ [1.0, -1.0, 0.5]
    if scoring in ("r2", "neg_mean_squared_error"):
        return Line(), X, z + rng.normal(size=n)
    return Model(), X, (z - 1.0 + rng.logistic(size=n) > 0).astype(int)


def plain_score(scoring, n, seed):
    model, X, y = held_out(scoring, n, seed)
    return PLAIN[scoring.removesuffix(SKEWED)](y, model, X)


def one_score(scoring, n, epsilon, truth, seed):
    _quiet()
    model, X, y = held_out(scoring, n, seed)
    options = {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
    ranges = {Line: (-100, 100), Price: (0, 100_000)}
    options |= {"y_range": ranges[type(model)]} if type(model) in ranges else {}
    answer = stats.score(model, X, y, scoring=scoring.removesuffix(SKEWED), **options)
    return answer.value - truth, plain_score(scoring, n, seed) - truth, answer.low <= truth <= answer.high


def rms(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


def note(cover, plain=0.95):
    """Whether an interval holds too seldom or too often, and whether the one without privacy does."""
    if 0.93 <= cover <= 0.98:
        return ""
    missed = "too wide" if cover > 0.98 else "too short"
    return f"{missed}; the plain interval is, too" if cover < 0.93 and plain < 0.93 else missed


def against_coinpress(runs, match):
    head = ["statistic", "columns", "n", "neighbours", "ours / non-private", "CoinPress / non-private"]
    for name, (task, d, sizes) in TASKS.items():
        for relation in ("replace-one", "zero-out"):
            for n in sizes if re.search(match, f"{name} {relation}") else ():
                found = np.array(parallel(task, [(n, d, 1.0, relation, s) for s in range(runs)], f"{name} {n}"))
                sample, ours, rival = found.mean(axis=0)
                table = kept("stats_normal", head, [name, d, n, relation, ours / sample, rival / sample], 4)
    title = f"normal rows, mu = 1, bounds ten times too wide, {runs} paired runs"
    show(title, head, table, "stats_normal")


def columns(runs, match):
    head = ["statistic", "column", "n", "epsilon", "rmse / sampling", "coverage", "coverage, non-private"]
    head += ["width / non-private", "note"]
    cells = [("mean", name, e) for name in COLUMNS for e in (1.0, 4.0)] + [("variance", name, 1.0) for name in COLUMNS]
    n = 10_000
    for statistic, name, epsilon in cells:
        if not re.search(match, f"{statistic} {name} {epsilon:g}"):
            continue
        found = parallel(column, [(statistic, name, n, epsilon, s) for s in range(runs)], f"{statistic} {name}")
        ours, sample, held, plain, widths = np.array(found, dtype=float).T
        cover, width = float(held.mean()), float(np.median(widths)) / (2 * 1.96 * float(np.std(sample)))
        row = [statistic, name, n, epsilon, rms(ours) / rms(sample), cover, float(plain.mean()), width]
        row.append(note(cover, float(plain.mean())))
        table = kept("stats_columns", head, row, 4)
    show(f"one column, delta = 1e-6, {runs} runs", head, table, "stats_columns")


def matrices(intervals, match):
    head, d = ["statistic", "columns", "n", "epsilon", "coverage", "note"], 5
    runs = -(-intervals // (d * (d - 1) // 2))
    for statistic in ("covariance", "correlation"):
        for n, epsilon in ((10_000, 1.0), (10_000, 4.0)) if re.search(match, statistic) else ():
            cover = float(np.mean(parallel(matrix, [(statistic, n, d, epsilon, s) for s in range(runs)], statistic)))
            table = kept("stats_matrices", head, [statistic, d, n, epsilon, cover, note(cover)], 4)
    title = f"entries of matrices, {runs * d * (d - 1) // 2} intervals a cell"
    show(title, head, table, "stats_matrices")


def scores(runs, match):
    head = ["scoring", "n", "epsilon", "truth", "rmse", "sampling error", "coverage", "note"]
    for scoring in (*PLAIN, *(name + SKEWED for name in ("neg_mean_squared_error", "r2"))):
        if not re.search(match, scoring):
            continue
        truth = float(np.mean([plain_score(scoring, 200_000, 10_000 + s) for s in range(5)]))
        for n, epsilon in ((2000, 1.0), (10_000, 1.0)):
            found = np.array(
                parallel(one_score, [(scoring, n, epsilon, truth, s) for s in range(runs)], scoring), dtype=float
            )
            cover = float(found[:, 2].mean())
            row = [scoring, n, epsilon, truth, rms(found[:, 0]), rms(found[:, 1]), cover, note(cover)]
            table = kept("stats_scores", head, row, 3)
    show(f"scores of a public model, {runs} runs", head, table, "stats_scores")


def speed():
    """Best of five rounds, in which all take their turns: what else the machine does concerns them alike."""
    _quiet()
    X = np.random.default_rng(0).normal(3, 1, size=(1_000_000, 20))
    tasks = {"numpy mean and std": lambda: (X.mean(axis=0), X.std(axis=0))}
    for name in ("mean", "variance", "covariance"):
        tasks[f"stats.{name}"] = lambda name=name: getattr(stats, name)(X, (-50, 50), epsilon=1.0)
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(5):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    table = [[name, taken, taken / best["numpy mean and std"]] for name, taken in best.items()]
    show("20 columns of 1e6 rows", ["what", "seconds", "of numpy's"], table, "stats_speed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--intervals", type=int, default=2000)
    parser.add_argument("--only", nargs="*", choices=["normal", "columns", "matrices", "scores", "speed"])
    parser.add_argument("--match", default="")
    asked = parser.parse_args()
    parts = {
        "normal": lambda: against_coinpress(asked.runs, asked.match),
        "columns": lambda: columns(asked.intervals, asked.match),
        "matrices": lambda: matrices(asked.intervals, asked.match),
        "scores": lambda: scores(asked.intervals, asked.match),
        "speed": speed,
    }
    for name, part in parts.items():
        if name in (asked.only or parts):
            part()


if __name__ == "__main__":
    main()
