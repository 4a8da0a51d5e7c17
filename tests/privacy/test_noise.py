from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import eptr
from eptr.privacy import noise as noise_module
from eptr.privacy.gaussian import gaussian_delta
from eptr.privacy.noise import ExactNoise, SeededNoise, noise_source, pay_for_grid

DRAWS = 40_000
# The exact sampler cannot be seeded, so a correct one fails each test below with probability 1e-7.
LEVEL = 1e-7


@pytest.fixture(scope="module")
def sample():
    return (ExactNoise().gaussian(np.full(DRAWS, 5.0), 2.5) - 5.0) / 2.5


def test_moments(sample):
    z = stats.norm.isf(LEVEL)
    assert abs(sample.mean()) < z / math.sqrt(DRAWS)
    assert abs(sample.var() - 1) < z * math.sqrt(2 / DRAWS)
    assert abs((sample**3).mean()) < z * math.sqrt(15 / DRAWS)
    assert abs((sample**4).mean() - 3) < z * math.sqrt(96 / DRAWS)


def test_cells(sample):
    edges = stats.norm.ppf(np.linspace(0, 1, 101))
    counts = np.histogram(sample, bins=edges)[0]
    assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize("t", [2.0, 3.0, 3.5])
def test_tails(sample, t):
    assert stats.binomtest(int(np.sum(sample > t)), DRAWS, stats.norm.sf(t)).pvalue > LEVEL
    assert stats.binomtest(int(np.sum(sample < -t)), DRAWS, stats.norm.sf(t)).pvalue > LEVEL


def test_shapes_survive():
    assert ExactNoise().gaussian(np.zeros((2, 3)), 1.0).shape == (2, 3)
    assert ExactNoise().gaussian(np.zeros(()), 1.0).shape == ()
    assert ExactNoise().gaussian(np.zeros(0), 1.0).shape == (0,)


@pytest.mark.parametrize("draw", [ExactNoise().gaussian, ExactNoise().laplace])
def test_the_parts_of_a_long_vector_stay_in_order_and_have_noise_of_their_own(draw, monkeypatch):
    monkeypatch.setattr(noise_module.os, "cpu_count", lambda: 5)
    size = 8 * noise_module.MANY + 3
    values = np.arange(size) * 1e6
    noise = draw(values, 1.0) - values
    assert np.all(np.abs(noise) < 1e3)
    for part in np.array_split(noise, 5)[1:]:  # the grid is so fine that no two numbers are alike
        assert not np.intersect1d(part, np.array_split(noise, 5)[0]).size
        assert len(np.unique(part)) == len(part)
    assert np.std(draw(np.zeros((size, 2)), 3.0), axis=0).shape == (2,)


def test_opendp_adds_no_widening_on_its_finest_grid():
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    noise = make_gaussian(vector_domain(atom_domain(T=float, nan=False)), l2_distance(T=float), scale=2.0)
    assert noise.map(1.0) == 1.0 / (2 * 2.0**2)


class Dearer:
    """An OpenDP whose privacy map says a little more than ours, in one respect."""

    def __init__(self, noise, *, factor=1.0, widening=0.0, measure=None):
        self.noise, self.factor, self.widening = noise, factor, widening
        self.output_measure = measure or noise.output_measure

    def __call__(self, values):
        pytest.fail("noise was drawn")

    def map(self, distance):
        return self.factor * self.noise.map(distance + self.widening)


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("scale", [1e-300, 0.3, 7.0, 1e300])
def test_opendp_s_privacy_map_is_checked_before_anything_is_drawn(law, scale, monkeypatch):
    from opendp.measures import max_divergence, zero_concentrated_divergence

    honest = noise_module._measurement
    noise_module._check_map.__wrapped__(law, scale)
    other = {"gaussian": max_divergence(), "laplace": zero_concentrated_divergence()}[law]
    for change in ({"factor": 1.0 + 1e-9}, {"widening": 1e-9 * scale}, {"measure": other}):
        with monkeypatch.context() as patch:
            patch.setattr(noise_module, "_measurement", lambda *a, c=change: Dearer(honest(*a), **c))
            noise_module._check_map.cache_clear()
            for _ in range(2):  # a refusal is not forgotten
                with pytest.raises(eptr.PrivacyError, match="OpenDP"):
                    getattr(ExactNoise(), law)(np.zeros(3), scale)


