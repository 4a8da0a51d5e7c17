"""make bench-monotone: does more budget, or do more rows, ever make a fit worse? Seeded, delta = 1e-6.

The cheapest sign of a wrong turn. Tables that look like life, each fitted on the same rows with seven budgets, and how far
predictions are from those of the fit without privacy: the median excess of squared error (log loss of classifiers), in units
of what that fit gains over a constant. Flagged is a budget at which the error is ``WORSE`` times that of a smaller one, or of
fewer rows, or the loss ``ABOVE`` times that of a constant (that of one run, if half of them have less than ``SURELY``), or more
than ``WRONG`` of the told intervals, of fits that say clipping was undone, miss the estimate without privacy by three of their
standard errors. --only NAME picks tables by name.
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import eptr

from .accuracy import _quiet, parallel
from .tables import show

BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
WORSE, ABOVE, SURELY, WRONG, TINY = (
    1.3,
    1.1,
    0.75,
    0.05,
    0.02,
)  # TINY: errors below this share of the gain are all the same


def normals(rng, n, p, rho):
    """Neighbours in a row are alike."""
    z = rng.normal(size=(n, p))
    for j in range(1, p):
        z[:, j] = rho * z[:, j - 1] + math.sqrt(1.0 - rho**2) * z[:, j]
    return z


def one_hot(rng, n, factors, levels):
    """Answers that follow two latent traits, their first level left out."""
    traits, columns = rng.normal(size=(n, 2)), []
    for _ in range(factors):
        seen = traits @ rng.normal(size=2) + rng.normal(size=n)
        ends = np.quantile(seen, np.cumsum(np.arange(levels, 0.0, -1.0))[:-1] / (levels * (levels + 1) / 2))
        columns += [(np.digitize(seen, ends) == k).astype(float) for k in range(1, levels)]
    return np.column_stack(columns)


def everyone(rng, n, wide=0.0):
    """Age, schooling, income, two dummies (one rare), a year; the ranges are so many times their width too wide."""
    age = rng.uniform(18.0, 90.0, n)
    school = np.clip(np.round(rng.normal(13.0 - 0.02 * (age - 40.0), 2.5)), 0, 22)
    income = np.clip(rng.lognormal(9.2 + 0.08 * school, 0.7), 0.0, 1e6)
    sex, rare = rng.random(n) < 0.5, rng.random(n) < 0.02
    year = np.round(rng.normal(1975.0, 14.0, n)).clip(1900, 2030)
    ends = [(0.0, 110.0), (0.0, 25.0), (0.0, 1e6), (0.0, 1.0), (0.0, 1.0), (1900.0, 2030.0)]
    ends = [(a, b) if b == 1.0 else (a - wide * (b - a), b + wide * (b - a)) for a, b in ends]
    return np.column_stack([age, school, income, sex, rare, year]), ends


def interacting(rng, n):
    """A curve in age, and another for each sex."""
    age, sex = rng.uniform(18.0, 90.0, n), (rng.random(n) < 0.5).astype(float)
    x = np.column_stack([age, age**2, sex, age * sex, age**2 * sex])
    return x, [(0, 110), (0, 12_100), (0, 1), (0, 110), (0, 12_100)]


def tails(rng, n):
    x = np.column_stack([rng.lognormal(10.0, 0.8, n), 10.0 * (1.0 + rng.pareto(2.5, n)), rng.poisson(1.5, n)])
    zeros = np.where(rng.random(n) < 0.15, rng.lognormal(7.0, 1.0, n), 0.0)
    ends = [(0.0, 500_000.0), (0.0, 2000.0), (0.0, 50.0), (0.0, 100_000.0)]
    return np.clip(np.column_stack([x, zeros]), *np.transpose(ends)), ends


def measurements(rng, n):
    """Twelve measurements of three things, skewed and going together, as of voices, and four others; ranges in round numbers."""
    load = np.random.default_rng(12).normal(size=(3, 12))
    same = rng.normal(size=(n, 3)) @ (load / np.linalg.norm(load, axis=0))
    many = np.exp(0.8 * (math.sqrt(0.85) * same + math.sqrt(0.15) * rng.normal(size=(n, 12))))
    return np.clip(
        np.column_stack([many, rng.normal(size=(n, 4))]),
        *zip(*(ends := [(0.0, 20.0)] * 12 + [(-5.0, 5.0)] * 4), strict=True),
    ), ends


def mixtures(rng, n):
    """Six parts that add up to a thousand, and an age of few values, most of them small."""
    days = rng.choice(
        [1, 3, 7, 14, 28, 56, 90, 180, 270, 365], n, p=[0.01, 0.13, 0.12, 0.06, 0.42, 0.09, 0.08, 0.04, 0.03, 0.02]
    )
    return np.column_stack([1000.0 * rng.dirichlet([3.0] * 6, n), days]), [(0.0, 1000.0)] * 6 + [(0.0, 400.0)]


def rare_levels(rng, n):
    common = normals(rng, n, 2, 0.3)
    dummies = rng.random((n, 6)) < np.array([0.005, 0.01, 0.01, 0.02, 0.03, 0.05])
    return np.column_stack([common, dummies]), [(-4.0, 4.0)] * 2 + [(0.0, 1.0)] * 6


def in_ranges(p, rho, wide, centre=0.0):
    return lambda rng, n: (centre + normals(rng, n, p, rho), [(centre - 4.0 * wide, centre + 4.0 * wide)] * p)


def off_centre(p):
    """Narrow columns near one end of a range that is a hundred times as wide."""
    return lambda rng, n: (100.0 + normals(rng, n, p, 0.5), [(0.0, 1000.0)] * p)


def coded(factors, levels):
    return lambda rng, n: (one_hot(rng, n, factors, levels), [(0.0, 1.0)] * (factors * (levels - 1)))


COLUMNS = {
    "5 normal": in_ranges(5, 0.0, 1.0),
    "5 normal, 10x": in_ranges(5, 0.0, 10.0),
    "5 normal, 100x": in_ranges(5, 0.0, 100.0),
    "6 neighbours": in_ranges(6, 0.9, 1.0),
    "20 neighbours": in_ranges(20, 0.9, 1.0),
    "40 neighbours, 10x": in_ranges(40, 0.9, 10.0),
    "4 off centre": off_centre(4),
    "3 factors": coded(3, 4),
    "8 factors": coded(8, 5),
    "15 factors": coded(15, 5),
    "everyone": everyone,
    "everyone, 10x": lambda rng, n: everyone(rng, n, 4.5),
    "interacting": interacting,
    "long tails": tails,
    "rare levels": rare_levels,
    "measurements": measurements,
    "mixtures": mixtures,
}


def binary(share):
    def draw(rng, eta, z):
        odds = 1.5 * eta
        at = np.quantile(odds + rng.logistic(size=len(eta)), 1.0 - share)
        return (odds + rng.logistic(size=len(eta)) > at).astype(float)

    return draw


OUTCOMES = {
    "normal": (lambda rng, eta, z: eta + rng.normal(size=len(eta)), (-8.0, 8.0)),
    "normal, 10x": (lambda rng, eta, z: eta + rng.normal(size=len(eta)), (-80.0, 80.0)),
    "normal, 100x": (lambda rng, eta, z: eta + rng.normal(size=len(eta)), (-800.0, 800.0)),
    "exact": (lambda rng, eta, z: eta + 0.05 * rng.normal(size=len(eta)), (-8.0, 8.0)),
    "far": (lambda rng, eta, z: 500.0 + eta + rng.gamma(2.0, 1.0, len(eta)), (0.0, 2000.0)),
    "skewed": (lambda rng, eta, z: np.exp(0.5 * eta + 0.9 * rng.normal(size=len(eta))), (0.0, 60.0)),
    "zeros": (
        lambda rng, eta, z: np.exp(0.5 * eta + 0.8 * rng.normal(size=len(eta))) * (rng.random(len(eta)) < 0.15),
        (0.0, 60.0),
    ),
    "counts": (lambda rng, eta, z: rng.poisson(np.exp(0.5 * eta)).astype(float), (0.0, 100.0)),
    "growing": (lambda rng, eta, z: eta + np.exp(np.clip(z, -2.0, 2.0)) * rng.normal(size=len(eta)), (-30.0, 30.0)),
    "constant": (lambda rng, eta, z: np.full(len(eta), 3.0), (0.0, 10.0)),
    "1 %": (binary(0.01), (0.0, 1.0)),
    "5 %": (binary(0.05), (0.0, 1.0)),
    "20 %": (binary(0.2), (0.0, 1.0)),
    "50 %": (binary(0.5), (0.0, 1.0)),
}


class Design(NamedTuple):
    """A model, its columns and outcome by name, and the numbers of rows."""

    model: str
    columns: str
    outcome: str
    sizes: tuple[int, ...]

    @property
    def name(self):
        return f"{self.model}: {self.columns}; {self.outcome}"


FEW, SOME, MANY = (300, 1000), (1000, 5000), (5000, 26_000)
DESIGNS = [
    Design(*words)
    for words in (
        ("linear", "5 normal", "normal", FEW), ("linear", "5 normal", "normal", MANY),
        ("linear", "5 normal", "exact", SOME), ("linear", "5 normal, 10x", "normal, 10x", SOME),
        ("linear", "5 normal, 100x", "normal, 100x", MANY), ("linear", "6 neighbours", "growing", SOME),
        ("linear", "6 neighbours", "exact", MANY), ("linear", "20 neighbours", "normal", SOME),
        ("linear", "40 neighbours, 10x", "normal", MANY), ("linear", "4 off centre", "skewed", SOME),
        ("linear", "4 off centre", "far", MANY), ("linear", "3 factors", "normal", FEW),
        ("linear", "3 factors", "skewed", SOME), ("linear", "8 factors", "normal", SOME),
        ("linear", "8 factors", "exact", MANY), ("linear", "15 factors", "counts", MANY),
        ("linear", "everyone", "far", SOME), ("linear", "everyone", "zeros", MANY),
        ("linear", "everyone, 10x", "normal, 10x", MANY), ("linear", "interacting", "normal", SOME),
        ("linear", "interacting", "skewed", MANY), ("linear", "long tails", "skewed", MANY),
        ("linear", "long tails", "normal", SOME), ("linear", "rare levels", "growing", SOME),
        ("linear", "rare levels", "5 %", MANY), ("linear", "5 normal", "constant", SOME),
        ("linear", "measurements", "normal", SOME), ("linear", "measurements", "skewed", MANY),
        ("linear", "mixtures", "normal", FEW), ("linear", "mixtures", "counts", SOME),
        ("logistic", "5 normal", "50 %", FEW), ("logistic", "5 normal", "5 %", SOME),
        ("logistic", "5 normal", "1 %", MANY), ("logistic", "5 normal, 100x", "20 %", SOME),
        ("logistic", "6 neighbours", "20 %", SOME), ("logistic", "20 neighbours", "50 %", SOME),
        ("logistic", "40 neighbours, 10x", "20 %", MANY), ("logistic", "4 off centre", "50 %", SOME),
        ("logistic", "3 factors", "20 %", FEW), ("logistic", "8 factors", "5 %", MANY),
        ("logistic", "8 factors", "50 %", SOME), ("logistic", "15 factors", "20 %", MANY),
        ("logistic", "everyone", "20 %", SOME), ("logistic", "everyone, 10x", "5 %", MANY),
        ("logistic", "interacting", "50 %", SOME), ("logistic", "long tails", "20 %", SOME),
        ("logistic", "measurements", "50 %", SOME), ("logistic", "mixtures", "20 %", SOME),
        ("logistic", "rare levels", "5 %", SOME), ("logistic", "5 normal", "constant", SOME),
        ("shared", "5 normal", "50 %", FEW), ("shared", "5 normal, 100x", "20 %", MANY),
        ("shared", "6 neighbours", "20 %", SOME), ("shared", "20 neighbours", "50 %", SOME),
        ("shared", "4 off centre", "5 %", SOME), ("shared", "8 factors", "20 %", MANY),
        ("shared", "everyone", "20 %", SOME), ("shared", "long tails", "50 %", SOME),
        ("shared", "interacting", "50 %", SOME), ("shared", "rare levels", "5 %", MANY),
        ("identity", "5 normal", "50 %", FEW), ("identity", "5 normal", "1 %", SOME),
        ("identity", "5 normal, 10x", "20 %", MANY), ("identity", "3 factors", "20 %", SOME),
    )
]  # fmt: skip


def table(design, n, seed):
    """Columns, their ranges, an outcome and its range; the truth is the same for every size and seed."""
    rng = np.random.default_rng([seed, n])
    X, ranges = COLUMNS[design.columns](rng, n)
    z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    slopes = np.random.default_rng(len(ranges)).normal(size=len(ranges))
    eta = z @ slopes
    eta = 3.0 * np.tanh(eta / max(float(np.std(eta)), 1e-9) / 3.0)
    draw, y_range = OUTCOMES[design.outcome]
    return X, ranges, np.clip(draw(rng, eta, z[:, 0]), *y_range), y_range


def private(design, epsilon, ranges, y_range, seed):
    common = {"delta": 1e-6, "random_state": seed}
    if design.model == "linear":
        return eptr.LinearRegression(epsilon, x_range=ranges, y_range=y_range, **common)
    if design.model == "logistic":
        return eptr.LogisticRegression(epsilon, x_range=ranges, classes=[0, 1], **common)
    if design.model == "shared":
        return eptr.BayesClassifier(epsilon, covariance="shared", x_range=ranges, classes=[0, 1], **common)
    bound = math.sqrt(len(ranges)) * max(abs(end) for pair in ranges for end in pair)
    return eptr.BayesClassifier(epsilon, x_bound=bound / 2.0, classes=[0, 1], **common)


def losses(design, model, X, y):
    """Mean squared error or log loss of each row's prediction."""
    if design.model == "linear":
        return float(np.mean((y - model.predict(X)) ** 2))
    return float(log_loss(y, np.clip(model.predict_proba(X), 1e-12, 1.0), labels=[0, 1]))


