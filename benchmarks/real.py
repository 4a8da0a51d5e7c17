"""make bench-real: wine quality and California housing, 20 % training, against the non-private fit; seeded.

Reads the files from EPTR_DATA_HOME (winequality-red.csv, winequality-white.csv, cal_housing.data.gz). All scalings are public
constants; the estimators' defaults were frozen on simulated data before these files were read.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from pathlib import Path

import numpy as np

import eptr

from .accuracy import _quiet, parallel, summary_rows
from .rivals import adassp
from .tables import show

WINE = {  # column: public location and scale
    "alcohol": (10.5, 1.2),
    "volatile acidity": (0.35, 0.16),
    "density": (0.995, 0.003),
    "chlorides": (0.055, 0.03),
    "free sulfur dioxide": (30.0, 17.0),
    "residual sugar": (6.0, 5.0),
    "pH": (3.2, 0.16),
}
# income, latitude, longitude, age: columns of the file and their public ranges
HOUSING = {7: (0.0, 15.0), 1: (32.0, 42.0), 0: (-125.0, -114.0), 2: (0.0, 55.0)}


def home():
    folder = os.environ.get("EPTR_DATA_HOME")
    if not folder or not (Path(folder) / "winequality-red.csv").exists():
        sys.exit(
            "Set EPTR_DATA_HOME to a folder with winequality-red.csv, winequality-white.csv and cal_housing.data.gz."
        )
    return Path(folder)


def wine():
    parts = []
    for name in ("winequality-red.csv", "winequality-white.csv"):
        with (home() / name).open() as file:
            columns = [c.strip().strip('"') for c in file.readline().split(";")]
            parts.append(np.loadtxt(file, delimiter=";"))
    table = np.vstack(parts)
    X = np.column_stack([(table[:, columns.index(c)] - m) / s for c, (m, s) in WINE.items()])
    return X, table[:, columns.index("quality")]


def housing():
    with gzip.open(home() / "cal_housing.data.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    X = np.column_stack([(table[:, c] - low) / (high - low) for c, (low, high) in HOUSING.items()])
    return X, np.clip(table[:, 8] / 1e5, 0.0, 5.0)


def split(n, seed):
    order = np.random.default_rng([seed, 31]).permutation(n)
    return order[: n // 5], order[n // 5 :]


def one_wine(epsilon, seed, delta=0.01):
    _quiet()
    X, quality = wine()
    train, test = split(len(X), seed)
    y = (quality - 5.0) / 5.0
    error = lambda f: float(np.mean((5.0 + 5.0 * f - quality[test]) ** 2))  # noqa: E731
    wide = np.column_stack([X, np.ones(len(X))])
    result = {"non-private": error(wide[test] @ np.linalg.lstsq(wide[train], y[train], rcond=None)[0])}
    result["constant 5"] = error(np.zeros(len(test)))
    result["mean of training rows"] = error(np.full(len(test), y[train].mean()))
    rows = np.column_stack([X, np.full(len(X), 2.0 / np.sqrt(X.shape[1]))])
    radius = float(np.hypot(2.0, 2.0 / np.sqrt(X.shape[1])))
    result["AdaSSP"] = error(
        rows[test] @ adassp(rows[train], y[train], radius, 1.0, epsilon, delta, np.random.default_rng([seed, 1]))
    )
    for strategy in ("paper", "tight", "refined"):
        model = eptr.LinearRegression(epsilon, delta, 2.0, 1.0, c0=0.062, strategy=strategy, random_state=seed)
        result[strategy] = error(model.fit(X[train], y[train]).predict(X[test]))
    return result


def nadaraya_watson(X, y, points, h, block=2000):
    X, points = (X - 0.5) / h, (points - 0.5) / h
    answers = []
    for i in range(0, len(points), block):
        part = points[i : i + block]
        squares = (part**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2.0 * part @ X.T
        weights = np.exp(-0.5 * np.maximum(squares, 0.0))
        answers.append(weights @ y / np.maximum(weights.sum(axis=1), 1e-300))
    return np.concatenate(answers)


def one_housing(epsilon, seed, delta=0.01):
    _quiet()
    X, value = housing()
    train, test = split(len(X), seed)
    h = 0.5 * len(train) ** -0.125
    error = lambda f: float(np.mean((f - value[test]) ** 2))  # noqa: E731
    result = {"non-private": error(nadaraya_watson(X[train], value[train], X[test], h)), "constant 2.5": error(2.5)}
    smooth = eptr.KernelRegressor(epsilon, delta, y_bound=(0, 5), bandwidth=h, random_state=seed).fit(
        X[train], value[train]
    )
    result["refined, epsilon in all"] = error(smooth.predict(X[test]))
    trended = eptr.KernelRegressor(epsilon, delta, y_bound=(0, 5), bandwidth=h, trend="linear", random_state=seed)
    result["refined, trend, epsilon in all"] = error(trended.fit(X[train], value[train]).predict(X[test]))
    place = eptr.KernelRegressor(
        epsilon, delta, y_bound=(0, 5), bandwidth=[0.08, 0.05, 0.05], trend="linear", random_state=seed
    )
    result["refined, trend, own bandwidths, no age"] = error(place.fit(X[train, :3], value[train]).predict(X[test, :3]))
    # The published protocol: twenty random test points, the full budget at each; its own figure at epsilon = 1 is .360
    # on the scaled response, 2.25 here.
    points = test[np.random.default_rng([seed, 32]).choice(len(test), 20, replace=False)]
    options = {
        "y_bound": (0, 5),
        "bandwidth": h,
        "c0": 0.3,
        "queries": X[points],
        "budget": "each",
        "random_state": seed,
    }
    for strategy in ("paper", "tight"):
        answers = eptr.KernelRegressor(epsilon, delta, strategy=strategy, **options).fit(X[train], value[train]).values_
        result[f"{strategy}, 20 queries, epsilon each"] = float(np.mean((answers - value[points]) ** 2))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    count = parser.parse_args().replications
    rows = []
    for epsilon in (0.25, 1.0, 4.0):
        rows += summary_rows(
            (epsilon,), parallel(one_wine, [(epsilon, s) for s in range(count)], f"wine epsilon={epsilon}")
        )
    header = ["epsilon", "method", "test MSE", "s.e.", "ratio"]
    show("Wine quality, 20 % training, delta=.01", header, rows, "real_wine")
    rows = []
    for epsilon in (0.5, 1.0, 4.0):
        runs = parallel(
            one_housing,
            [(epsilon, s) for s in range(count)],
            f"housing epsilon={epsilon}",
        )
        rows += summary_rows((epsilon,), runs)
    show("California housing, 20 % training, delta=.01, h=.5 n^(-1/8)", header, rows, "real_housing")


if __name__ == "__main__":
    main()
