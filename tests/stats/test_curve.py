"""Areas from placements are near those of the rows, and say when they cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from eptr import stats

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")


class Odds:
    """A public model: log odds that are ``slope`` times the sum of the columns."""

    classes_ = np.array([0, 1])

    def __init__(self, slope):
        self.slope = slope

    def predict_proba(self, x):
        positive = expit(self.slope * x.sum(axis=1))
        return np.column_stack([1.0 - positive, positive])


def aucs(slope, n, epsilon, seed, share=0.5):
    """Private and not, and the Estimate."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = (x.sum(axis=1) + rng.logistic(size=n) > logit(1.0 - share)).astype(int)
    model = Odds(slope)
    answer = stats.score(model, x, y, scoring="roc_auc", epsilon=epsilon, random_state=seed)
    return answer.value, roc_auc_score(y, model.predict_proba(x)[:, 1]), answer


@pytest.mark.parametrize("slope", [0.4, 1.0, 5.0, 15.0, -1.0])
def test_an_area_errs_by_little_more_than_sampling_however_sure_the_model_is(slope):
    private, plain, answer = zip(*(aucs(slope, 4000, 2.0, seed) for seed in range(12)), strict=True)
    assert np.sqrt(np.mean(np.subtract(private, plain) ** 2)) < 0.012
    assert np.median([a.high - a.low for a in answer]) < 0.06


def test_an_area_of_a_model_that_is_all_but_sure_of_one_class():
    """Log odds far from 0, most of them below -8, order rows as any others do."""
    rng, model = np.random.default_rng(0), Odds(1.0)
    x = rng.normal(size=(4000, 2))
    y = (x.sum(axis=1) + rng.logistic(size=4000) > 0.0).astype(int)
    for moved in (-6.0, 6.0):  # of each of two columns
        answer = stats.score(model, x + moved, y, scoring="roc_auc", epsilon=2.0, random_state=0)
        assert abs(answer.value - roc_auc_score(y, x.sum(axis=1))) < 0.03


def test_an_area_of_rows_that_share_their_cells_has_a_wide_interval():
    private, plain, answer = aucs(0.02, 4000, 2.0, 0)
    assert abs(private - plain) > 0.02
    assert answer.low < plain < answer.high


def test_an_area_of_a_class_that_noise_hides_is_unknown():
    _, _, answer = aucs(1.0, 300, 0.1, 0, share=0.02)
    assert (answer.low, answer.high) == (0.0, 1.0)
