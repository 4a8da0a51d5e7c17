"""Fitted models know names, and predict as they were fitted."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import eptr
from eptr import Study
from eptr.codebook import Category, Flag, Number
from eptr.errors import NotPrivateWarning
from eptr.panel import panel
from eptr.study.publication import fit_page

from .survey import BOOK, PEOPLE, by_hand, people, seeded


def test_a_fit_is_that_of_the_estimator_called_by_hand():
    study = seeded()
    found = study.ols("wage ~ age + sex")
    x = pd.DataFrame({"age": PEOPLE["age"], "sex[T.M]": PEOPLE["sex"] == "M"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        model = eptr.LinearRegression(
            x_range=[(0, 110), (0, 1)], y_range=(1, 5000), **by_hand(type("r", (), {"release": found.release_}), 1)
        ).fit(x, PEOPLE["wage"])
    np.testing.assert_array_equal(found.coef_, model.coef_)
    table = model.summary()
    assert list(found.params.index) == ["Intercept", "age", "sex[T.M]"]
    np.testing.assert_array_equal(found.params.to_numpy(), np.roll(table.estimates, 1))
    np.testing.assert_array_equal(found.bse.to_numpy(), np.roll(table.errors, 1))
    np.testing.assert_array_equal(found.conf_int(), np.roll(table.intervals, 1, axis=0))
    np.testing.assert_array_equal(found.pvalues.to_numpy(), np.roll(table.p_values, 1))
    np.testing.assert_allclose(found.predict(PEOPLE), model.predict(x))
    assert [line[3] for line in found.lines()[1:]] == ["<2e-16" if p < 2e-16 else f"{p:.3g}" for p in found.pvalues]
    assert "<2e-16" in str(found)


def test_predictions_leave_out_rows_that_lack_a_value():
    fit = seeded().ols("wage ~ age + sex")
    found = fit.predict({"age": [40, "?", 40], "sex": ["F", "F", "X"]})
    assert np.isfinite(found).tolist() == [True, False, False]


def test_a_rough_logistic_fit_knows_which_part_is_sampling():
    fit = seeded(people(600), epsilon=1.0).logit("sex ~ age")
    assert all(math.isfinite(line.sampling) for line in panel(fit).lines)
    assert np.all(fit.estimator.fitted_.se_sampling <= fit.estimator.summary().errors)


def test_logistic_regression_of_a_formula():
    study = seeded(people(8000), epsilon=20.0)
    frame = people(8000)
    fit = study.logit("I(wage > 150) ~ age + sex")
    assert list(fit.params.index) == ["Intercept", "age", "sex[T.M]"]
    assert fit.params["age"] > 0
    assert fit.params["sex[T.M]"] > 0
    right = np.mean(fit.predict(frame) == (frame["wage"] > 150))
    assert right > 0.7
    assert fit.predict_proba(frame).shape == (8000, 2)
    assert study.score(fit, "accuracy").value == pytest.approx(right, abs=0.02)
    assert set(study.logit("sex ~ wage").predict(frame.head(9))) <= {"F", "M"}
    assert str(study.logit("sex ~ wage")) == str(Study.logit(study, "sex ~ wage"))


def test_smooth_functions_of_a_formula():
    study = seeded(people(8000), epsilon=20.0)
    frame = people(8000)
    fit = study.smooth("log(wage) ~ s(age) + sex")
    value, low, high = fit.partial_effect("age", [30, 70])
    assert value[1] - value[0] == pytest.approx(0.8, abs=0.15)  # 0.02 times 40 years
    assert np.all((low < value) & (value < high))
    found = fit.predict(frame)
    assert 1 - np.mean((np.log(frame["wage"]) - found) ** 2) / np.var(np.log(frame["wage"])) > 0.4
    assert str(study.smooth("log(wage) ~ s(age) + sex")) == str(fit)


def test_predictions_move_values_beyond_a_range_to_its_edge_as_the_fit_does():
    fit = seeded().ols("wage ~ age + I(age**2)")
    beyond, edge = fit.predict({"age": [500.0, -7.0]}), fit.predict({"age": [110.0, 0.0]})
    assert beyond == pytest.approx(edge)


def test_wherever_a_fit_is_shown_it_says_that_intervals_need_not_hold():
    """`summary()` said so, and what people print first did not."""
    few, many = seeded(people(400)).ols("wage ~ age"), seeded(people(40_000)).ols("wage ~ age")
    assert few.summary().corrected is False
    for shown in (str(few), few._repr_html_()):
        assert "intervals may not keep their level" in " ".join(shown.split())
    assert many.summary().corrected is True
    assert many.caution == ""
    assert "may not keep their level" not in str(many)


def test_a_stored_fit_is_read_again_and_half_of_one_is_a_sentence():
    fit = seeded().ols("wage ~ age + sex")
    again = eptr.study.Fit.from_json(fit.to_json())
    pd.testing.assert_series_equal(again.params, fit.params)
    for text in ('{"schema": "eptr-study/1"}', "[]", "no"):
        with pytest.raises(eptr.InputError, match="not a model that a study wrote"):
            eptr.study.Fit.from_json(text)
    with pytest.raises(eptr.InputError, match=r"eptr\.study\.Fit\.from_json"):
        eptr.from_json(fit.to_json())


def test_log_odds_of_a_flag_are_told_in_its_words():
    rng = np.random.default_rng(0)
    data = {"age": rng.uniform(18, 80, 3000), "smoker": np.where(rng.random(3000) < 0.3, "often", "never")}
    book = eptr.Codebook({"age": Number(0, 110), "smoker": Flag("often", "never")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        study = eptr.Study(data, book, epsilon=4.0, analyses=1, random_state=0)
    fit = study.logit("smoker ~ age")
    for text in (str(fit), str(fit.summary()), fit._repr_html_(), fit_page(fit, 3000)):
        assert "log odds of smoker = often (against never)" in text
    assert re.search(r"about: never \d\d.\d%, often \d\d.\d%", str(fit.summary()))
    again = eptr.study.Fit.from_json(fit.to_json())
    assert again.compared == fit.compared
    likely = again.predict_proba(data)[:, 1] > 0.5
    np.testing.assert_array_equal(again.predict(data), np.where(likely, "often", "never"))
    assert again.predict({"age": [40.0, np.nan]}).tolist()[1] is None


def test_levels_and_flags_move_by_all_of_their_range_in_a_figure():
    data = PEOPLE.assign(place=np.resize(["a", "b", "c"], len(PEOPLE)))
    book = eptr.Codebook(BOOK.columns | {"place": Category(["a", "b", "c"])}, BOOK.na_values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        study = eptr.Study(data, book, epsilon=8.0, analyses=2, random_state=0)
    wage = study.ols("wage ~ age*sex + I(age > 40)").reaches()
    assert wage == {"age": 55.0, "sex[T.M]": 1.0, "I(age > 40)": 1.0, "age:sex[T.M]": 55.0}
    assert study.logit("place ~ age").reaches() == {"b: age": 55.0, "c: age": 55.0}
