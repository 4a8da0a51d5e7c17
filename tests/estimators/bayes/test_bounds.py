"""Class counts of neighbours differ by one at most."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eptr.estimators.bayes.bounds import class_sums
from eptr.rows.memory import MemoryRows


@given(labels=st.lists(st.integers(0, 2), min_size=3, max_size=10), new=st.integers(0, 2))
def test_class_counts_are_one_lipschitz(labels, new):
    y = np.array(labels)
    before = class_sums(MemoryRows(np.zeros((len(y), 1)), y.copy()), 3, 1.0).counts.min()
    y[0] = new
    assert abs(class_sums(MemoryRows(np.zeros((len(y), 1)), y), 3, 1.0).counts.min() - before) <= 1
