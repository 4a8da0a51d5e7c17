"""Steps of logistic regression where noise rules."""

from __future__ import annotations

import numpy as np

import eptr


def test_rows_far_longer_than_their_bound_are_fitted_without_an_intercept():
    """Where steps begin at zero nothing is a share of their length: every third of these fits stopped, and was charged."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = 5.0 * rng.normal(size=(3000, 3)), rng.integers(2, size=3000)
        settings = {"x_bound": 1.0, "classes": [0, 1], "fit_intercept": False, "random_state": seed}
        model = eptr.LogisticRegression(1.0, 1e-6, **settings).fit(X, y)
        assert np.all(np.isfinite(model.coef_))
