"""Smooth sensitivity is smooth, and above local sensitivity."""

from __future__ import annotations

import numpy as np

from eptr.rivals.dpnbss import smooth_bound


def test_smooth_sensitivity_is_smooth_and_bounds_local_sensitivity():
    n, b = np.arange(0.0, 200.0), 0.05
    bound = smooth_bound(n, 2.0, b)
    assert np.all(np.abs(np.diff(np.log(bound))) <= b * (1 + 1e-9) + (n[:-1] == 0) * 1e-12)
    assert np.all(bound >= 2.0 / np.maximum(n, 1.0))
    assert bound[0] == 2.0  # an empty class has the mean 0, and one row moves it by the width
