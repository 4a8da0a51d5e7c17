"""Drawings stay within their frames."""

from __future__ import annotations

import re

import pytest

from eptr.svg import Line, forest, price


@pytest.mark.parametrize(
    "values", [[(1.0, 0.5, 2.0, 0.2)], [(0.0, 0.0, 0.0, 0.0)], [(-1e9, -2e9, 1e-9, 1.0), (1e-9, 0, 1, 2)]]
)
def test_forests_of_any_size_stay_within_their_frame(values):
    drawing = forest([Line(str(k), *v) for k, v in enumerate(values)], "x", "caption")
    places = [float(v) for v in re.findall(r"(?:x1|x2|cx)='([^']+)'", drawing)]
    assert min(places) >= 199
    assert max(places) <= 721


def test_a_price_curve_has_its_floor():
    drawing = price([(0.1, 5.0), (1.0, 1.0)], (1.0, 1.0), 0.5, "width", "caption")
    assert drawing.count("class='floor'") == 1
    assert "sampling error alone" in drawing
