"""Impossible outputs: lattices are convicted, exact points and wrong guesses are not."""

from __future__ import annotations

import secrets
from fractions import Fraction

import numpy as np
import pytest

from eptr import InputError
from eptr.audit.known_bad import BoxDraw
from eptr.audit.support import impossible

FITS = [-1.0] * 20 + [1.7] * 20
OTHER = [-1.0] * 20 + [1.7] * 19 + [1.3]


def test_a_box_drawn_in_floats_is_convicted():
    one, two, rng = BoxDraw(FITS), BoxDraw(OTHER), np.random.default_rng(0)
    draws = one(500, rng), two(500, rng)
    found = impossible(draws, (one.possible, two.possible))
    assert found.right_guess
    assert found.convicts(0.01)
    assert impossible(draws[:1] * 2, (one.possible, one.possible)).probability == 0.0


def exact_point(fits):
    """A real uniform point of the innermost box, rounded once."""
    fits = sorted(fits)
    low, high = Fraction(fits[len(fits) // 2 - 1]), Fraction(fits[len(fits) // 2])
    return float(low + (high - low) * Fraction(secrets.randbits(1200), 2**1200))


def test_points_that_are_rounded_once_do_not_lie_on_the_lattice():
    draws = tuple(np.array([exact_point(fits) for _ in range(500)]) for fits in (FITS, OTHER))
    found = impossible(draws, (BoxDraw(FITS).possible, BoxDraw(OTHER).possible))
    assert not found.right_guess
    assert not found.convicts(0.01)
    assert str(found) == "not as guessed"
    # What such a draw can give is every float between the ends: nothing impossible there up to the ends themselves.
    inside = lambda x: (x >= -1.0) & (x <= 1.7)  # noqa: E731
    assert impossible(draws, (inside, inside)).probability == 0.0


def test_few_impossible_outputs_do_not_convict_a_large_delta():
    draws = np.zeros(1000), np.append(np.ones(3), np.zeros(997))
    found = impossible(draws, (lambda x: x == 0, lambda x: x >= 0))
    assert 0.0 < found.probability < 0.003
    assert found.convicts(1e-6)
    assert not found.convicts(0.01)


def test_no_replies_are_no_evidence():
    with pytest.raises(InputError, match="outputs"):
        impossible((np.zeros(0), np.zeros(3)), (np.isfinite, np.isfinite))
