"""Laws that every statistic keeps: what a row costs, the same answer everywhere, one sentence for bad input."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import eptr
from eptr.audit.replay import Replay
from eptr.rivals.catalogue import RIVAL_STATISTICS
from eptr.stats.catalogue import LEVELS, STATISTICS

EVERY = [*STATISTICS, *RIVAL_STATISTICS]
ALL = pytest.mark.parametrize("statistic", EVERY, ids=lambda s: s.name)
# Others are replayed by what they draw: tests/rivals/test_value_line.py.
SUMS = pytest.mark.parametrize("statistic", [s for s in EVERY if not s.pure], ids=lambda s: s.name)
pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")


def rows(rng, n=60):
    return rng.standard_t(3, size=(n, 3)), rng.choice(LEVELS, size=n).astype(object)


def hard_row(rng):
    """A row that moves sums as far as it can: at a corner, far out, at the centre, on one axis."""
    size = rng.choice([0.0, 0.3, 1.0, 3.0, 1e6])
    direction = rng.choice([-1.0, 1.0], size=3) if rng.integers(2) else np.eye(3)[rng.integers(3)]
    return size * direction


def spent(statistic, one, two, seed, **settings):
    """mu that the statistic spends on a pair of datasets."""
    noise = Replay(seed)
    statistic.example(*one, random_state=noise, **settings)
    noise.rewind()
    statistic.example(*two, random_state=noise, **settings)
    noise.finish()
    return noise.gaussian_loss**0.5


@SUMS
@pytest.mark.parametrize(("relation", "people"), [("replace-one", 2), ("zero-out", 1)])
def test_no_neighbour_costs_more_than_mu(statistic, relation, people):
    mu, worst = eptr.gaussian_mu(1.0, 1e-6), 0.0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        x, t = rows(rng)
        other, labels = x.copy(), t.copy()
        x[:people], t[:people] = hard_row(rng), LEVELS[rng.integers(2)]
        other[:people], labels[:people] = hard_row(rng), LEVELS[rng.integers(2)]
        if relation == "zero-out" or seed % 3 == 0:
            other[:people], labels[:people] = np.nan, None
        settings = {"neighbours": relation, "rows_per_person": people, "invalid": "drop" if seed % 3 == 0 else "raise"}
        if relation == "zero-out":
            settings["invalid"] = "drop"
        worst = max(worst, spent(statistic, (x, t), (other, labels), seed, **settings) / mu)
    assert 0.2 < worst <= 1.0 + 1e-9


@ALL
def test_a_seed_repeats_and_a_ledger_is_charged_once(statistic, tmp_path):
    x, t = rows(np.random.default_rng(0))
    one, two = (statistic.example(x, t, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.value, two.value)
    assert not one.release.private
    ledger = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("study", 1.0, 1e-5)
    answer = statistic.example(x, t, ledger=ledger.account("study"))
    assert answer.release.private
    assert answer.release.basis == "proven"
    with pytest.raises(eptr.BudgetError):
        statistic.example(x, t, ledger=ledger.account("study"))


@ALL
def test_answers_print_and_hold_no_row(statistic):
    x, t = rows(np.random.default_rng(0))
    x[7] = 2.123456789, -1.987654321, 0.123456789
    answer = statistic.example(x, t, random_state=1)
    text = str(answer) + answer._repr_html_() + str(answer.to_frame()) + answer.release.to_json()
    for secret in ("2.123456", "1.987654", "0.123456"):
        assert secret not in text
    assert "interval" in str(answer)
    assert pickle.loads(pickle.dumps(answer)).release.epsilon == 1.0
    assert len(answer.to_frame()) == max(1, np.size(answer.value))
    finite = np.isfinite(answer.value)
    assert np.all((answer.low <= answer.value + 1e-9) | ~finite)
    assert np.all((answer.value <= answer.high + 1e-9) | ~finite)


@ALL
def test_nothing_tells_about_rows_that_are_dropped(statistic):
    x, t = rows(np.random.default_rng(0))
    x[:], other = np.nan, x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eptr.NotPrivateWarning)
        warnings.simplefilter("ignore", eptr.SettingsWarning)
        for table in (x, other):
            assert np.shape(statistic.example(table, t, invalid="drop", random_state=0).value) is not None


@pytest.mark.parametrize(
    "statistic", [s for s in STATISTICS if s.name not in ("histogram", "table", "quantiles")], ids=lambda s: s.name
)
def test_of_rows_that_are_all_dropped_nothing_is_said(statistic):
    """Not even by noise: intervals are all that is possible, whatever was drawn. (Counts are what they are: near 0.)"""
    x, t = rows(np.random.default_rng(0), 3000)
    one, two = (statistic.example(np.full_like(x, np.nan), t, invalid="drop", random_state=seed) for seed in (0, 1))
    np.testing.assert_array_equal(one.low, two.low)
    np.testing.assert_array_equal(one.high, two.high)


@ALL
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"level": 1.0}, "level must be"),
        ({"neighbours": "add-remove"}, "neighbours must be"),
        ({"rows_per_person": 0}, "rows_per_person must be"),
        ({"invalid": "ignore"}, "invalid must be"),
        ({"random_state": -1}, "random_state must"),
    ],
)
def test_a_wrong_setting_is_named(statistic, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        statistic.example(*rows(np.random.default_rng(0)), **settings)


@SUMS
def test_a_wrong_delta_is_named(statistic):
    with pytest.raises(ValueError, match="delta must be"):
        statistic.example(*rows(np.random.default_rng(0)), delta=1.0)


@ALL
def test_a_missing_value_is_an_answer_that_is_recorded(statistic, tmp_path):
    x, t = rows(np.random.default_rng(0))
    x[3, 0], t[3] = np.nan, None
    ledger = eptr.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("study", 1.0, 1e-5)
    with pytest.raises(eptr.DomainError, match="invalid='drop'"):
        statistic.example(x, t, ledger=ledger.account("study"))
    with pytest.raises(eptr.PrivacyError):
        statistic.example(x, t, ledger=ledger.account("study"))
