"""make bench-speed: fitting times and memory against scikit-learn in the same run, as ratios; seeded, 2 threads."""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import eptr

from .tables import show


def median_time(run, repeats=7):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def interleaved(runs, repeats=7):
    """Median times of several callables, taken in turns so that a busy moment hits them alike."""
    for run in runs.values():
        run()
    times = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def extra_memory(run):
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller data, for a smoke test")
    n = 100_000 if parser.parse_args().quick else 1_000_000
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = X @ np.ones(20) / 4 + rng.normal(size=n)
    labels = (y > 0).astype(int)
    linear = lambda s, **o: eptr.LinearRegression(1.0, 1e-6, 7.0, 5.0, strategy=s, c0=0.3, random_state=0, **o)  # noqa: E731
    bayes = lambda s: eptr.BayesClassifier(1.0, 1e-6, 7.0, strategy=s, random_state=0)  # noqa: E731

    times = interleaved({
        "scikit-learn LinearRegression": lambda: LinearRegression().fit(X, y),
        **{f"LinearRegression {s}": lambda s=s: linear(s).fit(X, y) for s in ("paper", "tight", "refined")},
    })  # fmt: skip
    base = times["scikit-learn LinearRegression"]
    rows = [
        [k, v, v / base, {"LinearRegression refined": 0.5, "LinearRegression paper": 0.2}.get(k, "")]
        for k, v in times.items()
    ]
    times = interleaved({
        "scikit-learn GaussianNB": lambda: GaussianNB().fit(X, labels),
        **{f"BayesClassifier {s}": lambda s=s: bayes(s).fit(X, labels) for s in ("paper", "tight", "refined")},
    })  # fmt: skip
    base = times["scikit-learn GaussianNB"]
    rows += [[k, v, v / base, "" if "scikit" in k else 0.5] for k, v in times.items()]
    show(f"Fitting time, n={n}, p=20: median of 7", ["fit", "seconds", "ratio to scikit-learn", "goal"], rows, "speed")

    narrow = X.astype(np.float32)
    memory = [
        [
            f"{type(m).__name__} {m.strategy}",
            name,
            extra_memory(lambda m=m, data=data: m.fit(data, labels if "Bayes" in type(m).__name__ else y)),
        ]
        for m in (linear("refined"), linear("paper"), bayes("refined"))
        for name, data in (("float64", X), ("float32", narrow))
    ]
    show("Peak extra memory", ["fit", "input", "MB"], memory, "speed_memory")

    plane = rng.uniform(size=(n, 2))
    target = np.sin(6 * plane[:, 0]) * plane[:, 1]
    model = eptr.KernelRegressor(domain=(0, 1), y_bound=1.0, bandwidth=0.05, random_state=0)
    fit = median_time(lambda: model.fit(plane, target), 3)
    predict = median_time(lambda: model.predict(plane[:100_000]), 3)
    show(
        f"KernelRegressor refined, d=2, h=.05, n={n}",
        ["step", "seconds", "goal"],
        [["fit", fit, 8.0], ["predict 1e5", predict, 0.5]],
        "speed_kernel",
    )

    sizes = (10_000, 100_000) if n < 1_000_000 else (100_000, 1_000_000, 10_000_000)
    scaling = []
    for size in sizes:
        wide = rng.normal(size=(size, 10))
        response = wide[:, 0] + rng.normal(size=size)
        # At epsilon = 4 the refined fit makes the same number of passes for every size.
        fits = [partial(linear(s).set_params(epsilon=4.0).fit, wide, response) for s in ("paper", "refined")]
        scaling.append([size, *(median_time(fit, min(31, max(5, 3_000_000 // size))) for fit in fits)])
    slopes = [float(np.polyfit(np.log([r[0] for r in scaling]), np.log([r[j] for r in scaling]), 1)[0]) for j in (1, 2)]
    show(
        "Cost in n, p=10, epsilon=4 (last row: log-log slope)",
        ["n", "paper", "refined"],
        [*scaling, ["slope", *slopes]],
        "speed_scaling",
    )


if __name__ == "__main__":
    main()
