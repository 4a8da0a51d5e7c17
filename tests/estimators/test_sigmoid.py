"""The sigmoid, the same bits on every array."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
from scipy.special import expit

from eptr.estimators.sigmoid import sigmoid


def test_the_sigmoid_is_right_and_the_same_on_every_array():
    t = np.concatenate([np.linspace(-45, 45, 20_001), [0.0, -1e300, 1e300, 5e-324]])
    np.testing.assert_allclose(sigmoid(t), expit(np.clip(t, -40, 40)), rtol=1e-11)
    assert sigmoid(t).min() >= 0.0
    assert sigmoid(t).max() <= 1.0
    np.testing.assert_array_equal(np.asarray(sigmoid(xp.asarray(t))), sigmoid(t))
    np.testing.assert_array_equal(np.concatenate([sigmoid(part) for part in np.array_split(t, 17)]), sigmoid(t))
