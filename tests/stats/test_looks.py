"""Looks at columns: every value is counted once, on its side of the centre, by the power of two of its distance."""

from __future__ import annotations

import numpy as np

from eptr.rows.memory import MemoryRows
from eptr.stats.looks import look_at_columns


class Silent:
    """A budget that adds nothing."""

    def noisy(self, values, contribution, share):
        return values

    def scale(self, contribution, share):
        return 1.0


def test_a_value_is_counted_on_its_side_in_the_cell_of_its_distance():
    """In units of 2 around 10: cells end 1, 3, 7, 15, ... units away from the centre; the bounds end the last one."""
    centre, unit, bounds = np.array([10.0]), np.array([2.0]), np.array([[0.0, 100.0]])
    away = [0.0, 0.99, 1.0, 2.99, 3.0, 45.0, 1e6, -0.01, -1.0, -2.0, -2.99, -5.0, np.nan]
    rows = MemoryRows(10.0 + 2.0 * np.array(away)[:, None], drop_invalid=True)
    (look,) = look_at_columns(rows, [0], centre, unit, bounds, Silent(), 1.0)
    below, above = np.split(look.counts, 2)
    assert above.tolist() == [2, 2, 1, 0, 0, 2]
    assert below[::-1].tolist() == [1, 3, 1, 0, 0, 0]
