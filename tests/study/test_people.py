"""Who is one person, how many rows of each count, and what it means for intervals that they are alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eptr import Codebook, InputError
from eptr.codebook import Number, Text
from eptr.panel import panel
from eptr.study.layout import Frame
from eptr.study.people import _key, bounded

from .survey import people, seeded


def test_identifiers_that_read_the_same_are_one_person():
    assert _key(17) == _key(17.0) == "11"
    assert _key(-3) == "-3"
    assert _key(2**70) == f"{2**70:x}"
    assert _key(1.5) == "1.5"  # none of the whole numbers beside it
    assert _key("17") == _key(17)
    assert _key("x17") == "x17"
    assert _key(None) is _key(float("nan")) is None


def test_a_column_of_persons_that_is_not_there_is_named():
    with pytest.raises(InputError, match="person='whom'"):
        bounded(Frame({"age": [1.0], "who": [3]}), "whom", 2)


def test_at_most_so_many_rows_of_a_person_count():
    # One person has 3,000 of 4,000 rows, all at 100; the others are at 20.
    age = np.r_[np.full(3000, 100), np.full(1000, 20)]
    rows = pd.DataFrame({"age": age, "id": np.r_[np.zeros(3000), np.arange(1, 1001)]}).sample(frac=1, random_state=0)
    book = Codebook({"age": Number(0, 110), "id": Text()})
    count = seeded(rows, book, epsilon=50.0, person="id", rows_each=2).histogram("age", [0, 50, 110]).value
    assert count == pytest.approx([1000, 2], abs=15)
    with pytest.raises(InputError, match="person='nobody'"):
        seeded(rows, book, person="nobody")


def test_intervals_allow_for_dependence_among_the_rows_of_a_person():
    one, two = (seeded(rows_each=k).table("sex") for k in (1, 4))
    assert two.se_sampling == pytest.approx(2.0 * one.se_sampling, rel=0.1)
    assert two.release.rows_per_person == 4


@pytest.mark.parametrize(
    ("method", "formula"), [("ols", "wage ~ age + sex"), ("logit", "sex ~ age"), ("smooth", "wage ~ s(age) + sex")]
)
def test_every_interval_of_a_fit_allows_for_dependence(method, formula):
    """Coefficients, bands, statement and page alike: sampling variances times the rows of a person that are trusted to be so."""
    plain, wide = (getattr(seeded(people(20_000), rows_each=k, epsilon=400.0), method)(formula) for k in (1, 4))
    (one, two), names = (panel(fit).lines for fit in (plain, wide)), list(plain.params.index)
    for before, after in zip(one, two, strict=True):
        assert after.name in names
        if method != "smooth":  # where what may lie beyond the last band counts as sampling, too
            assert after.sampling == pytest.approx(2.0 * before.sampling, rel=0.2)
        assert np.ptp(wide.conf_int().loc[after.name]) == pytest.approx(after.high - after.low)
    widths = np.ptp(wide.conf_int(), axis=1)
    assert wide.facts().widths == pytest.approx((widths.min(), widths.max()))
    if method == "ols":
        assert wide.estimator.fitted_.residual_scale == pytest.approx(plain.estimator.fitted_.residual_scale, rel=0.1)
    if method == "smooth":
        bands = [fit.partial_effect("age", [30.0, 50.0]) for fit in (plain, wide)]
        assert np.all(bands[1][2] - bands[1][1] > bands[0][2] - bands[0][1])
        assert names == ["Intercept", "sex[T.M]"]
        assert "sex[T.M]" in str(wide)
        assert "s(age)" in wide._repr_html_()
