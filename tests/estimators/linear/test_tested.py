"""Tested least squares: the noise of a reply."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eptr


def test_tight_and_paper_noise_follow_their_formulas():
    n, R, R_t, c0 = 8000, 4.0, 1.0, 0.5
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + rng.normal(size=n)
    options = dict(epsilon=1.0, delta=0.01, x_bound=R, y_bound=R, coef_bound=R_t, c0=c0, fit_intercept=False)
    paper = eptr.LinearRegression(**options, strategy="paper").fit(X, y)
    assert paper.noise_ == pytest.approx(4 * R * R * R_t / (c0 * n) * 2 * math.sqrt(2 * math.log(125)), rel=1e-6)
    tight = eptr.LinearRegression(**options, strategy="tight").fit(X, y)
    assert tight.noise_ == pytest.approx(2.598 * R * R * R_t / (c0 * n) * 1.05 / eptr.gaussian_mu(1.0, 0.01), rel=1e-3)
    assert paper.released_
    assert tight.released_