class LeastSquares:
    """Coefficients with the intercept last, from centred columns in their own units."""

    def fit(self, X, y):
        middle, size = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
        slopes = np.linalg.lstsq((X - middle) / size, y - y.mean(), rcond=1e-10)[0] / size
        self.beta = np.append(slopes, y.mean() - middle @ slopes)
        return self

    def predict(self, X):
        return X @ self.beta[:-1] + self.beta[-1]


class Odds:
    """Maximum likelihood, or nearly where classes can be separated."""

    def fit(self, X, y):
        self.middle, self.size = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
        self.model = LogisticRegression(C=1e4, max_iter=2000).fit((X - self.middle) / self.size, y)
        slopes = self.model.coef_[0] / self.size
        self.beta = np.append(slopes, self.model.intercept_[0] - self.middle @ slopes)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba((X - self.middle) / self.size)


def public(design, X, y):
    """The fit without privacy, and the loss of a constant."""
    if design.model == "linear":
        return LeastSquares().fit(X, y), max(float(np.var(y)), 1e-4)
    share = float(np.clip(y.mean(), 1e-3, 1.0 - 1e-3))
    constant = -share * math.log(share) - (1.0 - share) * math.log(1.0 - share)
    if len(np.unique(y)) < 2:
        return None, constant
    model = Odds() if design.model == "logistic" else LinearDiscriminantAnalysis()
    return model.fit(X, y), constant


