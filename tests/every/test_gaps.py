"""The worst neighbour that a search finds breaks no bound that an estimator relies on."""

from __future__ import annotations

import numpy as np
import pytest

from ..estimators.gaps import GAPS


@pytest.mark.parametrize("claim", GAPS, ids=" ".join)
def test_no_neighbour_breaks_a_bound(claim):
    ratio = GAPS[claim](np.random.default_rng(1))
    assert ratio <= 1.0 + 1e-9
    assert ratio > 0.3, "the search is too weak to mean anything"
