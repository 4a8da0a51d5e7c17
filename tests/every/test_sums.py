"""Every row function of every entry of every catalogue: its sums have the same bits in any order and in any pieces.

Where they have not, the last bits of a noisy number tell how rows were stored, and a bound on what a row adds does not hold.
"""

from __future__ import annotations

import numpy as np
import pytest

from eptr.catalogue import EVERY
from eptr.rows.memory import MemoryRows

from .test_parts import ASKED, X_BOUND, example

SUMS = pytest.mark.parametrize("entrant", [*(e for e in EVERY if e.sums), *ASKED], ids=lambda e: e.name)


@pytest.fixture
def shuffled(monkeypatch):
    """Each pass over rows is made twice: the second time they come in another order, seven at a time."""
    passes, once = [], MemoryRows.sum

    def twice(self, fn):
        found, order = once(self, fn), np.random.default_rng(len(passes)).permutation(self.n)
        again = MemoryRows(self.x[order], self.y[order], self.classes, drop_invalid=self.drop_invalid, block=7)
        again.target = self.target
        passes.append([np.array_equal(a, b) for a, b in zip(found, once(again, fn), strict=True)])
        return found

    monkeypatch.setattr(MemoryRows, "sum", twice)
    return passes


@SUMS
@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_sums_have_the_same_bits_in_any_order_and_any_pieces(entrant, shuffled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) * X_BOUND / 2.0
    X[5] = np.nan  # a row that is dropped may be anywhere
    y = rng.integers(entrant.labels, size=120) if entrant.labels else X[:, 0] + rng.normal(size=120)
    y[5] = 0
    example(entrant, invalid="drop", random_state=0).fit(X, y)
    assert shuffled
    assert all(all(same) for same in shuffled)
