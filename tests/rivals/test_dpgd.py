"""Gradient descent: what a row may add is paid for, and clipping clips whatever it meets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr import rivals
from eptr.estimators.linear.bounds import sharp_numerator
from eptr.estimators.linear.problem import Problem
from eptr.privacy.unit import Unit


def test_clipped_gradients_are_clipped_however_small_or_large_the_numbers():
    """A row whose squares underflow, next to a response nobody bounded, must not slip through the clipping."""
    X, y = np.zeros((100, 1)), np.zeros(100)
    model = rivals.DPGD(
        1.0, 1e-3, x_bound=1.0, y_bound=1.0, fit_intercept=False, form="clipped", steps=1, random_state=0
    )
    plain = clone(model).fit(X, y).coef_[0]
    for x, target in ((1e-170, 1e180), (1e-300, 1e300), (1e200, 1e200), (1e-160, 1e149)):
        X[0], y[0] = x, target
        assert abs(clone(model).fit(X, y).coef_[0] - plain) <= 0.9 * 5.0 / 100 * (1 + 1e-9)


def test_what_a_gradient_pays_for_is_the_sharp_bound_and_hardly_more():
    problem = Problem(eptr.Budget(1.0, 1e-6), Unit(), 100, 3, 1.5, 2.0, False)
    score = rivals.DPGD(coef_bound=0.7)._score(problem)
    sharp, own = sharp_numerator(1.5, 2.0, 0.7, 3), 1.5 * (2.0 + 1.5 * 0.7)
    assert sharp < score.diameter < sharp * (1.0 + 1e-8)
    assert own < score.distance < own * (1.0 + 1e-8)


def test_clipped_steps_end_at_least_squares():
    X = np.random.default_rng(0).normal(size=(4000, 1))
    settings = {"x_bound": 4.0, "y_bound": 9.0, "form": "clipped", "steps": 30, "clip": 50.0, "step_size": 0.5}
    model = rivals.DPGD(1e3, 1e-6, fit_intercept=False, **settings)
    assert model.fit(X, 2.0 * X[:, 0]).coef_[0] == pytest.approx(2.0, abs=0.05)
