"""Quantiles by halves: each depth pays for the widest of its nodes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eptr.rivals import ApproximateQuantiles, approximate_quantiles


@pytest.mark.parametrize(("relation", "rows", "costs"), [("replace-one", 2, (8, 12.8)), ("zero-out", 1, (2, 3.2))])
def test_a_depth_pays_for_the_widest_of_its_nodes(relation, rows, costs, monkeypatch):
    """Levels .1 and .8 below and above the middle are .2 and .6 of their sides: ranks there move by up to .8 of a row."""
    rates, draw = [], approximate_quantiles.joint_places

    def recorded(line, wanted, rate, noise):
        rates.append(rate)
        return draw(line, wanted, rate, noise)

    monkeypatch.setattr(approximate_quantiles, "joint_places", recorded)
    settings = {"neighbours": relation, "rows_per_person": rows, "invalid": "drop", "random_state": 0}
    with pytest.warns(match="random_state"):
        ApproximateQuantiles(np.linspace(0, 10, 60), [0.1, 0.5, 0.8], (0, 10), epsilon=3.0, **settings)
    assert [float(Fraction(3, 2) / rate) for rate in rates] == pytest.approx([costs[0], costs[1], costs[1]])
