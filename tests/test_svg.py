"""Drawings stay within their frames."""

from __future__ import annotations

import re

import pytest

from eptr.svg import Line, forest, price


@pytest.mark.parametrize(
    "values", [[(1.0, 0.5, 2.0, 0.2)], [(0.0, 0.0, 0.0, 0.0)], [(-1e9, -2e9, 1e-9, 1.0), (1e-9, 0, 1, 2)]]
)
def test_forests_of_any_size_stay_within_their_frame(values):
    drawn = forest([Line(str(k), *v) for k, v in enumerate(values)], "x", "caption").split("<svg")[1:]
    for drawing, left, right in zip(drawn, (199, 15), (721, 361), strict=True):
        places = [float(v) for v in re.findall(r"(?:x1|x2|cx)='([^']+)'", drawing)]
        assert min(places) >= left
        assert max(places) <= right


def test_a_narrow_forest_has_names_above_its_rows_and_breaks_its_axis():
    broad, narrow = forest([Line("a long name of a term", 1.0, 0.5, 2.0)], "word " * 20 + "\nlast", "").split("<svg")[
        1:
    ]
    assert "viewBox='0 0 720 " in broad
    assert "viewBox='0 0 360 " in narrow
    assert [drawing.count("word word") for drawing in (broad, narrow)] == [10, 9]
    y = float(re.search(r"cy='([^']+)'", narrow)[1])
    assert float(re.search(r"y='([^']+)' text-anchor='start'>a long name", narrow)[1]) == y - 16
    assert narrow.count(">last<") == broad.count(">last<") == 1


def test_a_price_curve_has_its_floor():
    drawing = price([(0.1, 5.0), (1.0, 1.0)], (1.0, 1.0), 0.5, "width", "caption")
    for one in drawing.split("<svg")[1:]:
        assert one.count("class='floor'") == 1
        assert "sampling error alone" in one
        label = float(re.search(r"y='([^']+)' text-anchor='start'>width<", one)[1])
        curve = re.search(r"polyline class='curve' points='([^']+)'", one)[1]
        assert label + 4 < min(float(point.partition(",")[2]) for point in curve.split())  # not on top of it
