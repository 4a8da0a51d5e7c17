"""Series estimators correct for the density of the design."""

from __future__ import annotations

import math

import numpy as np

from eptr import rivals


def test_series_correct_for_the_density_of_the_design():
    rng = np.random.default_rng(0)
    x = rng.beta(2, 3, size=(40_000, 1))
    y = np.cos(3 * x[:, 0]) + 0.1 * rng.normal(size=40_000)
    points = np.linspace(0.1, 0.8, 30)[:, None]
    for basis in ("cosine", "haar"):
        right, wrong = (
            rivals.WaveletEstimator(4.0, 1e-3, y_bound=1.5, basis=basis, density=d, random_state=0)
            .fit(x, y)
            .predict(points)
            for d in ("estimate", "uniform")
        )
        truth = np.cos(3 * points[:, 0])
        assert np.mean((right - truth) ** 2) < 0.2 * np.mean((wrong - truth) ** 2)
        assert math.sqrt(np.mean((right - truth) ** 2)) < 0.12
