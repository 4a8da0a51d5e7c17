"""Low bits: naive noise is convicted by any of its numbers, exact noise is not."""

from __future__ import annotations

import numpy as np
import pytest

from eptr import gaussian_mu
from eptr.audit.attack import attack
from eptr.audit.low_bits import bit_scores, last_byte, lowest_bit, trailing_zeros
from eptr.privacy.noise import ExactNoise

SCALE = 1.0 / gaussian_mu(1.0, 1e-6)


def test_scores_of_numbers_zero_and_silence():
    values = np.array([1.0, -0.75, 1.0 + 2.0**-52, 5e-324, 0.0, np.nan])
    assert lowest_bit(values)[:5].tolist() == [0.0, -2.0, -52.0, -1074.0, 1100.0]
    assert trailing_zeros(values)[:3].tolist() == [52.0, 51.0, 0.0]
    assert last_byte(values)[2] == 1.0
    assert all(np.isnan(score(values)[5]) for score in (lowest_bit, trailing_zeros, last_byte))
    assert len(list(bit_scores(4))) == 12


@pytest.mark.parametrize("guilty", [0, 1])
def test_every_number_is_looked_at(guilty):
    """Floating-point noise in one of two numbers, exact noise in the other."""

    def sampler(value):
        def sample(size, rng):
            table = np.empty((size, 2))
            table[:, guilty] = value + SCALE * rng.standard_normal(size)
            table[:, 1 - guilty] = ExactNoise().gaussian(np.full(size, value), SCALE)
            return table

        return sample

    found = attack(sampler(0.0), sampler(1.0), 1e-6, 5_000, bits=True)
    assert found.convicts(1.0)
    assert f"of number {guilty + 1}" in found.event


def test_exact_noise_stands():
    def sampler(value):
        return lambda size, rng: ExactNoise().gaussian(np.full((size, 2), value), 2.0 * SCALE)

    assert not attack(sampler(0.0), sampler(1.0), 1e-6, 5_000, bits=True).convicts(1.0)
