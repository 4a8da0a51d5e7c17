"""Least squares: error against epsilon and sample size (simulated), and wine quality."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..datasets import load_wine_quality
from ..estimators.linear import LinearRegression
from ..rivals.adassp import AdaSSP
from ..rivals.dpgd import DPGD
from ..rivals.dpjl import DPJL
from ..rivals.functional import FunctionalMechanism
from ..rivals.tukey import TukeyEM
from .design import Experiment, Method, Record, Wanted, generator, outcomes

DELTA = 0.01
METHODS = (
    Method("non-private", "reference"),
    Method("ePTR published", "published"),
    Method("ePTR tight", "ours"),
    Method("ePTR refined", "ours"),
    Method("AdaSSP", "rival"),
    Method("DPGD clipped", "rival"),
    Method("DPGD as published", "rival"),
    Method("FM", "rival"),
    Method("FM as published", "rival"),
    Method("DPJL as published", "rival"),
    Method("TukeyEM", "rival"),
)
THETA = 1.0 / np.arange(1, 6) / np.linalg.norm(1.0 / np.arange(1, 6))


def simulated_models(epsilon: float, n: int, c0: float, seed: int) -> dict[str, Any]:
    """The published settings for published forms; the same bounds for everybody else."""
    shared: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "fit_intercept": False, "random_state": seed}
    bounds = shared | {"x_bound": 4.0, "y_bound": 4.0}
    return {
        "ePTR published": LinearRegression(**bounds, c0=c0, strategy="paper"),
        "ePTR tight": LinearRegression(**bounds, c0=c0, strategy="tight"),
        "ePTR refined": LinearRegression(**bounds),
        "AdaSSP": AdaSSP(**bounds),
        "DPGD clipped": DPGD(**bounds, form="clipped"),
        "DPGD as published": DPGD(**shared, x_bound=4.5, y_bound=3.0, steps=30, step_size=0.8, form="literature"),
        "FM": FunctionalMechanism(**bounds, coef_bound=1.0),
        "FM as published": FunctionalMechanism(**bounds, coef_bound=1.0, form="literature"),
        "DPJL as published": DPJL(**bounds, sketch=max(15, min(n, 25)), form="literature"),
        "TukeyEM": TukeyEM(**shared),
    }


def simulated(name: str, grid: tuple[float, ...], cell: Callable[[float], tuple[int, float, float]]) -> Any:
    """``cell(setting)`` gives n, epsilon and c0."""

    def run(replication: int, wanted: Wanted) -> Iterator[Record]:
        for index, setting in enumerate(grid):
            n, epsilon, c0 = cell(setting)
            rng = generator(name, replication, 0 if name == "ols-eps" else index)
            X, test = rng.normal(size=(n, 5)), rng.normal(size=(10_000, 5))
            y, truth = X @ THETA + rng.normal(size=n), test @ THETA + rng.normal(size=10_000)

            def score(coefficients: Any, test: Any = test, truth: Any = truth) -> dict[str, float]:
                loss = float(np.mean((truth - test @ coefficients) ** 2))
                return {"error": float(np.sum((coefficients - THETA) ** 2)), "test_mse": loss}

            yield setting, "non-private", score(np.linalg.lstsq(X, y, rcond=None)[0]) | {"replied": 1.0}
            fitted = lambda m, score=score: score(np.zeros(5) if m is None else m.coef_)  # noqa: E731
            models = simulated_models(epsilon, n, c0, replication * 1000 + index)
            yield from outcomes(setting, models, wanted, X, y, fitted)

    return run


def wine_models(epsilon: float, seed: int) -> dict[str, Any]:
    """Published settings for published forms; x within 2 and (quality - 5)/5 within 1 for the others."""
    shared: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
    bounds = shared | {"x_bound": 2.0, "y_bound": 1.0}
    return {
        "ePTR published": LinearRegression(
            **shared, x_bound=2.0, y_bound=3.0, coef_bound=4.0, c0=0.062, strategy="paper"
        ),
        "ePTR tight": LinearRegression(**bounds, c0=0.062, strategy="tight"),
        "ePTR refined": LinearRegression(**bounds),
        "AdaSSP": AdaSSP(**bounds),
        "DPGD clipped": DPGD(**bounds, clip=1.0, form="clipped"),
        "DPGD as published": DPGD(
            **shared, x_bound=1.0, y_bound=3.0, coef_bound=4.0, steps=30, step_size=0.8, form="literature"
        ),
        "FM": FunctionalMechanism(**bounds, coef_bound=1.0),
        "FM as published": FunctionalMechanism(**shared, x_bound=2.0, y_bound=3.0, coef_bound=4.0, form="literature"),
        "DPJL as published": DPJL(**shared, x_bound=10.0, y_bound=10.0, sketch=50, form="literature"),
        "TukeyEM": TukeyEM(**shared),
    }


def wine(replication: int, wanted: Wanted) -> Iterator[Record]:
    """20 % training, test error on the quality scale; no reply means quality 5."""
    X, quality = load_wine_quality(return_X_y=True)
    order = generator("wine", replication).permutation(len(X))
    train, test = order[: len(X) // 5], order[len(X) // 5 :]
    y = (quality - 5.0) / 5.0

    def score(scaled: Any) -> dict[str, float]:
        return {"error": float(np.mean((5.0 + 5.0 * scaled - quality[test]) ** 2))}

    wide = np.column_stack([X, np.ones(len(X))])
    references = {
        "non-private": score(wide[test] @ np.linalg.lstsq(wide[train], y[train], rcond=None)[0]),
        "constant 5": score(0.0),
        "mean of the training rows": score(float(y[train].mean())),
    }
    for index, epsilon in enumerate(WINE_EPSILONS):
        for name, value in references.items():
            yield epsilon, name, value | {"replied": 1.0}
        models = wine_models(epsilon, replication * 1000 + index)
        fitted = lambda m: score(0.0 if m is None else m.predict(X[test]))  # noqa: E731
        yield from outcomes(epsilon, models, wanted, X[train], y[train], fitted)


EPSILONS = tuple(float(e) for e in np.arange(1.0, 8.01, 0.5))
SIZES = tuple(float(n) for n in range(1000, 10_001, 1000))
WINE_EPSILONS = tuple(float(2.0**t) for t in np.arange(0.0, 3.26, 0.25))
EXPERIMENTS = (
    Experiment(
        "ols-eps", "Least squares, n = 8000, p = 5", "epsilon", "squared error of the coefficients", EPSILONS, METHODS, 500,
        simulated("ols-eps", EPSILONS, lambda e: (8000, e, 0.4)),
    ),
    Experiment(
        "ols-n", "Least squares, epsilon = 4, p = 5", "n", "squared error of the coefficients", SIZES, METHODS, 500,
        simulated("ols-n", SIZES, lambda n: (int(n), 4.0, 0.5)),
    ),
    Experiment(
        "wine", "Wine quality, 1,299 training rows", "epsilon", "test MSE", WINE_EPSILONS,
        (METHODS[0], Method("constant 5", "reference"), Method("mean of the training rows", "reference"), *METHODS[1:]),
        50, wine, log_x=True,
    ),
)  # fmt: skip
