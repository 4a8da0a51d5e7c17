"""Series estimators: the price of a replaced row, and a correction for the density of the design."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr
from eptr import rivals

from ..replay import spent


@pytest.mark.parametrize(
    ("basis", "density", "row", "share"),
    [
        ("haar", "estimate", 1.0, 1.0),  # another cell, and the opposite response
        ("haar", "uniform", 0.0, 1.0),
        ("cosine", "uniform", 0.0, 1.0),  # cosines are longest at the ends, and the response is opposite
        ("cosine", "estimate", 0.0, math.sqrt(0.5)),  # counts stay
    ],
)
def test_a_replaced_row_costs_what_is_paid_for(basis, density, row, share):
    one, two = (np.full((12, 1), 0.5) for _ in range(2))
    y, other = np.zeros(12), np.zeros(12)
    one[0], two[0], y[0], other[0] = 0.0, row, 3.0, -3.0
    model = rivals.WaveletEstimator(1.0, 1e-3, y_bound=1.5, basis=basis, density=density)
    mu, _ = spent(model, (one, y), (two, other))
    assert mu == pytest.approx(share * eptr.gaussian_mu(1.0, 1e-3), rel=1e-6)


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
