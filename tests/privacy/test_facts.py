"""The best bet of somebody who sees a release: as often right as the theory says, and no oftener."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import eptr
from eptr.privacy.facts import best_bet


# Randomised response at epsilon tells the truth with probability e^eps/(1 + e^eps); N(0, 1) against N(mu, 1) is told apart
# at mu/2; what is published in clear with probability delta wins the bet that much oftener.
@pytest.mark.parametrize(
    ("claim", "chance"),
    [
        ((math.log(3.0), 0.0), 0.75),
        ((math.log(3.0), 0.1), 0.775),
        ((800.0, 0.0), 1.0),
        ((50.0, 0.5, 1.0), 0.6914624612740131),  # Phi(.5)
        ((50.0, 0.5, 1.0, 0.01), 0.6964624612740131),
        ((0.1, 0.0, 5.0), 0.52497918747894),  # the pure claim is the better one
    ],
)
def test_the_best_bet(claim, chance):
    assert best_bet(*claim) == pytest.approx(chance, rel=1e-11)
    assert best_bet(*claim) >= chance * (1 - 1e-15)


def test_the_bet_is_no_better_than_an_attack_allows():
    """A threshold test between neighbouring sums, with the noise of a release, wins as often as is said, and not oftener."""
    mu, draws = eptr.gaussian_mu(2.0, 1e-3), np.random.default_rng(0).normal(size=200_000)
    won = (np.mean(draws < mu / 2) + np.mean(draws + mu > mu / 2)) / 2
    assert won == pytest.approx(best_bet(2.0, 1e-3, mu), abs=0.005)


def test_the_page_about_choosing_says_how_often_a_bet_is_won():
    text = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text()
    told = re.findall(r"^\| ([\d.]+) \| ([\d.]+) %[^,|]*, ([\d.]+) %", text, flags=re.MULTILINE)
    assert len(told) >= 4
    for epsilon, *chances in told:
        bets = best_bet(float(epsilon), 0.0), best_bet(float(epsilon), 1e-6, eptr.gaussian_mu(float(epsilon), 1e-6))
        for chance, bet in zip(chances, bets, strict=True):
            assert abs(100 * bet - float(chance)) <= 0.5 * 10.0 ** -len(chance.partition(".")[2]) + 1e-9
