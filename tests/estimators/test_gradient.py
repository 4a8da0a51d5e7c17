"""Sums of gradients: nothing that is asked of a row leaves its contribution, and all of it is the same in any pieces."""

from __future__ import annotations

import numpy as np
import pytest

from eptr.estimators.gradient import (
    ROW_BITS,
    Bands,
    Beyond,
    Curvature,
    Gradient,
    Norms,
    Parts,
    Residuals,
    Slope,
    Spread,
    round_public,
)
from eptr.estimators.linear.refined import Squares
from eptr.estimators.logistic.likelihood import Several, Two
from eptr.privacy.contribution import Outer, Together
from eptr.privacy.unit import Unit
from eptr.rows.exact import product_grid, sum_grid
from eptr.rows.memory import MemoryRows

from .gaps import gradient_gap

ASKS = {
    "one band": Bands((0.7,)),
    "bands": Bands((0.5, 1.0, 2.0, 8.0)),
    "beyond": Beyond(1.0),
    "norms": Norms((0.25, 0.5, 1.0, 2.0)),
    "lengths in the curvature": Norms((0.25, 0.5, 1.0, 2.0), rooted=True),
    "curvature": Curvature(6.0),
    "curvature of short gradients": Curvature(0.5, below=20.0),
    "residuals": Residuals(-0.25, 0.5),
    "slope": Slope(20.0),
    "spread": Spread(1.5),
    "bands and spread": Parts(Bands((0.5, 1.5)), Spread(1.5)),
    "longer bands than spread": Parts(Bands((0.25, 0.5, 4.0)), Spread(0.75)),
}
EVERY = pytest.mark.parametrize("name", ASKS)
LIKELIHOODS = {"squares": Squares(-48.0, 48.0), "two classes": Two(0.3), "classes": Several(np.array([0.5, 0.4, 0.1]))}
rng = np.random.default_rng(0)
W = round_public(rng.normal(size=(4, 4)), ROW_BITS - 3)
X, Y = rng.standard_t(3, size=(2001, 3)) * [5.0, 1.0, 0.1], rng.standard_t(3, size=2001) + 1.0


def gradient(likelihood="squares", constant=0.75):
    p = 4 if constant else 3
    theta = np.linspace(-1.0, 1.0, p)
    if likelihood == "classes":
        theta = np.outer(theta, [1.0, -0.5, 0.3])
    return Gradient(LIKELIHOODS[likelihood], 1.99, constant, W[:p, :p], theta)


def plain(x, y, constant=0.75):
    """z (rows) and r by the book; rows are seen up to 16 times their bound, rounded up to a power of two."""
    wide = np.column_stack([np.clip(x, -32.0, 32.0), np.full(len(x), constant)])
    return wide @ W, np.clip(y, -48.0, 48.0) - wide @ np.linspace(-1.0, 1.0, 4)


@pytest.mark.parametrize(
    ("name", "likelihood", "relation"),
    [
        (name, likelihood, relation)
        for name in ASKS
        for likelihood, relation in (
            ("squares", "replace-one"),
            ("squares", "zero-out"),
            ("two classes", "zero-out"),
            ("classes", "replace-one"),
        )
        if (name, likelihood) != ("residuals", "classes")  # which have several of them
    ],
)
def test_no_row_leaves_its_contribution_and_some_row_reaches_its_end(name, likelihood, relation):
    # The weight of a class fades with |z|: its curvature and its gradients are smaller than squares have.
    ask = Curvature(0.1) if likelihood != "squares" and name[:4] == "curv" else ASKS[name]
    found = gradient_gap(ask, np.random.default_rng(1), likelihood=LIKELIHOODS[likelihood], unit=Unit(relation))
    # Of three classes no two residuals are opposite, and a curvature of rank two is shorter than its trace.
    assert (0.7 if likelihood == "classes" else 0.999) < found <= 1.0


@EVERY
def test_a_row_that_is_dropped_adds_nothing_whatever_stood_in_it(name):
    holes = X[:50].copy()
    holes[::7, 1], expected = np.nan, np.delete(np.arange(50), np.arange(0, 50, 7))
    found = gradient().sums(MemoryRows(holes, Y[:50], drop_invalid=True), ASKS[name])[0]
    # The grid follows from the public n: the rows that stay are summed one by one on it.
    ask = ASKS[name]
    parts = [ask(gradient().block(X[[i]], Y[[i]], None), 50) for i in expected]
    np.testing.assert_array_equal(found, np.sum(parts, axis=0))
    assert np.any(found)
    nothing = gradient().sums(MemoryRows(np.full((9, 3), np.nan), np.ones(9), drop_invalid=True), ask)[0]
    np.testing.assert_array_equal(nothing, np.zeros_like(found))


