"""Our refined strategies in settings of their own, on neighbours that try hard: what they lose adds up to mu.

In the settings of the catalogue each part is held against its own share: test_parts.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

import eptr

from ..replay import neighbours, spent

MODELS = [
    eptr.LinearRegression(1.0, 1e-3, x_bound="private", y_bound="private"),
    eptr.LinearRegression(1.0, 1e-3, x_range=(-1, 2), y_range=(-1, 3)),
    eptr.LinearRegression(1500.0, 0.5, x_bound=1.5, y_bound=2.0),  # bands
    eptr.LinearRegression(1501.0, 0.5, x_range=(-1, 2), y_range=(-1, 3)),
    eptr.LinearRegression(1502.0, 0.5, x_bound=1.5, y_bound=2.0, symmetric_errors=True),
    eptr.LinearRegression(4000.0, 0.5, x_bound=1.5, y_bound=2.0),  # a warm start
    eptr.AdditiveRegressor(1500.0, 0.5, (-1, 2), (-1, 3)),
    eptr.AdditiveRegressor(1501.0, 0.5, (-1, 2), (-1, 3), categories={0: [0, 1]}),
    eptr.LogisticRegression(1.0, 1e-3, x_bound="private", classes=[0, 1, 2], fit_intercept=False),
    eptr.LogisticRegression(1500.0, 0.5, x_bound=1.5, classes=[0, 1, 2]),  # bands
    eptr.LogisticRegression(1501.0, 0.5, x_range=(-1, 2), classes=[0, 1, 2]),
    eptr.BayesClassifier(30.0, 0.1, x_bound=1.5, classes=[0, 1, 2]),  # clear data: one pass
    eptr.BayesClassifier(1.0, 1e-3, x_range=(-1, 2), classes=[0, 1, 2], covariance="shared"),
    eptr.BayesClassifier(1.0, 1e-3, x_bound="private", classes=[0, 1, 2], covariance="shared"),
    eptr.KernelRegressor(1.0, 1e-3, domain=(-1.5, 1.5), y_bound=2.0, bandwidth=0.4, trend="linear"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{type(m).__name__}-{m.epsilon:g}-{getattr(m, 'trend', '')}")
@pytest.mark.parametrize("p", [1, 3])
def test_no_neighbour_costs_more_than_mu(model, p):
    rng, worst = np.random.default_rng(p), 0.0
    labels = 3 if is_classifier(model) else 0
    for trial in range(16):
        pair = neighbours(rng, n=12, p=p, labels=labels)
        mu, epsilon = spent(model, *pair, seed=trial)
        assert epsilon == 0.0
        worst = max(worst, mu / eptr.gaussian_mu(model.epsilon, model.delta))
    assert 0.4 < worst <= 1.0 + 1e-9
