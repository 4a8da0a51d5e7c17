"""Kernel regression: one point and the whole function (simulated), and California housing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..datasets import load_california_housing
from ..estimators.additive import AdditiveRegressor
from ..estimators.kernel import KernelRegressor
from ..rivals.binned import BinnedKernel
from ..rivals.wavelet import WaveletEstimator
from .design import Experiment, Method, Record, Wanted, generator, outcome, outcomes

POINT_METHODS = (
    Method("non-private", "reference"),
    Method("ePTR published", "published"),
    Method("ePTR published, R_f = 1.5", "published"),
    Method("ePTR tight", "ours"),
    Method("ePTR refined", "ours"),
    Method("Additive", "ours"),
    Method("Series, cosine", "rival"),
    Method("BinnedKernel", "rival"),
    Method("WPE as published", "rival"),
)
FUNCTION_METHODS = (
    Method("non-private", "reference"),
    Method("ePTR published, one budget", "published"),
    Method("ePTR published, epsilon per query", "published"),
    Method("ePTR tight, one budget", "ours"),
    Method("ePTR tight, epsilon per query", "ours"),
    Method("ePTR refined, one budget", "ours"),
    Method("Additive, one budget", "ours"),
    Method("Series, cosine, one budget", "rival"),
    Method("BinnedKernel, one budget", "rival"),
    Method("WPE as published, one budget", "rival"),
    Method("WPE as published, epsilon per query", "rival"),
)
HOUSING_METHODS = (
    Method("non-private", "reference"),
    Method("midpoint", "reference"),
    Method("ePTR published, epsilon per query", "published"),
    Method("ePTR published, one budget", "published"),
    Method("ePTR tight, epsilon per query", "ours"),
    Method("ePTR tight, one budget", "ours"),
    Method("ePTR refined, one budget", "ours"),
    Method("ePTR refined with trend, one budget", "ours"),
    Method("Additive, one budget", "ours"),
    Method("Series, cosine, one budget", "rival"),
    Method("WPE as published, epsilon per query", "rival"),
)


def curve(x: Any) -> Any:
    """The regression function; its range is about [-1.5, .75]."""
    return np.sin(2.0 * np.pi * x) + 0.5 * np.cos(4.0 * np.pi * x)


def smoother(X: Any, y: Any, points: Any, h: float) -> Any:
    """Nadaraya-Watson without privacy, in blocks."""
    X, points = (X - 0.5) / h, (points - 0.5) / h
    answers = []
    for start in range(0, len(points), 1000):
        part = points[start : start + 1000]
        squares = (part**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2.0 * part @ X.T
        weights = np.exp(-0.5 * np.maximum(squares, 0.0))
        answers.append(weights @ y / np.maximum(weights.sum(axis=1), 1e-300))
    return np.concatenate(answers)


def sample(rng: np.random.Generator, n: int, shape: float = 1.0) -> tuple[Any, Any]:
    """x ~ Beta(a, a) (uniform for a = 1), noise of standard deviation .2."""
    X = rng.beta(shape, shape, size=(n, 1))
    return X, curve(X[:, 0]) + 0.2 * rng.normal(size=n)


def at_a_point(name: str, grid: tuple[float, ...], cell: Callable[[float], tuple[int, float, float, float]]) -> Any:
    """Squared error at x0 = .5; ``cell(setting)`` gives n, epsilon, c0 and the shape of the design."""

    def run(replication: int, wanted: Wanted) -> Iterator[Record]:
        for index, setting in enumerate(grid):
            n, epsilon, c0, shape = cell(setting)
            X, y = sample(generator(name, replication, 0 if name == "nw-eps" else index), n, shape)
            h, x0 = 0.2 * n**-0.2, np.array([[0.5]])
            truth = float(curve(0.5))
            common: dict[str, Any] = {
                "epsilon": epsilon,
                "delta": float(n) ** -3,
                "random_state": replication * 1000 + index,
            }
            kernel = common | {"domain": (0, 1), "bandwidth": h}
            answer = float(smoother(X, y, x0, h)[0])
            yield setting, "non-private", {"error": (answer - truth) ** 2, "replied": 1.0}
            models = {
                "ePTR published": KernelRegressor(**kernel, y_bound=1.0, c0=c0, strategy="paper", fallback="paper"),
                "ePTR published, R_f = 1.5": KernelRegressor(
                    **kernel, y_bound=1.5, c0=c0, strategy="paper", fallback="paper"
                ),
                "ePTR tight": KernelRegressor(**kernel, y_bound=1.5, c0=c0, strategy="tight", fallback="paper"),
                "ePTR refined": KernelRegressor(**kernel, y_bound=1.5),
                "Additive": AdditiveRegressor(**common, x_range=(0, 1), y_range=(-1.5, 1.5)),
                "Series, cosine": WaveletEstimator(**common, y_bound=1.5),
                "BinnedKernel": BinnedKernel(**kernel, y_bound=1.5),
                "WPE as published": WaveletEstimator(**common, y_bound=1.0, form="literature"),
            }
            fitted = lambda m, x0=x0, truth=truth: {  # noqa: E731
                "error": ((0.0 if m is None else float(m.predict(x0)[0])) - truth) ** 2
            }
            yield from outcomes(setting, models, wanted, X, y, fitted)

    return run


def function(replication: int, wanted: Wanted) -> Iterator[Record]:
    """Mean squared error over 200 points of [0, 1]: one total budget, and again epsilon at every point."""
    n = 2000
    X, y = sample(generator("nw-function", replication), n)
    h, points = 0.2 * n**-0.2, np.linspace(0.0, 1.0, 200)[:, None]
    truth = curve(points[:, 0])
    for index, epsilon in enumerate(EPSILONS):
        seeded: dict[str, Any] = {
            "epsilon": epsilon,
            "delta": float(n) ** -3,
            "random_state": replication * 1000 + index,
        }
        common = seeded | {"domain": (0, 1), "y_bound": 1.5}
        kernel = common | {"bandwidth": h, "c0": 0.4, "queries": points}
        each = common | {"epsilon": epsilon / len(points)}
        yield (
            epsilon,
            "non-private",
            {"error": float(np.mean((smoother(X, y, points, h) - truth) ** 2)), "replied": 1.0},
        )
        models = {
            "ePTR published, one budget": KernelRegressor(**kernel, strategy="paper"),
            "ePTR published, epsilon per query": KernelRegressor(**kernel, strategy="paper", budget="each"),
            "ePTR tight, one budget": KernelRegressor(**kernel, strategy="tight"),
            "ePTR tight, epsilon per query": KernelRegressor(**kernel, strategy="tight", budget="each"),
            "ePTR refined, one budget": KernelRegressor(**common, bandwidth=h),
            "Additive, one budget": AdditiveRegressor(**seeded, x_range=(0, 1), y_range=(-1.5, 1.5)),
            "Series, cosine, one budget": WaveletEstimator(**common),
            "BinnedKernel, one budget": BinnedKernel(**common, bandwidth=h),
            "WPE as published, one budget": WaveletEstimator(**each, form="literature"),
            "WPE as published, epsilon per query": WaveletEstimator(**common, form="literature"),
        }
        fitted = lambda m: {  # noqa: E731
            "error": float(np.mean(((0.0 if m is None else m.predict(points)) - truth) ** 2))
        }
        yield from outcomes(epsilon, models, wanted, X, y, fitted)


def california(replication: int, wanted: Wanted) -> Iterator[Record]:
    """Twenty random test points with epsilon at each (the published protocol), and all test points under one budget."""
    X, value = load_california_housing(return_X_y=True)
    rng = generator("california", replication)
    order = rng.permutation(len(X))
    train, test = order[: len(X) // 5], order[len(X) // 5 :]
    points = test[:20]
    h, delta = 0.5 * len(train) ** (-1.0 / 8.0), 0.01
    answers = smoother(X[train], value[train], X[test], h)
    references = {
        "non-private": float(np.mean((answers - value[test]) ** 2)),
        "midpoint": float(np.mean((2.5 - value[test]) ** 2)),
    }

    def score(rows: Any) -> Callable[[Any], dict[str, float]]:
        def error(model: Any) -> dict[str, float]:
            guess = np.full(len(rows), 2.5) if model is None else model.predict(X[rows])
            return {"error": float(np.mean((guess - value[rows]) ** 2))}

        return error

    for index, epsilon in enumerate(HOUSING_EPSILONS):
        seeded: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "random_state": replication * 1000 + index}
        common = seeded | {"domain": (0, 1), "y_bound": (0.0, 5.0)}
        place = AdditiveRegressor(**seeded, x_range=(0, 1), y_range=(0.0, 5.0), terms=[(0,), (1, 2), (3,)])
        queries = common | {"bandwidth": h, "c0": 0.3, "queries": X[points]}
        for name, found in references.items():
            yield epsilon, name, {"error": found, "replied": 1.0}
        models = {
            "ePTR published, epsilon per query": (KernelRegressor(**queries, strategy="paper", budget="each"), points),
            "ePTR published, one budget": (KernelRegressor(**queries, strategy="paper"), points),
            "ePTR tight, epsilon per query": (KernelRegressor(**queries, strategy="tight", budget="each"), points),
            "ePTR tight, one budget": (KernelRegressor(**queries, strategy="tight"), points),
            "ePTR refined, one budget": (KernelRegressor(**common, bandwidth=h), test),
            "ePTR refined with trend, one budget": (KernelRegressor(**common, bandwidth=h, trend="linear"), test),
            "Additive, one budget": (place, test),
            "Series, cosine, one budget": (WaveletEstimator(**common), test),
            "WPE as published, epsilon per query": (WaveletEstimator(**common, form="literature"), points),
        }
        for method, (model, rows) in models.items():
            if wanted(method):
                yield epsilon, method, outcome(model, X[train], value[train], score(rows))


EPSILONS = tuple(float(e) for e in np.arange(0.5, 5.01, 0.5))
SIZES = tuple(float(n) for n in range(500, 5001, 500))
SHAPES = tuple(round(float(a), 1) for a in np.arange(0.5, 3.51, 0.3))
HOUSING_EPSILONS = tuple(float(2.0**t) for t in np.arange(0.0, 3.26, 0.25))
EXPERIMENTS = (
    Experiment(
        "nw-eps", "Kernel regression at x = .5, n = 2000", "epsilon", "squared error", EPSILONS, POINT_METHODS, 500,
        at_a_point("nw-eps", EPSILONS, lambda e: (2000, e, 0.4, 1.0)),
    ),
    Experiment(
        "nw-n", "Kernel regression at x = .5, epsilon = 1.5", "n", "squared error", SIZES, POINT_METHODS, 500,
        at_a_point("nw-n", SIZES, lambda n: (int(n), 1.5, 0.5, 1.0)),
    ),
    Experiment(
        "nw-density", "Kernel regression at x = .5, n = 2000, epsilon = 1.5", "a of the design Beta(a, a)", "squared error",
        SHAPES, POINT_METHODS, 100, at_a_point("nw-density", SHAPES, lambda a: (2000, 1.5, 0.5, a)),
    ),
    Experiment(
        "nw-function", "The whole function, n = 2000", "epsilon", "mean squared error over [0, 1]", EPSILONS,
        FUNCTION_METHODS, 200, function,
    ),
    Experiment(
        "california", "California housing, 4,128 training rows", "epsilon", "test MSE", HOUSING_EPSILONS, HOUSING_METHODS,
        50, california, log_x=True,
    ),
)  # fmt: skip
