"""The replay: the same outputs for both fits, the exact loss of every call, and a word for draws that differ."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr import rivals
from eptr.audit.replay import Diverged, Replay
from eptr.privacy.noise import noise_source


def test_a_stand_in_is_its_own_noise_source_and_protects_nobody():
    noise = Replay()
    assert noise_source(noise) is noise
    assert not noise.private
    model = eptr.LinearRegression(random_state=noise)
    assert clone(model).random_state is noise
    again = pickle.loads(pickle.dumps(noise))
    assert again.calls == []


def every_draw(noise, shift=0.0, chance=1):
    return [
        noise.gaussian(np.array([shift, 0.0]), 2.0),
        noise.laplace(np.array([[shift, -shift]]), 0.5),
        noise.cauchy(np.array([shift]), np.array([3.0])),
        noise.coin(chance, 2),
        noise.bits(70),
    ]


def test_outputs_are_replayed_and_losses_added_up():
    noise = Replay(seed=3)
    first = every_draw(noise)
    second = every_draw(noise.rewind(), shift=1.0, chance=2)
    noise.finish()
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a, b)
    assert noise.gaussian_loss == 0.25
    assert noise.laplace_loss == 4.0
    assert noise.coins == [(0.25, 0.5, first[3])]
    assert noise.coins_within(math.log(2.0), 0.0)
    assert not noise.coins_within(0.6, 0.0)
    every_draw(noise.rewind())
    assert noise.gaussian_loss == 0.0  # a rewound replay starts at zero
    assert 0 <= first[4] < 2**70


@pytest.mark.parametrize(
    "other",
    [
        lambda n: n.laplace(np.zeros(2), 1.0),  # another kind
        lambda n: n.gaussian(np.zeros(3), 1.0),  # another shape
        lambda n: n.gaussian(np.zeros(2), 1.001),  # another scale
        lambda n: [n.gaussian(np.zeros(2), 1.0) for _ in range(2)],  # more
        lambda n: None,  # fewer
    ],
)
def test_draws_that_differ_are_found(other):
    noise = Replay()
    noise.gaussian(np.zeros(2), 1.0)
    noise.rewind()
    with pytest.raises(Diverged):
        [other(noise), noise.finish()]


def test_private_scales_may_be_allowed_to_differ():
    noise = Replay(same_scales=False)
    first = noise.cauchy(np.zeros(1), np.ones(1))
    assert np.array_equal(noise.rewind().cauchy(np.zeros(1), np.full(1, 2.0)), first)


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning", "ignore::eptr.NoReplyWarning")
@pytest.mark.parametrize(
    "model",
    [
        eptr.KernelRegressor(1.0, 1e-3, (0, 1), y_bound=1.0, bandwidth=0.4, strategy="tight", queries=[0.2, 0.8]),
        eptr.LinearRegression(1.0, 1e-3, x_bound=1.0, y_bound=1.0, strategy="paper"),
        rivals.PTR(1.0, 1e-3, x_bound=1.0, classes=[0, 1]),
    ],
    ids=lambda m: type(m).__name__,
)
def test_mechanisms_inside_estimators_draw_from_the_replay(model):
    """Two of them hand the stream of their noise on to `release`."""
    noise, rng = Replay(), np.random.default_rng(0)
    X, y = rng.uniform(size=(40, 1)), rng.integers(2, size=40)
    model = clone(model).set_params(random_state=noise).fit(X, y)
    assert {"coin"} <= {call.kind for call in noise.calls}
    first = model.release_
    noise.rewind()
    again = model.fit(X, y).release_
    noise.finish()
    assert (again.replied, again.noise_scale) == (first.replied, first.noise_scale)
    assert np.array_equal(again.value, first.value) if first.replied else again.value is None
    assert noise.gaussian_loss == 0.0
