"""Scores: those of scikit-learn where noise is small, rows that a model refuses, one warning for model selection."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import eptr
from eptr import stats
from eptr.page import page
from eptr.panel import panel

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
X = np.random.default_rng(0).normal(size=(200, 3))
T = np.array(["no", "yes"] * 100)


def test_model_selection_warns_once_and_names_the_private_score():
    code = (
        "import warnings, numpy as np, eptr\n"
        "from sklearn.model_selection import GridSearchCV, cross_val_score\n"
        "X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0]\n"
        "model = eptr.LinearRegression(x_bound=3.0, y_bound=3.0)\n"
        "warnings.simplefilter('ignore', eptr.SettingsWarning)\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always', eptr.NotPrivateWarning)\n"
        "    model.fit(X, y).score(X, y)\n"
        "    print(len(found))\n"
        "    cross_val_score(model, X, y, cv=2, scoring='r2')\n"
        "    GridSearchCV(model, {'epsilon': [1.0, 2.0]}, cv=2).fit(X, y)\n"
        "    print(len(found), 'eptr.stats.score' in str(found[0].message))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "True"]


def test_scores_are_those_of_scikit_learn_when_noise_is_small():
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import get_scorer

    rng = np.random.default_rng(1)
    x = rng.normal(size=(40_000, 3))
    z = x @ [1.0, -0.5, 0.2] + rng.logistic(size=len(x))
    label = np.where(z > 0, "yes", "no")
    classifier, line = LogisticRegression().fit(x[:9000], label[:9000]), LinearRegression().fit(x[:9000], z[:9000])
    held_out, labels, numbers = x[9000:], label[9000:], z[9000:]
    for name in ("accuracy", "neg_log_loss", "neg_brier_score", "roc_auc"):
        answer = stats.score(classifier, held_out, labels, scoring=name, epsilon=20.0, random_state=0)
        assert (
            abs(answer.value - get_scorer(name)(classifier, held_out, labels == "yes" if "brier" in name else labels))
            < 0.01
        )
    for name in ("neg_mean_squared_error", "r2"):
        answer = stats.score(line, held_out, numbers, scoring=name, epsilon=20.0, random_state=0, y_range=(-100, 100))
        assert abs(answer.value / get_scorer(name)(line, held_out, numbers) - 1.0) < 0.02
    curve = stats.score(classifier, held_out, labels, scoring="calibration", epsilon=20.0, random_state=0)
    assert np.all((curve.low <= 0.1 * np.arange(1, 11)) & (0.1 * np.arange(10) <= curve.high))


def test_several_classes_have_scores_but_no_curve():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    x = rng.normal(size=(6000, 2))
    t = np.digitize(x[:, 0] + 0.5 * rng.normal(size=6000), [-0.5, 0.5])
    model = LogisticRegression().fit(x[:2000], t[:2000])
    for name in ("accuracy", "neg_log_loss", "neg_brier_score"):
        assert np.isfinite(stats.score(model, x[2000:], t[2000:], scoring=name, epsilon=4.0, random_state=0).value)
    with pytest.raises(eptr.InputError, match="two classes"):
        stats.score(model, x, t, scoring="roc_auc", epsilon=1.0)


@pytest.mark.parametrize("scoring", ["r2", "accuracy", "neg_log_loss", "roc_auc"])
def test_a_row_that_a_model_refuses_is_nobodys_error(scoring):
    """scikit-learn's trees refuse what float32 cannot hold: the row counts as wrong, and nobody is told."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    y = X[:, 0] if scoring == "r2" else T
    make = DecisionTreeRegressor if scoring == "r2" else DecisionTreeClassifier
    model = make(max_depth=2, random_state=0).fit(X, y)
    odd = X.copy()
    odd[7, 1] = 1e40
    settings = {"scoring": scoring, "y_range": (-9, 9), "epsilon": 1e3, "invalid": "drop", "random_state": 0}
    here, there = (stats.score(model, x, y, **settings).value for x in (X, odd))
    np.testing.assert_allclose(here, there, atol=0.1)
    with pytest.raises(ValueError, match="features"):  # of the model, about a row of zeros
        stats.score(model, X[:, :2], y, **settings)


