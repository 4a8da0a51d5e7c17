"""Bad input gets one sentence that names the argument and quotes no row; settings of scores; model selection warns once."""

from __future__ import annotations

import warnings
from array import array
from collections import deque

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression

import eptr
from eptr import rivals, stats

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
X = np.random.default_rng(0).normal(size=(200, 3))
T = np.array(["no", "yes"] * 100)
FRAME = pd.DataFrame({"a": X[:, 0], "sex": ["F", "M"] * 100})


class Constant:
    """A public model that knows nothing."""

    classes_ = np.array(["no", "yes"])

    def predict(self, x):
        return np.repeat("no", len(x))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: stats.mean([], (0, 1), epsilon=1.0), "x has no rows"),
        (lambda: stats.mean(np.empty((0, 3)), (0, 1), epsilon=1.0), "x has no rows"),
        (lambda: stats.mean(np.empty((9, 0)), (0, 1), epsilon=1.0), "x has no columns"),
        (lambda: stats.mean((v for v in (1.0, 2.0)), (0, 1), epsilon=1.0), "x must be a column, .*got generator"),
        (lambda: stats.median({1.0, 2.0}, (0, 1), epsilon=1.0), "x must be a column, .*got set"),
        (lambda: stats.std({"a": [1.0]}, (0, 1), epsilon=1.0), "x must be a column, .*got dict"),
        (lambda: stats.std({"a": [1.0]}, (0, 1), epsilon=1.0), "pandas.DataFrame"),
        (
            lambda: stats.mean(FRAME, {"a": (0, 1)}, by="sexx", levels=["F", "M"], epsilon=1.0),
            "^by='sexx' is not among the 2",
        ),
        (
            lambda: stats.mean(FRAME, {"a": (0, 1)}, by="sex", levels=["F"], epsilon=1.0),
            "two labels, one a group",
        ),
        (lambda: stats.mean(pd.DataFrame(X), {0: (0, 1)}, epsilon=1.0), "pass a list of pairs"),
        (lambda: stats.mean(pd.Series(np.zeros(9, "M8[ns]")), (0, 1), epsilon=1.0), "dates must become numbers"),
        (lambda: stats.mean(None, (0, 1), epsilon=1.0), "x must be a column, .*got NoneType"),
        (lambda: stats.mean(np.array(3.0), (0, 1), epsilon=1.0), "x must be a column"),
        (lambda: stats.mean([[1.0, 2.0], [3.0]], (0, 1), epsilon=1.0), "as many numbers in every row"),
        (lambda: stats.histogram(csr_matrix(X), [0, 1], epsilon=1.0), "x must be a column, .*got csr_matrix"),
        (lambda: stats.median(X, (0, 1), epsilon=1.0, by=T), "median has no setting 'by'; it has x, bounds"),
        (lambda: stats.quantiles(X, 0.5, (0, 1), epsilon=1.0, delta=1e-6), "quantiles has no setting 'delta'"),
        (lambda: stats.quantiles(X, 0.5, (0, 1), epsilon=1.0, kept=np.nan), "kept must be"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, delta=None), "delta must be a number, got NoneType"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, level=None), "pass level=0.95"),
        (lambda: stats.mean(X, (0, 1)), "mean: missing a required argument: 'epsilon'"),
        (lambda: stats.mean(X, epsilon=1.0), "mean: bounds is missing"),
        (lambda: stats.mean(X, (0, 1), 1.0), "mean: too many positional arguments"),
        (lambda: stats.mean(X, (0, 1), epsilon=10**400), "epsilon must be a finite number"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, level=np.nan), "level must be a number between"),
        (lambda: stats.median(X, (0, 1), epsilon=1.0, level=np.nan), "level must be a number between"),
        (lambda: stats.median(X, (0, 1), epsilon=1e-320), "epsilon must be at least 1e-100"),
        (lambda: stats.quantiles(X, 10**400, (0, 1), epsilon=1.0), "q must hold levels between"),
        (lambda: stats.quantiles(X, 0.5, (0, 1), epsilon=1.0, kept=np.inf), "kept must be"),
        (lambda: stats.mean(X, (0, 10**400), epsilon=1.0), "bounds must hold numbers"),
        (lambda: stats.histogram(X[:, 0], [0, 10**400], epsilon=1.0), "bins must be two or more"),
        (lambda: stats.table(T, levels=["no", "yes"], epsilon=1.0, rows_per_person=10**400), r"at most 2\^53"),
        (lambda: stats.mean(X, None, epsilon=1.0), "bounds is missing"),
        (lambda: stats.mean(X, (1, 0), epsilon=1.0), "^bounds must be finite with low < high"),
        (lambda: stats.mean(X, (0, np.inf), epsilon=1.0), "^bounds must be finite"),
        (lambda: stats.mean(X, [(0, 1), (1, 0), (0, 1)], epsilon=1.0), r"^bounds\[1\] must be finite with low < high"),
        (lambda: stats.mean(FRAME, {"sex": (0, 1), "a": (1, 0)}, epsilon=1.0), r"^bounds\['a'\] must be finite"),
        (lambda: stats.mean(X, [(0, 1), (0, 1), (0, 1e-200)], epsilon=1.0), r"^the width of bounds\[2\] must be"),
        (
            lambda: stats.quantiles([0.5], [123.5, 3.0], (0, 200), epsilon=1.0),
            r"between 0 and 1, .* quantiles\(x, q, bounds\)\.$",
        ),
        (lambda: stats.mean(X, "wide", epsilon=1.0), "bounds must hold numbers"),
        (lambda: stats.mean(X, [(0, 1), (0, 1)], epsilon=1.0), r"one per column \(3\)"),
        (lambda: stats.mean(X, {"a": (0, 1)}, epsilon=1.0), "table with named columns"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, by=T), "levels must list the groups"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, levels=["no", "yes"]), "levels must list the groups"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, by=T, levels="yes"), "levels must be a list"),
        (
            lambda: stats.mean(X, (-9, 9), epsilon=1.0, by=T, levels=["no", "maybe"]),
            r"is not in classes \(or levels",
        ),
        (lambda: stats.mean(X, (-9, 9), epsilon=1.0, by=T[:5], levels=["no", "yes"]), "one value per row"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, by=T, levels=["no"]), "levels must hold at least two labels"),
        (lambda: stats.mean(X, (0, 1), epsilon=1.0, by=T, levels=["no", "yes", "no"]), "every label once"),
        (lambda: stats.table(T, levels=["no", "yes", "no"], epsilon=1.0), "every label once"),
        (lambda: stats.mean(X[None], (0, 1), epsilon=1.0), "got 3 axes"),
        (lambda: stats.covariance(X[:, :1], (0, 1), epsilon=1.0), "at least two columns"),
        (lambda: stats.score(Constant(), X, T, scoring="f1", epsilon=1.0), "scoring must be one of"),
        (lambda: stats.score(Constant(), X, T, scoring="roc_auc", epsilon=1.0), "fitted estimator with predict_proba"),
        (lambda: stats.score(LinearRegression(), X, T, scoring="accuracy", epsilon=1.0), "has no classes_"),
        (lambda: stats.score(Constant, X, T, scoring="accuracy", epsilon=1.0), "model must be a fitted estimator"),
        (lambda: stats.score(Constant(), X, T, scoring=["accuracy"], epsilon=1.0), "scoring must be one of"),
        (
            lambda: stats.score(Constant(), X, X[:, 0], scoring="r2", y_range=(0, 1), epsilon=1.0),
            "model must answer predict with one number per row",
        ),
        (lambda: stats.score(Constant(), X, X[:, 0], scoring="r2", epsilon=1.0), "y_range is missing"),
        (
            lambda: stats.score(Constant(), X, X[:, 0], scoring="r2", epsilon=1.0, y_range=(1, 0)),
            "y_range must be finite",
        ),
        (lambda: rivals.CoinPress(epsilon=1.0, steps=0).mean(X, (0, 1)), "steps must be"),
        (lambda: rivals.CoinPress(epsilon=1.0, scale=0.0).mean(X, (0, 1)), "scale must be"),
    ],
)
def test_one_sentence_names_the_argument(ask, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        ask()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("function", [stats.mean, stats.variance, stats.std])
def test_constant_columns_and_dropped_ones_have_answers(function):
    constant = function(np.full((500, 2), 3.0), (0, 10), epsilon=4.0, random_state=0)
    truth = 3.0 if function is stats.mean else 0.0
    assert np.all((constant.low <= truth + 1e-9) & (truth <= constant.high))
    gone = function(np.full(500, np.nan), (0, 10), epsilon=4.0, random_state=0, invalid="drop")
    assert gone.high - gone.low > 1.0


def test_an_unknown_setting_is_a_type_error():
    with pytest.raises(TypeError, match="neighbors"):
        stats.mean(X, (0, 1), epsilon=1.0, neighbors="replace-one")


def test_a_column_may_be_anything_that_holds_numbers():
    values = np.arange(1.0, 61.0)
    kinds = [values.tolist(), tuple(values), memoryview(values), array("d", values), deque(values), range(1, 61)]
    answers = {stats.mean(x, (0, 100), epsilon=1.0, random_state=0).value for x in (values, *kinds)}
    assert len(answers) == 1


def test_columns_of_a_table_are_chosen_by_name():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(t=T)
    answer = stats.mean(frame, {"c": (-9, 9), "a": (-9, 9)}, by="t", levels=["yes", "no"], epsilon=1.0, random_state=0)
    assert answer.names == (("yes", "no"), ("c", "a"))
    assert list(answer.to_frame().index[1]) == ["yes", "a"]
    with pytest.raises(eptr.InputError, match="is not among"):
        stats.mean(frame, {"nowhere": (0, 1)}, epsilon=1.0)


def test_a_seed_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(eptr.NotPrivateWarning):
            stats.mean(X, (-9, 9), epsilon=1.0, random_state=0)


@pytest.mark.parametrize("seed", range(24))
def test_no_table_breaks_a_statistic_or_makes_it_warn(seed):
    """Few rows, constant or wild ones, most of them dropped, bounds of any size, budgets of any size: finite answers."""
    rng = np.random.default_rng(seed)
    n, width = rng.choice([1, 2, 3, 10, 60, 400]), rng.choice([1e-90, 1e-3, 1.0, 1e6, 1e90])
    low = rng.choice([0.0, 0.0, -0.5, 5.0, 1e6]) * width
    kinds = [
        rng.random((n, 3)),
        np.zeros((n, 3)),
        1e6 * rng.normal(size=(n, 3)),
        np.full((n, 3), 0.5),
        1e-9 * rng.random((n, 3)),
    ]
    x = low + width * kinds[rng.integers(len(kinds))]
    x[rng.random(n) < rng.choice([0.0, 0.7])] = np.nan
    shared = {"epsilon": rng.choice([1e-3, 0.1, 1.0, 50.0]), "invalid": "drop", "random_state": seed}
    shared["neighbours"] = rng.choice(["replace-one", "zero-out"])
    bounds = (low, low + width)
    groups = {"by": rng.choice(["no", "yes"], size=n).astype(object), "levels": ["no", "yes"]}
    answers = [f(x, bounds, **shared) for f in (stats.mean, stats.std, stats.covariance, stats.correlation)]
    answers += [f(x[:, 0], bounds, **shared, **groups) for f in (stats.mean, stats.variance)]
    for answer in answers:
        for numbers in (answer.value, answer.low, answer.high):
            assert np.all(np.isfinite(numbers))


@pytest.mark.parametrize("function", [stats.variance, stats.std, stats.covariance])
def test_no_spread_is_larger_than_its_bounds_allow(function):
    answer = function([[3.0, 1.0], [5.0, 2.0]], (0, 10), epsilon=0.1, random_state=0)
    assert np.max(answer.high) <= 50.0 + 1e-9
    assert np.min(np.diag(answer.low) if function is stats.covariance else answer.low) >= 0.0
    assert np.all((answer.low <= answer.value + 1e-9) & (answer.value <= answer.high + 1e-9))
