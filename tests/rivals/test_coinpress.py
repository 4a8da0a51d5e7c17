"""CoinPress sums what it says: products of whitened rows, each within the unit ball."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.estimators.mapped import Mapped
from eptr.rivals.coinpress import _gram
from eptr.rows.memory import MemoryRows


def test_the_gram_matrix_is_that_of_rows_in_units_of_the_radius_within_the_unit_ball():
    x = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 3.0]
    whitened = Mapped(np.zeros(2), np.ones(2), np.diag([1.0, 1 / 3]), np.zeros(2))
    units = x @ np.diag([1.0, 1 / 3]) / 2.0
    units /= np.maximum(np.linalg.norm(units, axis=1), 1.0)[:, None]
    assert _gram(MemoryRows(x), whitened, 2.0) == pytest.approx(units.T @ units, abs=1e-4)
