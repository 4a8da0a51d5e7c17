from __future__ import annotations

import mpmath
import numpy as np
import pytest

import eptr
from eptr.privacy.gaussian import RELATIVE_ERROR, _erfcx_drop, tail_quantile


def exact_delta(epsilon, mu):
    with mpmath.workdps(400):
        e, m, root = mpmath.mpf(epsilon), mpmath.mpf(mu), mpmath.sqrt(2)
        return mpmath.erfc((e / m - m / 2) / root) / 2 - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / root) / 2


def grid(size):
    rng = np.random.default_rng(1)
    return [(10 ** rng.uniform(-4, 2), 10 ** rng.uniform(-300, np.log10(0.5))) for _ in range(size)]


@pytest.mark.parametrize("block", range(4))
def test_curve_and_calibration_match_400_digits(block):
    for epsilon, delta in grid(240)[block::4]:
        mu = eptr.gaussian_mu(epsilon, delta)
        exact = exact_delta(epsilon, mu)
        assert abs(eptr.gaussian_delta(epsilon, mu) / exact - 1) < RELATIVE_ERROR
        assert exact <= delta, "calibration must be rounded against us"
        assert exact_delta(epsilon, mu * (1 + 1e-8)) > delta, "and must not waste anything visible"


@pytest.mark.parametrize("a", [-0.5, -0.3, 0.0, 0.5])
def test_the_series_for_narrow_steps_is_exact_to_rounding_where_they_are_widest(a):
    with mpmath.workdps(50):
        one, two = (mpmath.exp(x * x) * mpmath.erfc(x) for x in (mpmath.mpf(a), mpmath.mpf(a) + mpmath.mpf(0.0999)))
        assert abs(_erfcx_drop(a, 0.0999) / (one - two) - 1) < 1e-14


def test_negative_epsilon_is_exact_too():
    rng = np.random.default_rng(2)
    for _ in range(300):
        e, mu = -(10 ** rng.uniform(-4, 2)), 10 ** rng.uniform(-3, 1.5)
        assert abs(eptr.gaussian_delta(e, mu) / exact_delta(e, mu) - 1) < RELATIVE_ERROR


@pytest.mark.parametrize(
    ("mu", "share"), [(1e-12, 0.5), (1e-12, 1e-6), (1e-6, 1e-9), (0.3, 1.0 - 1e-9), (3.0, 1.0 - 1e-12)]
)
def test_a_tiny_epsilon_is_found_at_once_and_to_its_own_digits(mu, share):
    """Left of a budget that is nearly spent: a share of the delta that epsilon 0 has."""
    delta = float(share * exact_delta(0.0, mu))
    epsilon = eptr.gaussian_epsilon(delta=delta, mu=mu)
    assert 0.0 < epsilon < 1e-5
    assert exact_delta(epsilon, mu) <= delta
    assert exact_delta(epsilon * (1 - 1e-3) - 1e-9 * mu, mu) > delta


# 1/mu at delta = .01, from the table of published calibrations (three digits)
@pytest.mark.parametrize(
    ("epsilon", "noise"), [(0.25, 5.19), (0.5, 3.15), (1, 1.88), (2, 1.12), (4, 0.669), (8, 0.408)]
)
def test_known_noise_multipliers(epsilon, noise):
    assert 1 / eptr.gaussian_mu(epsilon, 0.01) == pytest.approx(noise, rel=4e-3)


def test_arrays_broadcast():
    values = eptr.gaussian_delta(np.array([0.5, 1.0]), np.array([[1.0], [2.0]]))
    assert values.shape == (2, 2)
    assert values[1, 0] == eptr.gaussian_delta(0.5, 2.0)


@pytest.mark.parametrize("tail", [0.4, 1e-3, 1e-30, 1e-290])
def test_tail_quantile_errs_high(tail):
    z = tail_quantile(tail)
    with mpmath.workdps(50):
        assert mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2 <= tail
        assert mpmath.erfc(mpmath.mpf(z - 1e-10) / mpmath.sqrt(2)) / 2 > tail


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True, [1.0]])
def test_bad_epsilon_is_a_typed_error(bad):
    with pytest.raises(eptr.InputError, match="epsilon"):
        eptr.gaussian_mu(bad, 1e-6)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 2, float("nan"), "x"])
def test_bad_delta_is_a_typed_error(bad):
    with pytest.raises(ValueError, match="delta"):
        eptr.gaussian_mu(1.0, bad)


def test_bad_mu_is_a_typed_error():
    with pytest.raises(eptr.InputError, match="mu"):
        eptr.gaussian_delta(1.0, 0.0)
    with pytest.raises(eptr.InputError, match="mu"):
        eptr.gaussian_epsilon(delta=1e-6, mu=-1.0)
    with pytest.raises(ValueError, match="delta"):
        eptr.gaussian_epsilon(delta=1.5, mu=1.0)


def test_epsilon_of_a_delta_and_a_mu_cannot_take_them_in_the_wrong_order():
    assert eptr.gaussian_epsilon(delta=1e-6, mu=eptr.gaussian_mu(1.0, 1e-6)) == pytest.approx(1.0, rel=1e-9)
    assert eptr.gaussian_epsilon(delta=0.3, mu=1e-6) == 0.0
    with pytest.raises(TypeError):
        eptr.gaussian_epsilon(1e-6, 0.3)