@EVERY
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("constant", [None, 0.75])
def test_the_same_bits_in_any_pieces_and_any_order(name, likelihood, constant):
    holes, order = np.where(rng.random(X.shape) < 0.01, np.nan, X), rng.permutation(len(X))
    at, ask = gradient(likelihood, constant), ASKS[name]
    expected = at.sums(MemoryRows(holes, Y, drop_invalid=True), ask)[0]
    for rows in (
        MemoryRows(holes, Y, drop_invalid=True, block=2),
        MemoryRows(holes, Y, drop_invalid=True, block=13),
        MemoryRows(holes[order], Y[order], drop_invalid=True, block=1000),
        MemoryRows(np.asfortranarray(holes), Y, drop_invalid=True),
    ):
        np.testing.assert_array_equal(at.sums(rows, ask)[0], expected)


@pytest.mark.parametrize("levels", [(1.0,), (0.5, 1.0), (0.1, 0.4, 3.0, 40.0)])
def test_bands_add_up_to_the_gradient_cut_at_the_last_level(levels):
    z, r = plain(X, Y)
    norm = np.linalg.norm(z, axis=1) * np.abs(r)
    bands = gradient().sums(MemoryRows(X, Y), Bands(levels))[0]
    whole = (z * (r * np.minimum(1.0, levels[-1] / norm))[:, None]).sum(axis=0)
    np.testing.assert_allclose(bands.sum(axis=0), whole, rtol=1e-6, atol=1e-6 * levels[-1])
    for low, high, band in zip((0.0, *levels), levels, bands, strict=False):  # and each is what lies between its ends
        between = (z * (r * np.clip(norm - low, 0.0, high - low) / norm)[:, None]).sum(axis=0)
        np.testing.assert_allclose(band, between, rtol=1e-6, atol=1e-6 * levels[-1])


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize(("levels", "level"), [((0.5, 1.0), 1.0), ((0.1, 0.4, 3.0), 0.4), ((1.0,), 7.0)])
def test_bands_and_spread_are_what_they_are_alone(likelihood, levels, level):
    labels = np.abs(np.rint(Y)) % 2.0
    rows, bands, spread = MemoryRows(X, Y if likelihood == "squares" else labels), Bands(levels), Spread(level)
    both, first, second = gradient(likelihood).sums(rows, Parts(bands, spread), bands, spread)
    np.testing.assert_allclose(both[: len(levels)], first, rtol=1e-4, atol=1e-5 * len(X) * levels[-1])
    np.testing.assert_allclose(both[len(levels) :], second, rtol=1e-4, atol=1e-5 * len(X) * level**2)


def test_bands_of_parts_are_on_the_grids_that_make_their_sums_exact():
    levels = 0.1, 0.4, 3.0
    found = Parts(Bands(levels), Spread(0.4))(gradient().block(X[:30], Y[:30], None), 30)
    for low, high, band in zip((0.0, *levels), levels, found, strict=False):
        units = band / sum_grid(30, high - low)
        np.testing.assert_array_equal(units, np.rint(units))
        assert np.max(np.abs(units)) > 2.0**44


def test_the_other_sums_are_those_of_the_book():
    z, r = plain(X, Y)
    size = np.linalg.norm(z, axis=1)
    norm = size * np.abs(r)
    edges = (0.5, 1.0, 2.0, 16.0)
    asks = Beyond(2.0), Norms(edges), Curvature(24.0), Curvature(24.0, below=3.0), Spread(5.0), Residuals(-1.0, 3.0)
    beyond, counts, curvature, inside, spread, residuals = gradient().sums(MemoryRows(X, Y), *asks)
    assert residuals == pytest.approx(np.sum(np.clip(r, -1.0, 3.0)), rel=1e-4)
    assert beyond == np.sum(norm > 2.0)
    assert counts.tolist() == np.histogram(norm, [0.0, *edges[:-1], np.inf])[0].tolist()
    cut = z * np.minimum(1.0, np.sqrt(24.0) / size)[:, None]
    v = z * (r * np.minimum(1.0, 5.0 / norm))[:, None]
    near = {"rtol": 1e-4, "atol": 1e-4 * len(X)}
    np.testing.assert_allclose(curvature, cut.T @ cut, **near)
    np.testing.assert_allclose(inside, cut[norm <= 3.0].T @ cut[norm <= 3.0], **near)
    np.testing.assert_allclose(spread, v.T @ v, **near)


