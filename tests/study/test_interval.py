"""Intervals hold whatever values inside them make."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eptr.study.interval import Interval


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_intervals_hold_sums_and_products_exactly(a, b, c, d):
    one, two = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
    for found, value in ((one + two, a + c), (one - two, a - c), (one * two, a * c), (one**2, a * a)):
        assert found.low <= value <= found.high
