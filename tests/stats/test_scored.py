"""What a model says of a row must not depend on where the row stands: a last bit decides which side a tie falls on."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import eptr
from eptr.codebook import Category, Number
from eptr.privacy.spending import Spending
from eptr.rows.namespace import TILE, dots, tiled
from eptr.stats.scored import Told

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3 * TILE + 5, 7))
Y = X @ np.arange(7.0) / 8.0 + RNG.normal(size=len(X))
CLASSES = np.digitize(Y, [-1.0, 1.0])
CUTS = [slice(k, k + size) for size in (1, 2, 3, 4, 5, 8, 13, 64, TILE, TILE + 1) for k in (0, 1, 3, 6, 200)]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("order", "CF")
def test_a_product_is_that_of_the_row_alone(columns, order):
    x = np.asarray(RNG.normal(size=(300, columns)), order=order)
    for c in (RNG.normal(size=columns), RNG.normal(size=(3, columns))):
        whole = dots(x, c)
        np.testing.assert_allclose(whole, x @ c.T, rtol=1e-12, atol=1e-12)
        for cut in CUTS:
            np.testing.assert_array_equal(dots(x[cut], c), whole[cut])


def test_tiles_are_whole_and_begin_with_the_rows():
    for n in (1, TILE - 1, TILE, TILE + 1):
        found = tiled(X[:n])
        assert len(found) % TILE == 0
        assert len(found) < n + TILE
        assert np.array_equal(found[:n], X[:n])
        assert not found[n:].any()


def models():
    settings = {"epsilon": 5.0, "delta": 1e-3, "random_state": 0}
    ranges = {"x_range": (-5.0, 5.0)}
    smooth = {"x_range": (-5.0, 5.0), "y_range": (-9.0, 9.0)}
    classes = {"classes": [0, 1, 2]} | ranges
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "linear", eptr.LinearRegression(**settings, **smooth).fit(X, Y)
        yield "additive", eptr.AdditiveRegressor(**settings, **smooth).fit(X, Y)
        kernel = eptr.KernelRegressor(**settings, domain=(-5, 5), y_bound=9.0, bandwidth=2.0, trend="linear")
        yield "kernel", kernel.fit(X[:, :2], Y)
        yield "logistic", eptr.LogisticRegression(**settings, **classes).fit(X, CLASSES)
        yield "two classes", eptr.LogisticRegression(**settings, **ranges, classes=[0, 1]).fit(X, CLASSES > 0)
        yield "bayes", eptr.BayesClassifier(**settings, classes=[0, 1, 2], x_bound=9.0).fit(X, CLASSES)
        yield "shared", eptr.BayesClassifier(**settings, covariance="shared", **classes).fit(X, CLASSES)
    yield "scikit-learn", LinearRegression().fit(X, Y)
    yield "scikit-learn, classes", LogisticRegression().fit(X, CLASSES)


@pytest.mark.parametrize(("name", "model"), [pytest.param(*pair, id=pair[0]) for pair in models()])
def test_what_a_model_says_of_a_row_is_the_same_wherever_it_stands(name, model):
    told, x = Told(model, (-9.0, 9.0)), X[:, : model.n_features_in_]
    for method in {"predict", "predict_proba"} & set(dir(model)):
        whole = told.said(x, method)
        for cut in CUTS:
            np.testing.assert_array_equal(told.said(x[cut], method), whole[cut])


def test_scores_of_ties_move_by_no_more_than_was_charged(monkeypatch):
    """Rows at a tie of a model, and one person who does not count any more: everybody else moves up."""
    n, names = 1004, [f"x{j}" for j in range(8)]
    book = eptr.Codebook(
        {name: Number(-10, 10) for name in names} | {"y": Category(["no", "yes"]), "id": Number(0, 10**6)}
    )
    caught, draw = [], Spending.draw

    def noted(self, values, contribution, mu):
        caught.append((np.concatenate([np.ravel(v) for v in values]), contribution.sensitivity(self.protected)))
        return draw(self, values, contribution, mu)

    def study(x, y, people):
        columns = {name: x[:, j] for j, name in enumerate(names)} | {"y": list(y), "id": people}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eptr.Study(columns, book, epsilon=4.0, person="id", analyses=9, random_state=1)

    x = RNG.normal(size=(n, 8))
    y = np.where(x[:, 0] + RNG.normal(size=n) > 0, "yes", "no")
    fit = study(x, y, list(range(n))).logit(f"y ~ {' + '.join(names)}")
    w, b = fit.estimator.coef_[0], float(fit.estimator.intercept_[0])
    tied = 0
    while tied < 5:
        row = RNG.normal(size=8)
        row[-1] = -(b + row[:-1] @ w[:-1]) / w[-1]
        said = (np.tile(row, (n - 1, 1)) @ w + b) > 0.0  # by linear algebra: some above, some below
        if abs(row[-1]) > 10.0 or said.all() or not said.any():
            continue
        tied += 1
        for scoring in ("accuracy", "calibration", "roc_auc", "neg_log_loss"):
            first = []
            for people in (list(range(n)), [None, *range(1, n)]):
                with monkeypatch.context() as patch:
                    patch.setattr(Spending, "draw", noted)
                    caught.clear()
                    study(np.tile(row, (n, 1)), ["yes"] * n, people).score(fit, scoring)
                first.append(caught[0])
            (here, allowed), (there, _) = first
            assert np.linalg.norm((here - there).astype(float)) <= allowed * (1.0 + 1e-12)
