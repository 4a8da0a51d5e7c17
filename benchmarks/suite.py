"""make bench-suite: least squares on nine public datasets against OLS and the rivals; needs EPTR_DATA_HOME; seeded.

Two protocols, each the same for every method. *scaled*: columns centred and scaled, rows of unit length, |y| <= 1, no intercept,
as Wang (2018) has it. *raw*: the columns as they are, with ranges in round numbers. Both take their bounds from the file, which
stands for a codebook: a comparison of methods, not a private analysis. Wages (CPS 2024) have ranges that anybody knows.
"""

from __future__ import annotations

import argparse
import gzip
import inspect
import os
from pathlib import Path

import numpy as np

import eptr
from eptr.rivals import DPGD, AdaSSP, BoostedAdaSSP, TukeyEM

from .accuracy import _quiet, our_forms, parallel
from .life import robust
from .tables import show

DELTA, EPSILONS = 1e-6, (1.0, 4.0)
DATASETS = ("airfoil", "concrete", "energy", "housing", "parkinsons", "pol", "protein", "skillcraft")
WAGES = "cps_wages"
# Years of schooling, years of experience and their square, female; log of yearly dollars, from one to three million.
WAGE_RANGES, LOG_WAGE = [(0.0, 22.0), (0.0, 60.0), (0.0, 3600.0), (0.0, 1.0)], (0.0, 15.0)


def table(name):
    """Column names, X and y of one dataset."""
    folder = os.environ.get("EPTR_DATA_HOME")
    if not folder or not (path := Path(folder) / "regression" / f"{name}.csv.gz").exists():
        raise SystemExit(f"Set EPTR_DATA_HOME to a folder that holds regression/{name}.csv.gz.")
    header, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    names, values = header.split(","), np.loadtxt(lines, delimiter=",")
    target = names.index("log_wage" if name == WAGES else "y")
    return np.delete(names, target).tolist(), np.delete(values, target, axis=1), values[:, target]


def round_range(values):
    """The smallest range in units of the leading digit of its width that holds all values."""
    low, high = float(values.min()), float(values.max())
    unit = 10.0 ** np.floor(np.log10(high - low))
    return float(np.floor(low / unit) * unit), float(np.ceil(high / unit) * unit)


def middle(ranges):
    low, high = np.array(ranges).T
    return (low + high) / 2, (high - low) / 2


class Mapped:
    """A fit of columns mapped publicly to [-1, 1], y too, for methods that take bounds and no ranges."""

    def __init__(self, model, x_ranges, y_range):
        self.model, self.x, self.y = model, middle(x_ranges), middle([y_range])

    def fit(self, X, y):
        self.model.fit((X - self.x[0]) / self.x[1], (y - self.y[0]) / self.y[1])
        slopes = self.model.coef_ / self.x[1] * self.y[1]
        self.coef_ = slopes
        self.intercept_ = float((self.y[0] + self.y[1] * self.model.intercept_).item() - slopes @ self.x[0])
        return self

    def predict(self, X):
        return X @ self.coef_ + self.intercept_


def rivals(arguments, p, intercept, seed):
    """Descent: the longest step that no curvature makes unstable, and gradients clipped at half of the largest first one."""
    shared = {"fit_intercept": intercept, "random_state": seed}
    square = arguments[2] ** 2 * (1.0 + intercept / p)
    descent = {"steps": 20, "step_size": 1.8 / square, "clip": np.sqrt(square) * arguments[3] / 2}
    return {
        "AdaSSP": AdaSSP(*arguments, **shared),
        "BoostedAdaSSP": BoostedAdaSSP(*arguments, **shared),
        "clipped descent": DPGD(*arguments, form="clipped", **descent, **shared),
        "TukeyEM": TukeyEM(*arguments[:2], **shared),
    }


def methods(columns, epsilon, p, seed, x_ranges=None, y_range=None):
    """Every method by name, ready to fit; ours takes raw columns with ranges where this version can."""
    if columns == "scaled":
        arguments = (epsilon, DELTA, 1.0, 1.0)
        ours = {
            name: eptr.LinearRegression(*arguments, fit_intercept=False, random_state=seed, **more)
            for name, more in our_forms().items()
        }
        return ours | rivals(arguments, p, False, seed)
    arguments = (epsilon, DELTA, float(np.sqrt(p)), 1.0)
    takes_ranges = "x_range" in inspect.signature(eptr.LinearRegression).parameters
    ours = {
        name: eptr.LinearRegression(epsilon, DELTA, x_range=x_ranges, y_range=y_range, random_state=seed, **more)
        if takes_ranges
        else Mapped(eptr.LinearRegression(*arguments, random_state=seed, **more), x_ranges, y_range)
        for name, more in our_forms().items()
    }
    return ours | {name: Mapped(m, x_ranges, y_range) for name, m in rivals(arguments, p, True, seed).items()}


