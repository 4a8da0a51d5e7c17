"""make choose-defaults: how the constants of the refined strategies were chosen, on simulated data only.

Each constant is varied alone around its default; the geometric mean error over a simulated grid is printed relative to
the default. A default stays unless another value is clearly better. No real dataset is ever read here.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

import eptr
from eptr.estimators import descent, schedule, tail
from eptr.estimators.bayes import refined as bayes_refined
from eptr.estimators.kernel import refined as kernel_refined
from eptr.estimators.linear import refined as linear_refined

from .accuracy import _quiet, curve, parallel
from .life import SETTINGS, robust
from .tables import show

CANDIDATES = {
    (linear_refined, "SQUARE_SHARE"): (0.01, 0.02, 0.04),
    (linear_refined, "GRAM_NOISE"): (0.25, 0.35, 0.5),
    (schedule, "OUTSIDE"): (5.0, 8.0, 12.0),
    (schedule, "ROOM"): (0.03, 0.04, 0.06),
    (schedule, "NORMS_SHARE"): (0.02, 0.04, 0.08),
    (schedule, "FIRST"): (0.1, 0.2, 0.3),
    (schedule, "STEPS_SHARE"): (0.75, 1.5, 2.5),
    (descent, "STEP_CLIP"): (1.5, 2.0, 3.0),
    (descent, "EXTRAPOLATE"): (0.0, 0.5, 1.0),
    (tail, "BEFORE"): (4, 6, 8),
    (bayes_refined, "CENTRE_SHARE"): (0.1, 0.2, 0.3),
    (bayes_refined, "SPREAD_SHARE"): (0.03, 0.06, 0.1),
    (bayes_refined, "SPREAD_LEVEL"): (0.6, 0.7, 0.8),
    (kernel_refined, "TREND_SHARE"): (0.1, 0.2, 0.3),
    (kernel_refined, "OUTSIDE"): (5.0, 8.0, 12.0),
    (kernel_refined, "DEGREE_FLOOR"): (2.0, 4.0, 6.0),
}


LIFE = [setting for setting in SETTINGS if setting.ranges is None and setting.p == 3]


def linear_errors(seed):
    """Excess risks on normal errors, and squared distances from least squares on outcomes that look like life."""
    for n, p, condition, noise, epsilon in itertools.product((1000, 8000), (5, 20), (1, 100), (0.3, 1.0), (0.5, 2.0)):
        rng = np.random.default_rng([seed, n, p, condition])
        spectrum = np.geomspace(1.0, 1.0 / condition, p)
        spectrum *= p / spectrum.sum()
        basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
        root = (basis * np.sqrt(spectrum)) @ basis.T
        X, theta = rng.normal(size=(n, p)) @ root, rng.normal(size=p)
        theta /= np.linalg.norm(root @ theta)
        y = X @ theta + noise * rng.normal(size=n)
        bounds = 1.5 * math.sqrt(p), 3.0 * math.sqrt(1 + noise**2)
        model = eptr.LinearRegression(epsilon, 1e-4, *bounds, fit_intercept=False, random_state=seed).fit(X, y)
        yield float(np.sum((root @ (model.coef_ - theta)) ** 2))
    for setting, (n, epsilon) in itertools.product(LIFE, ((30_000, 1.0), (8000, 2.0))):
        X, y = setting.sample(n, seed)
        beta, errors = robust(X, y)
        model = eptr.LinearRegression(
            epsilon, 1e-6, 1.5 * math.sqrt(setting.p), setting.y_bound, random_state=seed
        ).fit(X, y)
        yield float(np.mean(((np.append(model.coef_, model.intercept_) - beta) / errors) ** 2))


def bayes_errors(seed):
    for n, p, epsilon, small in itertools.product((1000, 5000), (3, 10), (0.1, 0.5, 2.0), (0.1, 0.4)):
        rng = np.random.default_rng([seed, n, p])
        centres = rng.normal(size=(2, p))
        y = (rng.random(n) < small).astype(int)
        X = rng.normal(size=(n, p)) + centres[y]
        model = eptr.BayesClassifier(epsilon, 1e-4, 2.0 * math.sqrt(p) + 1.0, random_state=seed).fit(X, y)
        yield float(np.sum((model.means_ - centres) ** 2))


def kernel_errors(seed):
    shapes = (curve, lambda x: 1.5 * (x - 0.5) + 0.3 * np.sin(5 * x))
    for n, epsilon, shape, trend in itertools.product((1000, 4000), (0.5, 2.0), shapes, (None, "linear")):
        rng = np.random.default_rng([seed, n])
        X = rng.beta(1.5, 1.5, size=(n, 1))
        points = np.linspace(0, 1, 101)
        y = shape(X[:, 0]) + 0.2 * rng.normal(size=n)
        model = eptr.KernelRegressor(
            epsilon, 1e-4, (0, 1), y_bound=2.0, bandwidth=0.05, trend=trend, random_state=seed
        ).fit(X, y)
        yield float(np.mean((model.predict(points[:, None]) - shape(points)) ** 2))
    # Three clustered axes: most of the domain is empty, and the error is counted where the rows are.
    for n, epsilon in itertools.product((2000, 8000), (0.5, 2.0)):
        rng = np.random.default_rng([seed, n, 3])
        X = rng.beta(2.0, 6.0, size=(2 * n, 3))
        f = np.sin(4 * X.sum(axis=1))
        y = f[:n] + 0.2 * rng.normal(size=n)
        model = eptr.KernelRegressor(epsilon, 1e-4, (0, 1), y_bound=1.5, bandwidth=0.15, random_state=seed).fit(
            X[:n], y
        )
        yield float(np.mean((model.predict(X[n:]) - f[n:]) ** 2))


ERRORS = dict.fromkeys((linear_refined, descent, schedule, tail), linear_errors)
ERRORS |= {bayes_refined: bayes_errors, kernel_refined: kernel_errors}


def log_risk(module_name, constant, value, seed):
    _quiet()
    module = next(m for m in ERRORS if m.__name__ == module_name)
    kept = getattr(module, constant)
    setattr(module, constant, value)
    try:
        return float(np.mean(np.log(list(ERRORS[module](seed)))))
    finally:
        setattr(module, constant, kept)


def main(replications=12):
    rows = []
    for (module, constant), values in CANDIDATES.items():
        default = getattr(module, constant)
        risks = {
            v: np.mean(
                parallel(log_risk, [(module.__name__, constant, v, s) for s in range(replications)], f"{constant}={v}")
            )
            for v in sorted({*values, default})
        }
        rows += [
            [
                module.__name__.split(".")[2],
                constant,
                v,
                "default" if v == default else "",
                float(np.exp(r - risks[default])),
            ]
            for v, r in risks.items()
        ]
    show(
        "Error relative to the default (below 1 is better)",
        ["module", "constant", "value", "", "relative error"],
        rows,
        "defaults",
    )


if __name__ == "__main__":
    main()