@pytest.mark.parametrize("each", [1, 3])
def test_gradients_of_one_person_are_added_before_they_are_multiplied(each):
    z, r = plain(X[:30], Y[:30])
    v = z * (r * np.minimum(1.0, 1.5 / (np.linalg.norm(z, axis=1) * np.abs(r))))[:, None]
    persons, ask = v.reshape(-1, each, 4).sum(axis=1), Spread(1.5, each)
    found = ask(gradient().block(X[:30], Y[:30], None), 30)
    np.testing.assert_allclose(found, persons.T @ persons, rtol=1e-4, atol=1e-4)
    assert ask.contributions(4) == [Outer(1.5, 4) if each == 1 else Together(4.5, 4)]


@pytest.mark.parametrize(("ask", "radius"), [(Curvature(0.01), 0.1), (Curvature(100.0), 10.0), (Spread(0.3, 3), 0.9)])
def test_products_are_whole_multiples_of_the_grid_that_makes_their_sums_exact(ask, radius):
    found = ask(gradient().block(X[:30], Y[:30], None), 30) / product_grid(30, radius) ** 2
    np.testing.assert_array_equal(found, np.rint(found))
    assert np.max(np.abs(found)) > 2.0**40


def test_residuals_are_on_the_grid_of_the_farther_end():
    found = Residuals(-0.1, 10.0)(gradient().block(X[:30], Y[:30], None), 30) / sum_grid(30, 10.0)
    assert found == np.rint(found)


def test_what_is_released_is_rounded_to_the_bits_of_its_largest_number():
    assert round_public(np.array([-8.0, 0.3, 5.6]), 4).tolist() == [-8.0, 0.0, 6.0]
    assert round_public(np.zeros(2), 4).tolist() == [0.0, 0.0]


def test_what_goes_to_the_rows_does_not_hold_them():
    """A pass travels to workers: rows in it would travel, too, and those of a cluster cannot."""
    sent, rows = [], MemoryRows(X, Y)
    rows.sum = lambda fn: sent.append(fn) or ()
    gradient().sums(rows, *ASKS.values())
    assert not any(cell.cell_contents is rows for cell in sent[0].__closure__)


@pytest.mark.parametrize("each", [4, 16])
def test_sums_of_persons_are_exact_in_any_order(each):
    """Rows of a person that are nearly alike, and long: what they add up to, squared, must still have its last bit."""
    people = 40
    x, y = np.tile(X[:1], (people * each, 1)), np.full(people * each, 50.0)
    x += 1e-3 * rng.normal(size=x.shape)
    part, n = Parts(Bands((0.5, 1.0)), Spread(1.0, each)), people * each

    def summed(order):
        rows = (each * np.asarray(order)[:, None] + np.arange(each)).ravel()
        return part(gradient().block(x[rows], y[rows], None), n)

    wanted = summed(range(people))
    for _ in range(20):
        np.testing.assert_array_equal(summed(rng.permutation(people)), wanted)
    halves = summed(range(17)) + summed(range(17, people))
    np.testing.assert_array_equal(halves, wanted)


def test_rows_enter_as_whole_numbers_of_a_grid():
    one = gradient()
    whole = np.rint(X / one.grid) * one.grid
    assert np.any(whole != X)
    for seen, wanted in zip(one.block(X, Y, None)[:4], one.block(whole, Y, None)[:4], strict=True):
        np.testing.assert_array_equal(seen, wanted)


@pytest.mark.parametrize("beyond", [1.0001, 1.01, 3.0])
def test_a_value_just_beyond_what_is_seen_is_moved_to_its_edge(beyond):
    edge = gradient().grid * 2.0**ROW_BITS
    x, y = np.array([[edge, 0.5 * edge, 0.0], [1.0, 0.0, 2.0]]), np.array([1.0, -1.0])
    far = x * [[beyond, 1.0, 1.0], [1.0, 1.0, 1.0]]
    found = []
    for table in (x, far):
        rows = MemoryRows(table, y)
        rows.check()
        found.append(gradient().sums(rows, Bands((0.5, 2.0)))[0])
    np.testing.assert_array_equal(*found)