def one_run(design, n, seed, budgets=BUDGETS):
    """For each budget: the excess, what the fit without privacy gains, the loss of a constant, and how told intervals miss."""
    _quiet()
    X, ranges, y, y_range = table(design, n, seed)
    if design.outcome == "constant" and design.model != "linear":
        y = np.zeros(n)
    model, constant = public(design, X, y)
    best = 0.0 if model is None else losses(design, model, X, y)
    found = []
    for epsilon in budgets:
        fit = private(design, epsilon, ranges, y_range, seed).fit(X, y)
        wrong, told = missed(fit, model.beta) if hasattr(model, "beta") else (math.nan, math.nan)
        found.append((losses(design, fit, X, y) - best, constant - best, constant, wrong, told))
    return np.array(found)


def missed(fit, beta):
    """The share of told intervals that are wrong by three standard errors, of fits that claim to be good; what share is told."""
    low, high = np.asarray(fit.conf_int()).reshape(-1, 2).T
    told = np.isfinite(high - low) & bool(fit.corrected_)
    low, high = low[told], high[told]
    away = abs((low + high) / 2.0 - beta[told]) * 3.92 / np.maximum(high - low, 1e-300)
    return float(np.mean(away > 3.0)) if len(away) else math.nan, float(told.mean())


def worse(less, more, *, paired):
    """Whether errors with more are clearly larger than errors with less: in the median, and beyond what chance does."""
    if np.median(more) < max(WORSE * np.median(less), np.median(less) + TINY):
        return False
    if paired:
        step = np.log(np.maximum(more, TINY / 10)) - np.log(np.maximum(less, TINY / 10))
        return bool(np.mean(step) > 2.0 * np.std(step) / math.sqrt(len(step)))
    a, b = (np.log(np.maximum(v, TINY / 10)) for v in (less, more))
    return bool(np.mean(b) - np.mean(a) > 2.0 * math.sqrt((np.var(a) + np.var(b)) / len(a)))


