"""Models of a formula: which outcomes and terms they take, and settings that follow from the codebook."""

from __future__ import annotations

import math

import pytest

from eptr import InputError
from eptr.study.models import model

from .rows import BOOK


@pytest.mark.parametrize(
    ("method", "text", "said"),
    [
        ("ols", "sex ~ age", "study.logit"),
        ("logit", "wage ~ age", "study.ols"),
        ("smooth", "wage ~ age", "s(column)"),
        ("smooth", "wage ~ s(age) + kids", "s(column)"),
        ("smooth", "wage ~ s(age) * sex", "adds up"),
        ("smooth", "wage ~ s(sex)", "needs a number"),
    ],
)
def test_models_say_which_outcomes_and_terms_they_take(method, text, said):
    with pytest.raises(InputError) as caught:
        model(method, text, BOOK)
    assert said in str(caught.value)


def test_settings_of_models_follow_from_the_codebook():
    asked = model("ols", "log(wage) ~ age + sex - 1", BOOK)
    assert asked.settings["x_range"] == [(18.0, 90.0), (0.0, 1.0), (0.0, 1.0)]
    assert asked.settings["y_range"] == pytest.approx((0.0, math.log(1000)))
    assert not asked.settings["fit_intercept"]
    assert model("logit", "sex ~ age", BOOK).settings["classes"] == ["F", "M"]
    assert model("logit", "I(wage > 10) ~ age", BOOK).settings["classes"] == [0, 1]
    assert model("logit", "member ~ age", BOOK).settings["classes"] == [0, 1]
    smooth = model("smooth", "wage ~ s(age) + s(age, kids) + region + member", BOOK).settings
    assert smooth["terms"] == [(0,), (0, 1)]
    assert smooth["categories"] == {2: [0, 1, 2, 3], 3: [0, 1]}
    assert smooth["x_range"] == [(18.0, 90.0), (0.0, 3.0), (0.0, 3.0), (0.0, 1.0)]
