"""Published quantiles and our own on neighbours: replayed, no pair costs more than epsilon, and some nearly that."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from eptr import InputError, stats
from eptr.privacy.claim import Cost
from eptr.privacy.spending import Spending
from eptr.privacy.unit import Unit
from eptr.rivals.catalogue import OF_QUANTILES
from eptr.rivals.value_line import ValueLine

from ..exponential_replay import ExponentialReplay

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning", "ignore::eptr.SettingsWarning")
ALL = {"quantiles": lambda *args, **settings: stats.quantiles(*args, level=None, **settings), **OF_QUANTILES}
LEVELS = {
    "quantiles": [0.3, 0.6],
    "JointExp": [0.3, 0.6],
    "ApproximateQuantiles": [0.2, 0.5, 0.6],
    "OneByOne": [0.3, 0.6],
}
# How much of epsilon the worst pair found costs, at least; parts of the others meet no single worst row at once.
ATTAINED = {"quantiles": 0.45, "JointExp": 0.45, "ApproximateQuantiles": 0.2, "OneByOne": 0.3}


def pairs(rng, relation, rows, n=6):
    """Two columns that differ in the first rows; values at both ends and ties, which move ranks most."""
    one = rng.choice([0.0, 1.0, 1.0, 5.0, 9.0, 10.0, rng.uniform(0, 10)], n)
    two = one.copy()
    two[:rows] = math.nan if relation == "zero-out" else rng.choice([0.0, 10.0, rng.uniform(0, 10)])
    return (one, two) if rng.integers(2) else (two, one)


@pytest.mark.parametrize(
    ("relation", "invalid", "rows"), [("replace-one", "raise", 1), ("replace-one", "drop", 2), ("zero-out", "drop", 1)]
)
@pytest.mark.parametrize("name", ALL)
def test_no_pair_costs_more_than_the_claim(name, relation, invalid, rows, monkeypatch):
    replay, rng, worst = ExponentialReplay(monkeypatch), np.random.default_rng(0), 0.0
    for seed in range(80):
        settings = {"epsilon": 1.5, "neighbours": relation, "invalid": invalid, "rows_per_person": rows}
        ask = lambda x, seed=seed, s=settings: ALL[name](x, LEVELS[name], (0, 10), random_state=seed, **s)  # noqa: E731
        worst = max(worst, abs(replay.spent(ask, *pairs(rng, relation, rows))))
    assert ATTAINED[name] * 1.5 < worst <= 1.5 * (1 + 1e-9)


class NoRows:
    def check(self):
        pass


def test_where_no_row_is_dropped_levels_may_refer_to_the_public_number(monkeypatch):
    """A null row in a neighbour moves one count by one, not the others: sensitivity 1, half of what a replaced row has."""
    replay, x, worst = ExponentialReplay(monkeypatch), np.array([1.0, 2.0, 5.0, 6.0, 8.0, 9.5]), 0.0
    for seed, row in product(range(25), range(6)):

        def ask(x, seed=seed):
            spending = Spending(Cost(1.0, 0.0, "basic", 0.0), Unit("zero-out"), NoRows(), random_state=seed)
            spending.place(ValueLine(x, 0.0, 10.0), [Fraction(1, 4), Fraction(3, 4)], 1.0, total=6)

        gone = np.delete(x, row)
        worst = max(worst, abs(replay.spent(ask, x, gone)), abs(replay.spent(ask, gone, x)))
    assert 0.4 < worst <= 1.0


@pytest.mark.parametrize("name", OF_QUANTILES)
@pytest.mark.parametrize(
    ("x", "q", "match"),
    [
        (np.zeros((60, 2)), [0.5], "one column in memory"),
        (np.zeros(60), [0.0, 0.5], "increasing levels between 0 and 1"),
        (np.zeros(60), [0.5, 0.4], "increasing levels between 0 and 1"),
        (np.full(60, math.nan), [0.5], "NaN"),
    ],
)
def test_bad_input_gets_a_sentence(name, x, q, match):
    with pytest.raises(InputError, match=match):
        OF_QUANTILES[name](x, q, (0, 1), epsilon=1.0)
