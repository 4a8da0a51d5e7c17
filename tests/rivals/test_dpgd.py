"""Clipped gradient descent clips whatever it meets."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from eptr import rivals


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
