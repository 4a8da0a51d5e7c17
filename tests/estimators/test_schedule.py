"""What a descent may spend on what."""

from __future__ import annotations

import itertools
import math

import pytest

from eptr.estimators.schedule import ROOM, schedule

MU = [0.02, 0.25, 1.0, 30.0]


@pytest.mark.parametrize("mu", MU)
@pytest.mark.parametrize("n", [50, 3000, 10**6])
@pytest.mark.parametrize("p", [1, 4, 40])
@pytest.mark.parametrize(("symmetric", "warm", "clear"), [*itertools.product((False, True), repeat=3)])
def test_shares_add_up_to_what_is_left(n, p, mu, symmetric, warm, clear):
    plan = schedule(n, p, mu, 0.83, symmetric=symmetric, warm=warm, clear=clear)
    parts = [*plan.steps, *plan.passes, plan.norms, plan.curvature, plan.spread, plan.track, *plan.checks, plan.sizes]
    assert all(part >= 0.0 for part in parts)
    if plan.banded or not warm:
        assert math.fsum(parts) == pytest.approx(0.83, rel=1e-12)
    assert plan.banded == (schedule(n, p, mu, 1.0).outside < ROOM * n)


def test_more_rows_mean_fewer_steps_and_fewer_rows_beyond_the_last_level():
    plans = [schedule(n, 4, 0.25, 1.0) for n in (100, 5000, 30_000, 10**6)]
    assert [plan.banded for plan in plans] == [False, True, True, True]
    assert len(plans[1].steps) > len(plans[2].steps) >= len(plans[3].steps)
    shares = [plan.outside / n for plan, n in zip(plans, (100, 5000, 30_000, 10**6), strict=True)]
    assert shares == sorted(shares, reverse=True)


def test_a_start_from_the_normal_equations_counts_as_a_move():
    assert schedule(10**6, 4, 0.25, 1.0, warm=True).moves == 2
    plan = schedule(10**6, 4, 0.25, 1.0)
    assert plan.moves == len(plan.steps) + 2
