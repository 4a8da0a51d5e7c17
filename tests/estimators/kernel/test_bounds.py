"""Kernel sums of neighbours: degrees differ by one at most, answers by what is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.estimators.kernel.bounds import query_sums
from eptr.estimators.kernel.design import Design
from eptr.rows.memory import MemoryRows


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "wendland", "epanechnikov"])
def test_kernel_degrees_are_one_lipschitz_and_answers_close(kernel):
    rng = np.random.default_rng(3)
    design = Design(kernel, [(0.0, 1.0)], [0.3], 0.0, 1.0)
    block = query_sums(design, np.array([[0.2], [0.6]]), 8)
    for _ in range(300):
        x, y = rng.uniform(-0.2, 1.2, size=(8, 1)), rng.uniform(-2, 2, size=8)
        before = MemoryRows(x.copy(), y.copy()).sum(block)
        x[0], y[0] = rng.uniform(), rng.choice([-1.0, 1.0])
        after = MemoryRows(x, y).sum(block)
        assert np.all(np.abs(before[0] - after[0]) <= 1.0)
        for d0, n0, d1, n1 in zip(*before, *after, strict=True):
            if min(d0, d1) > 0:
                assert abs(n0 / d0 - n1 / d1) <= 2.0 / max(d0, d1) * (1 + 1e-12)
