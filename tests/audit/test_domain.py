"""What a row may look like: intervals and levels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr import InputError
from eptr.audit.domain import Domain


@pytest.mark.parametrize("bad", [(1, 0), (0, math.inf), "ages", [], [(0, 1), "x"], 3])
def test_domains_that_make_no_sense_are_named(bad):
    with pytest.raises(InputError, match="domain"):
        Domain(bad)


def test_levels_and_intervals():
    rng = np.random.default_rng(0)
    space = Domain([(0, 1), {"levels": [0, 1]}, [1, 2, 3]])
    rows = space.rows(rng, 500)
    assert set(rows[:, 1]) == {0.0, 1.0}
    assert set(rows[:, 2]) == {1.0, 2.0, 3.0}
    assert rows[:, 0].min() >= 0.0
    assert rows[:, 0].max() <= 1.0
