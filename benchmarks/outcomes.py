"""make bench-outcomes: how far from ordinary least squares a private fit ends, outcome by outcome; seeded.

The unit is the robust (HC1) standard error that ordinary least squares has on the same rows. Both methods see the same rows
and the same public bounds. A distance well below 1 is lost in the sampling error; one well above 1 is another answer.
"""

from __future__ import annotations

import argparse

import numpy as np

import eptr
from eptr.rivals import AdaSSP

from .accuracy import _quiet, parallel
from .tables import show

N, EPSILONS, DELTA = 30_000, (1.0, 4.0), 1e-6
SLOPES = np.array([0.5, -0.3, 0.2])


def gaussian(rng, X):
    return 1.0 + X @ SLOPES + rng.normal(size=len(X))


def binary(rng, X):
    """10 % ones."""
    return (rng.uniform(size=len(X)) < 1 / (1 + np.exp(2.35 - X @ SLOPES))).astype(float)


def mostly_zero(rng, X):
    """8 % positive amounts, lognormal."""
    positive = rng.uniform(size=len(X)) < 1 / (1 + np.exp(2.6 - X @ SLOPES))
    return positive * np.exp(0.5 + 0.5 * X @ SLOPES + 0.7 * rng.normal(size=len(X)))


def growing(rng, X):
    """Centred exponential errors, larger where the first column is."""
    return 1.0 + X @ SLOPES + np.exp(0.5 * X[:, 0]) * (rng.exponential(size=len(X)) - 1.0)


def growing_normal(rng, X):
    """The same size of errors, but symmetric."""
    return 1.0 + X @ SLOPES + np.exp(0.5 * X[:, 0]) * rng.normal(size=len(X))


def lognormal(rng, X):
    return np.exp(X @ SLOPES + 0.8 * rng.normal(size=len(X)))


def counts(rng, X):
    """Poisson, mean .3 at the centre."""
    return rng.poisson(0.3 * np.exp(X @ SLOPES)).astype(float)


def left_out(rng, X):
    """Normal errors, but the square of the first column is not in the model."""
    return 0.5 + X @ SLOPES + 0.5 * X[:, 0] ** 2 + rng.normal(size=len(X))


# Name, simulator, and a bound on |y| that (nearly) no row exceeds: what a careful user would declare.
RARE = "a rare dummy"
OUTCOMES = [
    ("normal errors", gaussian, 6.0),
    ("binary, 10 % ones", binary, 1.0),
    ("92 % zeros", mostly_zero, 25.0),
    ("exponential errors growing with x", growing, 25.0),
    ("lognormal", lognormal, 40.0),
    ("Poisson(.3)", counts, 8.0),
    ("a square left out", left_out, 12.0),
    (RARE, gaussian, 6.0),
    ("normal errors growing with x", growing_normal, 25.0),
]


def robust(X, y):
    """Ordinary least squares, intercept last, and HC1 standard errors."""
    wide = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.inv(wide.T @ wide)
    beta = inverse @ (wide.T @ y)
    score = wide * (y - wide @ beta)[:, None]
    covariance = inverse @ (score.T @ score) @ inverse * len(X) / (len(X) - wide.shape[1])
    return beta, np.sqrt(np.diag(covariance))


def one_outcome(place, seed):
    """For every epsilon: squared distances, ours then AdaSSP's (intercept last), our s.e. over robust ones, coverage, rest."""
    _quiet()
    name, simulate, y_bound = OUTCOMES[place]
    rng = np.random.default_rng([seed, place, 41])
    X = rng.normal(size=(N, 3))
    if name == RARE:
        X[:, 2] = rng.permutation(N) < 60
    y = simulate(rng, X)
    beta, errors = robust(X, y)
    found = []
    for epsilon in EPSILONS:
        settings = (epsilon, DELTA, 1.5 * np.sqrt(3), y_bound)
        ours = eptr.LinearRegression(*settings, random_state=seed).fit(X, y)
        rival = AdaSSP(*settings, random_state=seed).fit(X, y)
        distances = [((np.append(m.coef_, m.intercept_) - beta) / errors) ** 2 for m in (ours, rival)]
        low, high = ours.conf_int().T
        ratio = np.sqrt(np.diag(ours.covariance_)) / errors
        rest = [ours.noisy_directions_ > 0, np.mean(np.abs(y) > y_bound)]
        found.append(np.concatenate([*distances, ratio, (low <= beta) & (beta <= high), rest]))
    return np.array(found)


HEADER = ["outcome", "epsilon", "ours", "AdaSSP", "slopes: ours", "slopes: AdaSSP"]
HEADER += ["our s.e. / robust", "smallest", "our interval holds it", "summary() warns", "|y| > bound"]


def summary_row(runs):
    """Of one outcome and epsilon, one run a row."""
    means = runs.mean(axis=0)
    distances = [float(np.sqrt(means[part].mean())) for part in (slice(0, 4), slice(4, 8), slice(0, 3), slice(4, 7))]
    ratio = runs[:, 8:12]
    return [
        *distances,
        float(np.median(ratio)),
        float(ratio.min()),
        float(means[12:16].mean()),
        *map(float, means[16:]),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=50)
    count = parser.parse_args().replications
    rows = []
    for place, (name, _, _) in enumerate(OUTCOMES):
        runs = np.array(parallel(one_outcome, [(place, s) for s in range(count)], name))
        rows += [[name, epsilon, *summary_row(runs[:, k])] for k, epsilon in enumerate(EPSILONS)]
    title = "rms distance from least squares in its robust standard errors"
    show(f"{title}; n={N}, p=3 and an intercept, delta={DELTA:g}, {count} replications", HEADER, rows, "outcomes")


if __name__ == "__main__":
    main()
