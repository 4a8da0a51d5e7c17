"""Ranges that are bought: a row is in one cell of each column, wherever it lies."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from eptr.estimators.ranges import POWERS, buy_ranges
from eptr.privacy.unit import Unit
from eptr.rows.memory import MemoryRows


class Seen(SimpleNamespace):
    """A budget that notes what it is asked for and adds nothing."""

    def noisy(self, values, contribution, share):
        self.values, self.contribution = values, contribution
        return values

    def scale(self, contribution, share):
        return 0.1


def bought(x):
    seen = Seen()
    return *buy_ranges(MemoryRows(np.array(x), drop_invalid=True), seen, 1.0), seen


def test_a_row_is_in_one_cell_of_each_column_and_moves_them_all():
    """From one end to the other, or away: that is paid for, and no less."""
    moved = [bought(x)[2] for x in ([[-1e300, 1e-300]], [[1e300, 3.0]], [[np.nan, 0.0]])]
    assert [one.values.sum() for one in moved] == [2.0, 2.0, 0.0]
    one, two, gone = (seen.values for seen in moved)
    contribution = moved[0].contribution
    assert np.linalg.norm(one - two) == pytest.approx(contribution.sensitivity(Unit("replace-one")), rel=1e-12)
    assert np.linalg.norm(one - gone) == pytest.approx(contribution.sensitivity(Unit("zero-out")), rel=1e-12)
    assert np.linalg.norm(one - two) <= contribution.sensitivity(Unit("replace-one"))


def test_ranges_end_where_the_last_cells_that_are_seen_end():
    low, high, _ = bought([[-3.0, 0.0, 1e300]] * 5 + [[5.0, 0.0, 1.0]] * 5)
    assert low.tolist() == [-4.0, -1.0, 0.0]
    assert high.tolist() == [8.0, 1.0, 2.0 * POWERS[-1]]
