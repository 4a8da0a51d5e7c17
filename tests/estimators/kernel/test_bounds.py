"""Kernel sums of neighbours: degrees differ by one at most, answers by what is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.estimators.kernel.bounds import paper_rule, query_sums, tight_rule
from eptr.estimators.kernel.design import Design
from eptr.estimators.kernel.refined import _Scaled
from eptr.rows.exact import product_grid
from eptr.rows.memory import MemoryRows


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "wendland", "epanechnikov"])
def test_kernel_degrees_are_one_lipschitz_and_answers_close(kernel):
    rng = np.random.default_rng(3)
    design = Design(kernel, [(0.0, 1.0)], [0.3], 0.0, 1.0)
    block = query_sums(design, np.array([[0.2], [0.6]]), 8)
    for _ in range(300):
        x, y = rng.uniform(-0.2, 1.2, size=(8, 1)), rng.uniform(-2, 2, size=8)
        before = MemoryRows(x.copy(), y.copy()).sum(block)
        x[0], y[0] = rng.uniform(), rng.choice([-1.0, 1.0])
        after = MemoryRows(x, y).sum(block)
        assert np.all(np.abs(before[0] - after[0]) <= 1.0)
        for d0, n0, d1, n1 in zip(*before, *after, strict=True):
            if min(d0, d1) > 0:
                assert abs(n0 / d0 - n1 / d1) <= 2.0 / max(d0, d1) * (1 + 1e-12)


def test_constants_of_an_answer():
    design = Design("laplace", [(0.0, 10.0)], [0.5], 0.0, 3.0)
    least = 0.1 * 1000 * 0.5 * 2.0 / 10.0
    tight, paper = (rule(design, 1000, 0.1, 2) for rule in (tight_rule, paper_rule))
    assert (tight.threshold, tight.lipschitz, tight.lost) == (pytest.approx(least), 2.0, 0.0)
    assert tight.sensitivity == pytest.approx(2 * 2.0 * 3.0 / least, rel=1e-9)
    assert (paper.threshold, paper.lipschitz, paper.lost) == (pytest.approx(least), 4.0, 4.0)
    assert paper.sensitivity == pytest.approx(2 * 4.0 * 3.0 / least, rel=1e-9)
    found = paper.propose(least + 12.0, -2.0 * (least + 12.0))
    assert (float(found.estimate), found.safety) == (pytest.approx(-2.0), pytest.approx(2.0))
    assert (float(paper.propose(0.0, 0.0).estimate), paper.propose(0.0, 0.0).safety) == (0.0, 0.0)


def on_grid(values, grid):
    return np.all(values / grid == np.rint(values / grid))


def test_sums_are_exact_and_dropped_rows_are_in_none():
    rng, n = np.random.default_rng(0), 50
    x, y = rng.uniform(size=(n, 2)), rng.normal(size=n)
    x[::5] = np.nan
    design = Design("gaussian", [(0.0, 1.0)] * 2, [0.3, 0.4], 0.0, 1.7)
    rows = lambda keep: MemoryRows(x[keep], y[keep], drop_invalid=True)  # noqa: E731
    block, every, some = query_sums(design, x[1:4], n), slice(None), np.isfinite(x[:, 0])
    grids = product_grid(n, 1.0), product_grid(n, 1.7)
    for found, same in zip(rows(every).sum(block), rows(some).sum(block), strict=True):
        np.testing.assert_array_equal(found, same)
    degrees, sums = rows(every).sum(block)
    assert on_grid(degrees, grids[0])
    assert on_grid(sums, grids[0] * grids[1])
    features = design.features()
    (both,) = rows(every).sum(lambda a, b, keep: (features.sums(design.inside(a), np.clip(b, -1.0, 1.0), n, keep),))
    (same,) = rows(some).sum(lambda a, b, keep: (features.sums(design.inside(a), np.clip(b, -1.0, 1.0), n, keep),))
    np.testing.assert_array_equal(both, same)
    assert on_grid(both, grids[0] ** 2)
    assert np.any(both)


def test_dropped_rows_are_zero_after_the_domain_was_mapped():
    design = Design("gaussian", [(2.0, 4.0)], [0.3], 5.0, 1.0)
    rows = _Scaled(MemoryRows(np.array([[4.0], [np.nan]]), np.array([5.5, 1.0]), drop_invalid=True), design, 0.25)
    seen = []
    rows.sum(lambda x, y, keep: (seen.extend([x, y]), ())[1])
    assert [a.tolist() for a in seen] == [[[1.0], [0.0]], [0.25, 0.0]]