def test_each_scale_is_checked_once():
    noise_module._check_map.cache_clear()
    for _ in range(5):
        ExactNoise().gaussian(np.zeros(2), 1.5)
    found = noise_module._check_map.cache_info()
    assert (found.misses, found.hits) == (1, 4)


@pytest.mark.parametrize(("numerator", "bits"), [(1, 3), (3, 2), (10**25, 84)])
def test_exact_coins(numerator, bits):
    source = ExactNoise()
    heads = sum(source.coin(numerator, bits) for _ in range(DRAWS))
    assert stats.binomtest(heads, DRAWS, numerator / 2**bits).pvalue > LEVEL


def test_sure_coins():
    for source in (ExactNoise(), SeededNoise(0)):
        assert all(source.coin(1 << 90, 90) for _ in range(1000))
        assert not any(source.coin(0, 90) for _ in range(1000))


def discrete_delta(sigma, shift, epsilon):
    """H_eps between discrete Gaussians on the integers, summed directly."""
    k = np.arange(-int(60 * sigma), int(60 * sigma) + shift + 1, dtype=float)
    p, q = np.exp(-(k**2) / (2 * sigma**2)), np.exp(-((k - shift) ** 2) / (2 * sigma**2))
    p, q = p / p.sum(), q / q.sum()
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


@pytest.mark.parametrize("sigma", [5, 8, 20, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("ratio", [0.2, 0.5, 1.0])
def test_discrete_noise_is_dominated_once_the_grid_is_paid(sigma, epsilon, ratio):
    shift = max(1, round(ratio * sigma))
    paid = math.sqrt(sigma**2 - 16)
    assert discrete_delta(sigma, shift, epsilon) <= gaussian_delta(epsilon, shift / paid) * (1 + 1e-9) + 1e-300
    assert pay_for_grid(paid, grid=1.0) == pytest.approx(sigma)


def test_discrete_noise_at_equal_scale_is_not_dominated():
    """Why the grid has to be paid for at all."""
    worst = max(
        discrete_delta(5, s, e) / gaussian_delta(e, s / 5) for s in (1, 2, 3) for e in np.linspace(0.05, 1.5, 30)
    )
    assert worst > 1.01


def test_seeded_noise_is_reproducible_vectorised_and_marked():
    a, b = SeededNoise(7), SeededNoise(7)
    draws = a.gaussian(np.zeros(1_000_000), 3.0)
    np.testing.assert_array_equal(draws, b.gaussian(np.zeros(1_000_000), 3.0))
    assert draws.std() == pytest.approx(3.0, rel=0.005)
    assert not a.private
    assert noise_source(None).private


@pytest.mark.parametrize(
    "seed", [np.random.default_rng(1), np.random.RandomState(1), np.int64(3), np.random.SeedSequence(5)]
)
def test_every_usual_seed_works(seed):
    assert SeededNoise(seed).gaussian(np.zeros(2), 1.0).shape == (2,)


@pytest.mark.parametrize("bad", ["seed", -1, 1.5, True, [1]])
def test_bad_seeds_are_refused(bad):
    with pytest.raises(eptr.InputError, match="random_state"):
        SeededNoise(bad)


@pytest.mark.parametrize(("law", "median"), [("gaussian", 0.6745), ("laplace", math.log(2.0)), ("cauchy", 1.0)])
def test_seeded_noise_has_the_size_it_was_asked_for(law, median):
    """It protects nobody, but simulations rest on it: half of the draws are closer than the median of the law's size."""
    drawn = getattr(noise_source(0), law)(np.full(40_000, 5.0), 3.0) - 5.0
    assert np.median(np.abs(drawn)) == pytest.approx(3.0 * median, rel=0.03)
    assert abs(np.median(drawn)) < 0.1


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_noise_needs_nothing_to_be_switched_on_before(law):
    from opendp.mod import disable_features, enable_features

    disable_features("contrib")
    try:
        noise_module._measurement(law, 1.0)
    finally:
        enable_features("contrib")
