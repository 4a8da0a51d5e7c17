"""make bench: the privacy core — what a test costs to build, and what slack buys."""

from __future__ import annotations

import time

import numpy as np

import eptr
from eptr.privacy.ladder import build_ladder
from eptr.privacy.noise import ExactNoise, SeededNoise

from .tables import show


def milliseconds(run, repeats=15):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times))


def main():
    rows = []
    for epsilon, delta, goal in [
        (1.0, 1e-2, ""),
        (1.0, 1e-6, 20.0),
        (0.1, 1e-6, 100.0),
        (4.0, 1e-6, ""),
        (1.0, 1e-30, ""),
    ]:
        mu = eptr.gaussian_mu(epsilon, delta) / 1.05
        build = milliseconds(lambda e=epsilon, d=delta, m=mu: build_ladder.__wrapped__(e, d, m, d))
        published = 2 / epsilon * np.sqrt(2 * np.log(1.25 / delta))
        rows.append(
            [
                epsilon,
                delta,
                build_ladder(epsilon, delta, mu, delta).top,
                float(published),
                1 / mu,
                float(published * mu),
                build,
                goal,
            ]
        )
    header = [
        "epsilon",
        "delta",
        "steps",
        "published noise/alpha",
        "ladder noise/alpha",
        "ratio",
        "build ms",
        "goal ms",
    ]
    show("The ladder against the published noise, slack 1.05, p_0 = delta", header, rows, "core_ladder")
    mu = eptr.gaussian_mu(1.0, 1e-6)
    slacks = [
        [f, build_ladder(1.0, 1e-6, mu / f, 1e-6).top, build_ladder(1.0, 1e-6, mu / f, 1e-7).top]
        for f in (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0)
    ]
    show("What slack buys at (1, 1e-6)", ["slack", "steps, p_0 = delta", "steps, p_0 = delta/10"], slacks, "core_slack")
    draws = [
        ["exact, 1,000 draws", milliseconds(lambda: ExactNoise().gaussian(np.zeros(1000), 1.0), 5)],
        ["seeded, 1,000,000 draws", milliseconds(lambda: SeededNoise(0).gaussian(np.zeros(1_000_000), 1.0), 5)],
    ]
    show("Noise", ["source", "ms"], draws, "core_noise")


if __name__ == "__main__":
    main()
