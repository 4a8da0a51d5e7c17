"""The Bayes classifier: error against epsilon, sample size and imbalance (simulated), and credit default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..datasets import load_credit_default
from ..estimators.bayes import BayesClassifier
from ..rivals.dpnb import DPNB
from ..rivals.dpnbss import DPNBSS
from ..rivals.noisy_statistics import NoisyStatistics
from ..rivals.ptr import PTR
from .design import Experiment, Method, Record, Wanted, generator, outcomes

DELTA = 0.01
METHODS = (
    Method("non-private", "reference"),
    Method("ePTR published", "published"),
    Method("ePTR tight", "ours"),
    Method("ePTR refined", "ours"),
    Method("NoisyStatistics", "rival"),
    Method("PTR", "rival"),
    Method("DPNB", "rival"),
    Method("DPNBSS", "rival"),
    Method("DPNB as published", "rival", private=False),
    Method("DPNBSS as published", "rival", private=False),
)


def models(epsilon: float, x_bound: float, c0: float, classes: list[int], seed: int) -> dict[str, Any]:
    """Every private method with the same public knowledge."""
    common: dict[str, Any] = {
        "epsilon": epsilon, "delta": DELTA, "x_bound": x_bound, "classes": classes, "random_state": seed,
    }  # fmt: skip
    return {
        "ePTR published": BayesClassifier(**common, c0=c0, strategy="paper", fallback="paper"),
        "ePTR tight": BayesClassifier(**common, c0=c0, strategy="tight", fallback="paper"),
        "ePTR refined": BayesClassifier(**common),
        "NoisyStatistics": NoisyStatistics(**common),
        "PTR": PTR(**common, c0=c0),
        "DPNB": DPNB(**common),
        "DPNBSS": DPNBSS(**common),
        "DPNB as published": DPNB(**common, form="literature"),
        "DPNBSS as published": DPNBSS(**common, form="literature"),
    }


def balanced_error(predicted: Any, truth: Any, classes: list[int]) -> float:
    """Mean over the classes of the share of wrong answers."""
    return float(np.mean([np.mean(predicted[truth == k] != k) for k in classes]))


def plain(X: Any, y: Any, classes: list[int], uniform: bool = False) -> Callable[[Any], Any]:
    """The non-private classifier with identity covariance."""
    means = np.array([X[y == k].mean(axis=0) if np.any(y == k) else np.zeros(X.shape[1]) for k in classes])
    share = np.array([max(float(np.mean(y == k)), 1e-9) for k in classes])
    if uniform:
        share = np.full(len(classes), 1.0 / len(classes))
    return lambda Z: np.argmax(Z @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(share), axis=1)


def compare(
    setting: float, X: Any, y: Any, test: Any, truth: Any, wanted: Wanted, settings: dict[str, Any]
) -> Iterator[Record]:
    """One setting, all methods, the same rows."""

    def score(fitted: Any) -> dict[str, float]:
        guess = np.zeros(len(truth)) if fitted is None else fitted.predict(test)
        return {"error": balanced_error(guess, truth, settings["classes"])}

    return outcomes(setting, models(**settings), wanted, X, y, score)


def gaussian_classes(rng: np.random.Generator, n: int, priors: list[float], test_rows: int) -> tuple[Any, ...]:
    """K = 3 classes N(3 e_k, I) in ten dimensions, and an independent test set."""
    centres = 3.0 * np.eye(10)[:3]
    y, truth = rng.choice(3, p=priors, size=n), rng.choice(3, p=priors, size=test_rows)
    return rng.normal(size=(n, 10)) + centres[y], y, rng.normal(size=(test_rows, 10)) + centres[truth], truth


def simulated(
    name: str, grid: tuple[float, ...], cell: Callable[[float], tuple[int, float, list[float], float]]
) -> Any:
    """``cell(setting)`` gives n, epsilon, priors and c0."""

    def run(replication: int, wanted: Wanted) -> Iterator[Record]:
        for index, setting in enumerate(grid):
            n, epsilon, priors, c0 = cell(setting)
            # Along epsilon the rows stay the same; along n or the priors they must change.
            rng = generator(name, replication, 0 if name == "bayes-eps" else index)
            X, y, test, truth = gaussian_classes(rng, n, priors, 100_000)
            classes = [0, 1, 2]
            guess = plain(X, y, classes)(test)
            yield setting, "non-private", {"error": balanced_error(guess, truth, classes), "replied": 1.0}
            seed = replication * 1000 + index
            yield from compare(
                setting, X, y, test, truth, wanted,
                {"epsilon": epsilon, "x_bound": 8.0, "c0": c0, "classes": classes, "seed": seed},
            )  # fmt: skip

    return run


USUAL = [0.75, 0.15, 0.10]
EPSILONS = tuple(float(e) for e in np.arange(0.5, 3.01, 0.25))
SIZES = tuple(float(n) for n in range(1000, 10_001, 1000))
SMALLEST = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
CREDIT_EPSILONS = tuple(float(2.0**t) for t in np.arange(-3.0, 3.26, 0.25))


def credit(replication: int, wanted: Wanted) -> Iterator[Record]:
    """Stratified 20 % training; also the uniform prior and the no-information error."""
    X, y = load_credit_default(return_X_y=True)
    rng = generator("credit", replication)
    train = np.concatenate([rng.permutation(np.flatnonzero(y == k))[: int(0.2 * np.sum(y == k))] for k in (0, 1)])
    inside = np.zeros(len(y), dtype=bool)
    inside[train] = True
    test, truth, classes = X[~inside], y[~inside], [0, 1]
    rows = X[inside] * np.minimum(1.0, 4.0 / np.linalg.norm(X[inside], axis=1))[:, None]
    references = {
        "non-private": balanced_error(plain(rows, y[inside], classes)(test), truth, classes),
        "non-private, uniform prior": balanced_error(
            plain(rows, y[inside], classes, uniform=True)(test), truth, classes
        ),
        "no information": 0.5,
    }
    for index, epsilon in enumerate(CREDIT_EPSILONS):
        for name, value in references.items():
            yield epsilon, name, {"error": value, "replied": 1.0}
        seed = replication * 1000 + index
        yield from compare(
            epsilon, X[inside], y[inside], test, truth, wanted,
            {"epsilon": epsilon, "x_bound": 4.0, "c0": 0.08, "classes": classes, "seed": seed},
        )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "bayes-eps", "Bayes classifier, n = 5000", "epsilon", "balanced error", EPSILONS, METHODS, 500,
        simulated("bayes-eps", EPSILONS, lambda e: (5000, e, USUAL, 0.04)),
    ),
    Experiment(
        "bayes-n", "Bayes classifier, epsilon = 1.5", "n", "balanced error", SIZES, METHODS, 500,
        simulated("bayes-n", SIZES, lambda n: (int(n), 1.5, USUAL, 0.04)),
    ),
    Experiment(
        "bayes-imbalance", "Bayes classifier, n = 5000, epsilon = 1.5", "share of the smallest class", "balanced error",
        SMALLEST, METHODS, 500,
        simulated("bayes-imbalance", SMALLEST, lambda s: (5000, 1.5, [0.7 - s, 0.3, s], s / 2.0)),
    ),
    Experiment(
        "credit", "Credit default, 6,000 training rows", "epsilon", "balanced error", CREDIT_EPSILONS,
        (METHODS[0], Method("non-private, uniform prior", "reference"), Method("no information", "reference"), *METHODS[1:]),
        200, credit, log_x=True, log_y=False,
    ),
)  # fmt: skip
