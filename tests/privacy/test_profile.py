from __future__ import annotations

import ast
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import eptr
from eptr.privacy.profile import LaplaceTest, LogisticTest, hockey_stick, profile_within

from . import independent


def test_the_independent_route_is_independent():
    tree = ast.parse(Path(independent.__file__).read_text())
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not any(name.startswith("eptr") or name == "" for name in names)


def test_formula_equals_quadrature():
    rng = np.random.default_rng(3)
    for _ in range(300):
        epsilon, mu = rng.uniform(0.05, 8), rng.uniform(0.05, 3)
        p, q = 10 ** rng.uniform(-6, 0, size=2)
        silence = max(0.0, (1 - p) - math.exp(epsilon) * (1 - q))
        expected = silence + independent.reply_term([p], [q], mu, epsilon)[0]
        assert hockey_stick(Fraction(p), Fraction(q), mu, epsilon) == pytest.approx(expected, rel=1e-10, abs=1e-13)


# (1-p) - e^eps (1-q) with p = 0, q = 1: a dataset that never replies against one that always does
@pytest.mark.parametrize(("p", "q", "expected"), [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.25, 0.0, 0.25)])
def test_limits_of_the_formula(p, q, expected):
    assert hockey_stick(p, q, 0.3, 1.0) == pytest.approx(expected, abs=1e-14)


def test_two_unsafe_datasets_cost_the_whole_probability():
    assert eptr.privacy_profile([0.2], mu=0.01, epsilon=1.0) == pytest.approx(0.2)


def test_printed_ptr_is_convicted_and_repaired_ptr_is_not():
    distances = np.arange(400)
    printed_noise = lambda e, d: e / math.sqrt(2 * math.log(1.25 / d))  # noqa: E731
    convicted = eptr.privacy_profile(LaplaceTest(1.0, 1e-6)(distances), printed_noise(1.0, 1e-6), 1.0)
    assert convicted == pytest.approx(1.10e-4, rel=0.01)
    assert eptr.privacy_profile(LaplaceTest(1.0, 1e-6), eptr.gaussian_mu(0.5, 1e-6), 1.0) <= 1e-6


def test_enclosure_is_above_every_sampled_pair_and_close_to_the_best():
    epsilon, delta = 2.0, 1e-3
    test, mu = LogisticTest(epsilon, delta), 0.9
    gammas = np.linspace(0, 60, 6001)
    sampled = max(
        max(hockey_stick(float(a), float(b), mu, epsilon), hockey_stick(float(b), float(a), mu, epsilon))
        for a, b in zip(test(gammas), test(gammas + 1), strict=True)
    )
    enclosed = eptr.privacy_profile(test, mu, epsilon)
    assert sampled <= enclosed <= max(sampled, eptr.gaussian_delta(epsilon, mu)) * (1 + 2e-3)


def test_exact_probabilities_agree_with_floats():
    for test in (LogisticTest(0.7, 1e-4), LaplaceTest(0.7, 1e-4)):
        for gamma in (0.0, 3.0, 20.0, 27.5, 90.0):
            assert float(test.exact(gamma)) == pytest.approx(float(test(gamma)), rel=1e-12)


@pytest.mark.parametrize("bad", [[], [0.1, 2.0], [[0.1]], "abc", [float("nan")], None])
def test_bad_tests_are_refused(bad):
    with pytest.raises(eptr.InputError, match="test"):
        eptr.privacy_profile(bad, 1.0, 1.0)


def test_a_decreasing_function_is_refused():
    with pytest.raises(eptr.InputError, match="non-decreasing"):
        eptr.privacy_profile(lambda gamma: math.exp(-gamma) if gamma < 50 else 1.0, 1.0, 1.0)


@pytest.mark.parametrize(("p", "q"), [(0.5, Fraction(1, 2)), (Fraction(1, 2), 0.5), (0.5, 0.5)])
def test_a_float_on_either_side_has_its_rounding_added(p, q):
    assert hockey_stick(p, q, 1e-3, 1.0) == pytest.approx((1.0 + math.e) * 2.0**-52, rel=1e-3, abs=0.0)
    less = hockey_stick(Fraction(p), Fraction(q), 0.1, 0.0)
    assert hockey_stick(p, q, 0.1, 0.0) - less == pytest.approx(2.0 * 2.0**-52, rel=5e-3, abs=0.0)


def test_a_bound_within_a_limit_is_the_profile_beyond_it():
    test, mu = LogisticTest(2.0, 1e-3), 0.9
    exact = eptr.privacy_profile(test, mu, 2.0)
    assert profile_within(test, mu, 2.0, 0.5 * exact) == pytest.approx(exact, rel=1e-4)
    assert exact <= profile_within(test, mu, 2.0, 2.0 * exact) * (1.0 + 1e-4) <= 2.001 * exact


def test_two_unsafe_datasets_cost_as_much_where_the_test_is_a_function():
    assert eptr.privacy_profile(lambda gamma: min(1.0, 0.2 + 1e-3 * gamma), 0.01, 1.0) == pytest.approx(0.2)


def test_a_pair_that_sees_two_steps_of_a_function_is_found():
    """Steps 0.999 apart: one in a thousand pairs sees both, and costs 1.5 % more than those that see one."""
    levels = (0.2, 0.6, 0.606)
    worst = hockey_stick(levels[0], levels[2], 1e-3, 0.0)
    found = eptr.privacy_profile(lambda gamma: levels[(gamma > math.pi) + (gamma > math.pi + 0.999)], 1e-3, 0.0)
    assert worst <= found <= worst * (1.0 + 2e-4)


def test_small_deltas_are_computed_beyond_the_digits_of_a_float():
    assert profile_within(LaplaceTest(8.0, 1e-20), eptr.gaussian_mu(4.0, 1e-20), 8.0, 1e-20) <= 1e-20


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan])
def test_a_function_without_probabilities_is_refused(value):
    with pytest.raises(eptr.InputError, match="probabilities between 0 and 1"):
        eptr.privacy_profile(lambda gamma: value, 1.0, 1.0)


@pytest.mark.parametrize(("mu", "epsilon", "name"), [(0.0, 1.0, "mu"), ("1", 1.0, "mu"), (1.0, -1.0, "epsilon")])
def test_bad_settings_of_a_profile_are_refused(mu, epsilon, name):
    with pytest.raises(eptr.InputError, match=name):
        eptr.privacy_profile([0.1, 0.2], mu, epsilon)
