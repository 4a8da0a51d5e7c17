"""The falsifier: convicts wrong bounds with short examples, leaves right ones alone, and says how hard it looked."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr import Adapter, InputError
from eptr.audit.falsify import Claims, falsify


def answers(x):
    return np.sum(~np.isnan(x))


def mean_of_answers(x):
    return np.nanmean(np.clip(x, 0, 200))


def adapter(sensitivity, lipschitz=1.0, estimate=mean_of_answers, safety=answers, **options):
    return Adapter(estimate, safety, lipschitz, sensitivity, **options)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_a_right_bound_stands_and_is_attained():
    right = adapter(lambda b: 200 / b)
    assert right.falsify([0.0, 100.0, 200.0, math.nan], trials=4_000) is None
    assert right.last_search.closest["sensitivity"] == pytest.approx(1.0)
    assert right.last_search.closest["lipschitz"] == 1.0
    assert "no counter-example among 4" in str(right.last_search)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize(
    ("wrong", "claim"),
    [
        (adapter(lambda b: 150 / b), "sensitivity"),
        (adapter(lambda b: 200 / b, lipschitz=0.5), "lipschitz"),
        (adapter(lambda b: 200 / (b + 1)), "sensitivity"),
        (adapter(lambda b: 200 * b), "decreasing"),
        (adapter(lambda b: 200 / max(b, 1), minimum=-1.0), "finite"),
        (adapter(lambda b: 200 / b, safety=lambda x: answers(x) if answers(x) > 1 else math.nan), "lipschitz"),
    ],
)
def test_a_wrong_claim_is_convicted_with_a_short_example(wrong, claim):
    found = wrong.falsify([0.0, 100.0, 200.0, math.nan], trials=5_000)
    assert found is not None
    assert found.claim == claim
    assert len(found.before) <= 3
    assert np.sum((found.before != found.after) & ~(np.isnan(found.before) & np.isnan(found.after))) <= 1


def test_the_example_can_be_pasted_into_a_test():
    wrong = adapter(lambda b: 0.4 / b, estimate=np.mean, safety=len)
    found = wrong.falsify((0, 1))
    scope = {"np": np, "estimate": np.mean, "safety": len, "sensitivity": wrong.sensitivity, "lipschitz": 1.0}
    with pytest.raises(AssertionError):
        exec(str(found), scope)


def test_hill_climbing_finds_what_corners_do_not():
    """The estimate is steep only near x = 0.3137, where no template and few random rows are."""
    steep = Claims(lambda x: math.exp(-(((x[0] - 0.3137) / 0.01) ** 2)), len, 1.0, lambda b: 0.5)
    found = falsify(steep, (0, 1), trials=20_000, sizes=(1,)).counterexample
    assert found is not None


def test_float32_least_squares_with_a_normal_equation_bug():
    """A sensitivity proven for X'X but claimed for a matrix that forgets the ridge."""

    def slope(z):
        return float(z[:, 0] @ z[:, 1] / (z[:, 0] @ z[:, 0] + 1.0))

    def gram(z):
        return float(z[:, 0] @ z[:, 0])

    domain = [(-1, 1), (-1, 1)]
    assert falsify(Claims(slope, gram, 1.0, lambda b: 3 / (b + 1)), domain).counterexample is None
    assert falsify(Claims(slope, gram, 1.0, lambda b: 1 / (b + 1)), domain).counterexample is not None


@pytest.mark.parametrize("bad", [{"trials": 0}, {"trials": 1.5}, {"sizes": ()}, {"sizes": (0,)}])
def test_bad_settings_are_named(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        falsify(Claims(np.mean, len, 1.0, lambda b: 1 / b), (0, 1), **bad)