def judged(design, runs):
    """The lines of a design, ``runs`` by size: an array of replications by budgets by what one_run tells."""
    lines, relative = [], {}
    for n, found in runs.items():
        gain = np.maximum(found[:, :, 1], 1e-3 * found[:, :, 2])
        relative[n] = error = found[:, :, 0] / gain
        above = (found[:, :, 0] + found[:, :, 2] - found[:, :, 1]) / found[:, :, 2]
        for j, epsilon in enumerate(BUDGETS):
            flags = [f"worse than {BUDGETS[i]:g}" for i in range(j) if worse(error[:, i], error[:, j], paired=True)][:1]
            fewer = [m for m in relative if m < n and worse(relative[m][:, j], error[:, j], paired=False)]
            flags += [f"worse than n={m}" for m in fewer]
            flags += ["above a constant"] * bool(np.median(above[:, j]) > ABOVE)
            seldom = np.median(above[:, j]) < SURELY and np.max(above[:, j]) > ABOVE
            flags += ["above a constant now and then"] * bool(seldom)
            wrong = found[:, j, 3]
            wrong = float(np.nanmean(wrong)) if np.any(np.isfinite(wrong)) else ""
            flags += ["intervals"] * bool(wrong != "" and wrong > WRONG)
            told = float(found[:, j, 4].mean())
            middle = [float(np.median(values[:, j])) for values in (error, above)]
            lines.append([design.name, n, epsilon, *middle, "" if math.isnan(told) else told, wrong, "; ".join(flags)])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--replications", type=int, default=15)
    asked, rows = parser.parse_args(), []
    chosen = [design for design in DESIGNS if asked.only in design.name]
    tasks = [(d, n, seed) for d in chosen for n in d.sizes for seed in range(asked.replications)]
    runs = dict(zip(tasks, parallel(one_run, tasks, "monotone"), strict=True))
    for d in chosen:
        rows += judged(d, {n: np.array([runs[d, n, s] for s in range(asked.replications)]) for n in d.sizes})
    words = ["error", "loss, in a constant's", "told", "wrong by 3", "flags"]
    name = None if asked.only else "monotone"
    show("more budget, more rows", ["design", "n", "epsilon", *words], rows, name)
    print(f"\n{sum(bool(row[-1]) for row in rows)} of {len(rows)} lines are flagged")


if __name__ == "__main__":
    main()