def test_an_interval_that_knows_no_end_says_so_and_can_be_reported():
    """R^2 of rows that noise drowns may be anything below 1."""
    model = eptr.LinearRegression(x_bound=3.0, y_bound=3.0, random_state=0).fit(X, X[:, 0])
    found = stats.score(model, X, X[:, 0], scoring="r2", y_range=(-1e6, 1e6), epsilon=0.01, random_state=0)
    assert found.low == -np.inf
    assert "Explained" in page([panel(found, "Explained")], "A page")


def test_a_range_of_outcomes_that_is_far_too_wide_leaves_r_squared_known():
    """Squares have a range that is as much too wide again; their looks ended at a millionth of it."""
    from sklearn.linear_model import LinearRegression

    ends = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(5000, 2))
        y = X[:, 0] + rng.normal(size=5000)
        model = LinearRegression().fit([[0, 0], [1, 0], [0, 1]], [0, 1, 0])
        found = stats.score(model, X, y, scoring="r2", y_range=(-1e5, 1e5), epsilon=1.0, random_state=seed)
        ends.append((found.low, found.high))
    low, high = np.array(ends).T
    assert np.mean((low <= 0.5) & (high >= 0.5)) > 0.6
    assert np.median(high - low) < 0.25


def test_log_loss_counts_rare_rows_that_were_thought_unlikely():
    """Of 2000 rows about 60 are positive, and have most of the loss: too few to stand out, too many to miss."""
    from sklearn.linear_model import LogisticRegression

    held, errors = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(22_000, 2))
        t = (x.sum(axis=1) + rng.logistic(size=len(x)) > 4.3).astype(int)
        model = LogisticRegression().fit(x[:20_000], t[:20_000])
        held_out, labels = x[20_000:], t[20_000:]
        said = np.clip(model.predict_proba(held_out)[np.arange(2000), labels], 0.01, 0.99)
        found = stats.score(model, held_out, labels, scoring="neg_log_loss", epsilon=1.0, random_state=seed)
        errors.append(found.value - np.log(said).mean())
        held.append(found.low <= np.log(said).mean() <= found.high)
    assert np.sqrt(np.mean(np.square(errors))) < 0.03
    assert np.mean(held) >= 0.9


class Price:
    """A public line."""

    def predict(self, x):
        return 3534.0 + 1760.0 * x[:, 0]


@pytest.mark.parametrize(
    ("scoring", "n", "epsilon", "truth"), [("neg_mean_squared_error", 2000, 1.0, -1.933e6), ("r2", 10_000, 2.0, 0.617)]
)
def test_scores_of_skewed_outcomes_hold_the_truth(scoring, n, epsilon, truth):
    """Rows that go very badly are few and hold much: 34 of 40 intervals of R^2 missed, and half of those of squared errors."""
    held, ends = 0, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        y = np.exp(8.0 + 0.5 * X[:, 0] + rng.normal(0.0, 0.3, n))
        asked = {"scoring": scoring, "y_range": (0, 100_000), "epsilon": epsilon, "random_state": seed}
        found = stats.score(Price(), X, y, **asked)
        held += found.low <= truth <= found.high
        ends.append((found.high - found.low) / abs(truth))
    assert held >= 36
    assert np.median(ends) < 2.0


def test_r_squared_is_not_blurred_by_what_its_squares_may_lack():
    """The most that may be missing from B was taken for its noise, so that the ratio was off by 30 sampling errors."""
    for seed in range(15):
        rng = np.random.default_rng(seed + 50)
        X = rng.normal(size=(5000, 3))
        y = rng.exponential(1, 5000) * np.exp(0.3 * X[:, 0]) * 1000
        model = type("Flat", (), {"predict": lambda self, x: 1046.0 + 314.0 * x[:, 0]})()
        found = stats.score(model, X, y, scoring="r2", y_range=(0, 1e6), epsilon=8.0, random_state=seed)
        plain = 1.0 - np.mean((y - model.predict(X)) ** 2) / y.var()
        assert abs(found.value - plain) < 0.05
