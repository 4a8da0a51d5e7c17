"""The worst neighbour that a search finds breaks no bound that an estimator relies on."""

from __future__ import annotations

import numpy as np
import pytest

from ..estimators.gaps import GAPS

SEARCHED = {"gradients", "curvature"}


# Sums of gradients are searched, for every likelihood and relation, in tests/estimators/test_gradient.py.
@pytest.mark.parametrize("claim", [claim for claim in GAPS if not SEARCHED & {*claim[2].split()}], ids=" ".join)
def test_no_neighbour_breaks_a_bound(claim):
    ratio = GAPS[claim](np.random.default_rng(1))
    assert ratio <= 1.0 + 1e-9
    assert ratio > 0.3, "the search is too weak to mean anything"
