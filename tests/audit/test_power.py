"""What an attack could have found."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import gaussian_mu
from eptr.audit.attack import attack
from eptr.audit.power import detectable, enough_runs


@pytest.mark.parametrize("runs", [2_000, 20_000])
def test_what_is_detectable_is_what_the_attack_detects(runs):
    """The forecast from expected counts, against real attacks on a mechanism of epsilon = 2."""
    mu = gaussian_mu(2.0, 0.01)
    pair = [lambda size, rng, t=t: t + rng.standard_normal(size) for t in (0.0, mu)]
    found = [attack(*pair, 0.01, runs, seed=s).epsilon for s in range(20)]
    assert abs(np.median(found) - detectable(2.0, 0.01, runs)) < 0.15


def test_enough_runs_would_have_convicted_twice_the_claim():
    scale = 1.0 / gaussian_mu(1.0, 0.01)
    honest = [lambda size, rng, t=t: t + scale * rng.standard_normal(size) for t in (0.0, 1.0)]
    assert not enough_runs(attack(*honest, 0.01, 1_000), 1.0)
    assert enough_runs(attack(*honest, 0.01, 20_000), 1.0)
