"""The point in one minute: private estimates next to the non-private ones, as a table and a figure.

``python -m eptr.demo`` fits three models on simulated data at several epsilons with the published algorithm ("paper"),
the sharpest test ("tight") and the refined strategy, and writes demo.png and demo.csv.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import EptrWarning
from .estimators.bayes import BayesClassifier
from .estimators.kernel import KernelRegressor
from .estimators.linear import LinearRegression

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
METHODS = ("non-private", "paper", "tight", "refined")
DELTA = 0.01
Result = dict[str, float]


def regression(epsilon: float, seed: int) -> Result:
    """Squared error of the coefficients, n = 8000, p = 5."""
    rng = np.random.default_rng([seed, 1])
    theta = 1 / np.arange(1, 6)
    theta /= np.linalg.norm(theta)
    X = rng.normal(size=(8000, 5))
    y = X @ theta + rng.normal(size=8000)
    result = {"non-private": float(np.sum((np.linalg.lstsq(X, y, rcond=None)[0] - theta) ** 2))}
    for s in METHODS[1:]:
        model = LinearRegression(epsilon, DELTA, 4.0, 4.0, fit_intercept=False, strategy=s, random_state=seed)
        result[s] = float(np.sum((model.fit(X, y).coef_ - theta) ** 2))
    return result


def classification(epsilon: float, seed: int) -> Result:
    """Balanced error, n = 5000, three classes with shares .75, .15, .10."""
    rng = np.random.default_rng([seed, 2])
    centres = 3 * np.eye(10)[:3]
    y = rng.choice(3, p=[0.75, 0.15, 0.10], size=5000)
    X = rng.normal(size=(5000, 10)) + centres[y]
    truth = np.repeat(np.arange(3), 3000)
    test = rng.normal(size=(9000, 10)) + centres[truth]

    def error(predicted: Any) -> float:
        return float(np.mean([np.mean(predicted[truth == k] != k) for k in range(3)]))

    means, share = np.array([X[y == k].mean(axis=0) for k in range(3)]), np.bincount(y) / len(y)
    result = {"non-private": error(np.argmax(test @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(share), axis=1))}
    for s in METHODS[1:]:
        model = BayesClassifier(epsilon, DELTA, 8.0, c0=0.04, strategy=s, fallback="paper", random_state=seed)
        result[s] = error(model.fit(X, y).predict(test))
    return result


def smoothing(epsilon: float, seed: int) -> Result:
    """Mean squared error over 20 points of [0, 1] under one total budget, n = 2000."""
    rng = np.random.default_rng([seed, 3])

    def curve(x: Any) -> Any:
        return np.sin(2 * np.pi * x) + 0.5 * np.cos(4 * np.pi * x)

    X = rng.uniform(size=(2000, 1))
    y = curve(X[:, 0]) + 0.2 * rng.normal(size=2000)
    h, points = 0.2 * 2000**-0.2, np.linspace(0, 1, 20)[:, None]
    weights = np.exp(-0.5 * ((points - X.T) / h) ** 2)
    truth = curve(points[:, 0])
    result = {"non-private": float(np.mean((weights @ y / weights.sum(axis=1) - truth) ** 2))}
    for s in METHODS[1:]:
        model = KernelRegressor(
            epsilon, DELTA, (0, 1), y_bound=2.0, bandwidth=h, c0=0.4, queries=points, strategy=s, random_state=seed
        )
        result[s] = float(np.mean((model.fit(X, y).predict(points) - truth) ** 2))
    return result


TASKS: dict[str, tuple[Callable[[float, int], Result], str]] = {
    "least squares": (regression, "squared error"),
    "Bayes classifier": (classification, "balanced error"),
    "kernel regression": (smoothing, "mean squared error, 20 points"),
}
Table = dict[tuple[str, float], Result]


def run(replications: int = 12, epsilons: tuple[float, ...] = EPSILONS) -> Table:
    """Mean errors by (task, epsilon) and method, with a progress bar on standard error."""
    table: Table = {}
    total, done = len(TASKS) * len(epsilons) * replications, 0
    for name, (task, _) in TASKS.items():
        for epsilon in epsilons:
            runs = []
            for seed in range(replications):
                runs.append(task(epsilon, seed))
                done += 1
                if sys.stderr.isatty():
                    bar = "█" * (30 * done // total)
                    print(f"\r{bar:<30} {done}/{total} runs, {name:<18}", end="", file=sys.stderr, flush=True)
            table[name, epsilon] = {m: float(np.mean([r[m] for r in runs])) for m in METHODS}
        if not sys.stderr.isatty():
            print(f"{name}: done", file=sys.stderr)
    return table


def draw(table: Table, path: str) -> None:
    """Three panels, error against epsilon, colours readable by everybody."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style = {
        "paper": ("#D55E00", "s", "published ePTR"),
        "tight": ("#0072B2", "^", "tight test"),
        "refined": ("#009E73", "o", "refined (default)"),
    }
    figure, axes = plt.subplots(1, len(TASKS), figsize=(12, 3.8), layout="constrained")
    for axis, (name, (_, measure)) in zip(axes, TASKS.items(), strict=True):
        epsilons = sorted(e for n, e in table if n == name)
        base = [table[name, e]["non-private"] for e in epsilons]
        axis.plot(epsilons, base, "--", color="black", label="non-private", zorder=5)
        for method, (colour, marker, label) in style.items():
            axis.plot(epsilons, [table[name, e][method] for e in epsilons], marker=marker, color=colour, label=label)
        # Error rates live on a linear scale, squared errors on a logarithmic one.
        scale = "linear" if measure == "balanced error" else "log"
        axis.set(xscale="log", yscale=scale, title=name, xlabel="epsilon (privacy budget)", ylabel=measure)
        axis.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    figure.suptitle(f"Error of private estimates, delta = {DELTA:g} (lower is better)")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Run, print, save."""
    warnings.simplefilter("ignore", EptrWarning)
    table = run()
    header = ["task", "epsilon", *METHODS, "refined / non-private", "paper / refined"]
    print(f"{header[0]:<18}{header[1]:>8}" + "".join(f"{h:>14}" for h in METHODS) + f"{header[-2]:>24}{header[-1]:>18}")
    with open("demo.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for (name, epsilon), means in table.items():
            ratios = means["refined"] / means["non-private"], means["paper"] / means["refined"]
            writer.writerow([name, epsilon, *(means[m] for m in METHODS), *ratios])
            print(
                f"{name:<18}{epsilon:>8g}"
                + "".join(f"{means[m]:>14.4g}" for m in METHODS)
                + f"{ratios[0]:>24.2f}{ratios[1]:>18.1f}"
            )
    draw(table, "demo.png")
    print("\nFigure: demo.png    Numbers: demo.csv    (simulated rows, seeded: reproducible, hence not private)")


if __name__ == "__main__":
    main()