def prepared(name, columns):
    """X, y and the ranges of raw columns."""
    _, X, y = table(name)
    if columns == "raw":
        return X, y, [round_range(column) for column in X.T], round_range(y)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y - y.mean()
    return X / np.linalg.norm(X, axis=1, keepdims=True), y / np.abs(y).max(), None, None


def one_split(data, columns, epsilon, seed):
    """R^2 on 20 % of the rows of every method that was fitted to the others."""
    _quiet()
    X, y, x_ranges, y_range = data
    order = np.random.default_rng([seed, 51]).permutation(len(X))
    test, train = np.split(order, [len(X) // 5])
    score = lambda f: float(1.0 - np.mean((y[test] - f) ** 2) / np.var(y[test]))  # noqa: E731
    wide = np.column_stack([X, np.ones(len(X))]) if columns == "raw" else X
    found = {"OLS": score(wide[test] @ np.linalg.lstsq(wide[train], y[train], rcond=None)[0])}
    found["constant"] = score(y[train].mean())
    for method, model in methods(columns, epsilon, X.shape[1], seed, x_ranges, y_range).items():
        found[method] = score(model.fit(X[train], y[train]).predict(X[test]))
    return found


def suite(count, only):
    rows, shares = [], {}
    for columns in ("scaled", "raw"):
        for name in only or DATASETS:
            data = prepared(name, columns)
            for epsilon in EPSILONS:
                label = f"{name}, {columns}, epsilon={epsilon:g}"
                runs = parallel(one_split, [(data, columns, epsilon, seed) for seed in range(count)], label)
                values = {m: np.array([run[m] for run in runs]) for m in runs[0]}
                means = {m: float(found.mean()) for m, found in values.items()}
                ahead = [m for m, found in values.items() if m != "OLS" and clearly_above(found, values["default"])]
                share = means["default"] / means["OLS"]
                cell = [name, *data[0].shape, columns, epsilon]
                rows.append([*cell, *means.values(), share, ", ".join(ahead) or "none"])
                for m, mean in means.items():
                    shares.setdefault((columns, epsilon, m), []).append(mean / means["OLS"])
    header = ["dataset", "n", "p", "columns", "epsilon", *means, "default / OLS", "ahead of default"]
    show(f"R^2 on 20 % of the rows, delta={DELTA:g}, {count} splits", header, rows, None if only else "suite")
    summary = [[*key, float(np.median(found)), min(found)] for key, found in shares.items()]
    header = ["columns", "epsilon", "method", "median share of OLS's R^2", "smallest"]
    show(f"{len(only or DATASETS)} datasets", header, summary, None if only else "suite_summary")


def clearly_above(theirs, mine):
    """Whether the mean of paired differences is above 0 by more than two standard errors."""
    lead = theirs - mine
    return len(lead) > 1 and lead.mean() > 2.0 * lead.std(ddof=1) / np.sqrt(len(lead))


def one_wage_fit(X, y, epsilon, seed):
    """By method: (estimate - OLS)/s.e. and, where there are any, reported standard errors over the robust ones of OLS."""
    _quiet()
    beta, errors = robust(X, y)
    found = {}
    for name, model in methods("raw", epsilon, X.shape[1], seed, WAGE_RANGES, LOG_WAGE).items():
        model.fit(X, y)
        reported = np.sqrt(np.diag(getattr(model, "covariance_", np.full((len(beta), len(beta)), np.nan)))) / errors
        found[name] = np.array([(np.append(model.coef_, model.intercept_) - beta) / errors, reported])
    return found


def wages(count, save):
    names, X, y = table(WAGES)
    rows = []
    for epsilon in EPSILONS:
        runs = parallel(one_wage_fit, [(X, y, epsilon, seed) for seed in range(count)], f"wages, epsilon={epsilon:g}")
        for m in runs[0]:
            distance, reported = np.moveaxis([run[m] for run in runs], 1, 0)
            rms, ratio = np.sqrt(np.mean(distance**2, axis=0)), np.median(reported, axis=0)
            rows += [
                [epsilon, m, column, float(d), "" if np.isnan(r) else float(r)]
                for column, d, r in zip([*names, "(Intercept)"], rms, ratio, strict=True)
            ]
    title = f"Wages, {len(X)} rows, raw columns with ranges, delta={DELTA:g}, {count} fits"
    header = ["epsilon", "method", "column", "rms distance from OLS in robust s.e.", "reported s.e. / robust OLS"]
    show(title, header, rows, "suite_wages" if save else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument(
        "--quick", action="store_const", const=4, dest="replications", help="4 splits, 40 fits of wages"
    )
    parser.add_argument("--only", choices=[*DATASETS, WAGES], action="append", help="prints without saving")
    arguments = parser.parse_args()
    chosen = [name for name in arguments.only or () if name != WAGES]
    if chosen or not arguments.only:
        suite(arguments.replications, chosen)
    if not arguments.only or WAGES in arguments.only:
        wages(10 * arguments.replications, not arguments.only)


if __name__ == "__main__":
    main()
