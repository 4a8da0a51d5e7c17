"""Exact draws: enclosures that enclose, and distributions found by feeding every sequence of bits."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations

import mpmath
import numpy as np
import pytest
from scipy import stats

from eptr.privacy import draws
from eptr.privacy.noise import ExactNoise, SeededNoise

from .fed_bits import FedBits, distribution


@pytest.mark.parametrize("x", ["0", "1/3", "1", "5/2", "709", "123456789/1000", "1/1000000000000000000000", "10000000"])
@pytest.mark.parametrize("bits", [1, 8, 128, 1000])
def test_exponentials_are_enclosed_tightly(x, bits):
    low, high = draws.exponential(Fraction(x), bits)
    with mpmath.workprec(2 * bits + 200):
        true = mpmath.exp(-mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator) * mpmath.mpf(2) ** bits
        assert low <= true <= high
    assert high - low <= 3


def test_powers_are_enclosed():
    table = draws.exponentials(Fraction(0.37), 300, 128)
    with mpmath.workprec(400):
        for k, (low, high) in enumerate(table):
            assert low <= mpmath.exp(-mpmath.mpf(0.37) * k) * mpmath.mpf(2) ** 128 <= high
            assert high - low <= 5 * k


def agrees(found, undecided, truth):
    """Decided probabilities are below the true ones, and short of them by no more than what is undecided."""
    assert set(found) <= {key for key, p in truth.items() if p > 0}
    hair = Fraction(1, 1 << 100)  # the truth may be rounded
    return all(found[key] - hair <= p <= found[key] + undecided + hair for key, p in truth.items())


@pytest.mark.parametrize(
    ("weights", "rate"), [([1, 1], 1), ([3, 0, 5, 1], 0.5), ([20, 3, 0, 1, 0], 1.25), ([0, 7], 2), ([5, 2, 1], 0)]
)
def test_choices_have_the_exact_probabilities(weights, rate, monkeypatch):
    monkeypatch.setattr(draws, "FIRST_BITS", 2)
    found, undecided = distribution(lambda noise: draws.exponential_choice(weights, Fraction(rate), noise), 12)
    with mpmath.workprec(200):
        terms = [w * mpmath.exp(rate * i) for i, w in enumerate(weights)]
        truth = {i: Fraction(int(term / mpmath.fsum(terms) * 2**120), 2**120) for i, term in enumerate(terms)}
    assert undecided < 0.05
    assert agrees(found, undecided, truth)


def test_a_choice_between_enormous_and_tiny_weights_ends():
    weights = [1 << 9000, 0, 1, 1 << 4000, 1]
    for rate in (Fraction(1, 1 << 900), Fraction(3), Fraction(10**12)):
        assert draws.exponential_choice(weights, rate, SeededNoise(0)) in (0, 2, 3, 4)


def test_whole_numbers_are_uniform():
    for count in (1, 2, 5, 8):
        found, undecided = distribution(lambda noise, count=count: draws.below(count, noise), 12)
        assert set(found) == set(range(count))
        assert len(set(found.values())) == 1
        assert sum(found.values()) == 1 - undecided


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, 1.0 + 6 * 2.0**-52),
        (1.0 - 3 * 2.0**-53, 1.0 + 2 * 2.0**-52),
        (-5e-324, 15e-324),
        (2.0**52 + 1, 2.0**52 + 4),
    ],
)
def test_rounded_reals_have_the_measure_of_their_cells(low, high, monkeypatch):
    monkeypatch.setattr(draws, "FIRST_BITS", 2)
    low, high = Fraction(low), Fraction(high)
    found, undecided = distribution(lambda noise: draws.rounded_uniform(low, high, noise), 16)
    floats = [float(low)]
    while floats[-1] < high:
        floats.append(float(np.nextafter(floats[-1], np.inf)))
    borders = [low, *((Fraction(a) + Fraction(b)) / 2 for a, b in pairwise(floats)), high]
    truth = {f: (b - a) / (high - low) for f, (a, b) in zip(floats, pairwise(borders), strict=True)}
    assert undecided < 0.001
    assert agrees(found, undecided, truth)


def test_a_side_without_length_is_its_point():
    assert draws.rounded_uniform(Fraction(0.1), Fraction(0.1), SeededNoise(0)) == 0.1
    assert str(draws.rounded_uniform(Fraction(-1, 1 << 2000), Fraction(0), SeededNoise(0))) == "0.0"


def test_orders_are_equally_likely_and_ties_are_drawn_again():
    noise = SeededNoise(1)
    counts = Counter(tuple(draws.permutation(3, noise).tolist()) for _ in range(6000))
    assert set(counts) == set(permutations(range(3)))
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3
    tied, apart = 5 << 64 | 5, 4 << 64 | 9
    fed = FedBits(tied << 128 | apart, 256)
    draws.permutation(2, fed)
    assert fed.left == 0
    assert sorted(draws.permutation(1000, ExactNoise()).tolist()) == list(range(1000))


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(0)], ids=["exact", "seeded"])
def test_bits_are_as_many_as_asked_for(noise):
    for count in (0, 1, 7, 8, 53, 200):
        drawn = [noise.bits(count) for _ in range(200)]
        assert all(0 <= d < 1 << count for d in drawn)
        assert count == 0 or max(drawn) >= 1 << (count - 1)  # the first digit is drawn, too


def test_the_last_choice_has_no_right_end():
    """Digits that are all ones: no number of them fits below an enclosed sum, and none has to."""
    enclosed = lambda bits: [(1 << bits, 1 << bits), (1 << bits, (1 << bits) + 1)]  # noqa: E731
    assert draws.certain_choice(enclosed, 8, FedBits((1 << 64) - 1, 64)) == 1
