"""Boxes by depth: volumes, distances and draws are those of their definitions, exactly."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from scipy import stats

from eptr.privacy import draws
from eptr.privacy.noise import ExactNoise, SeededNoise
from eptr.rivals import TukeyEM, tukey_boxes
from eptr.rivals.tukey_boxes import DepthBoxes

from ..privacy.fed_bits import distribution


def depth(points, z):
    """From the definition: the least number of points that are not on the other side of z."""
    return min(min(np.sum(points[:, j] <= z[j]), np.sum(points[:, j] >= z[j])) for j in range(points.shape[1]))


def test_every_float_has_the_exact_probability(monkeypatch):
    """One coordinate, points a few floats apart, every sequence of bits."""
    monkeypatch.setattr(draws, "FIRST_BITS", 2)
    places, ulp, rate, t = [0, 1, 1, 3, 4, 5, 7, 8], Fraction(1, 1 << 52), 0.75, 2
    boxes = DepthBoxes(np.array([[1.0 + k * 2.0**-52] for k in places]))
    found, undecided = distribution(lambda noise: float(boxes.deep_point(t, Fraction(rate), noise)[0]), 18)
    # In quarters of a float: the density is constant there, and a cell is four quarters around its float.
    mass, points = Counter(), np.array(places, dtype=float)[:, None]
    for quarter in range(4 * 8):
        at = depth(points, np.array([quarter / 4 + 1 / 8]))
        if at >= t:
            mass[float(1 + ((quarter + 2) // 4) * ulp)] += mpmath.exp(rate * int(at))
    total = mpmath.fsum(mass.values())
    assert undecided < 0.04
    assert set(found) == set(mass)
    for value, weight in mass.items():
        assert float(found[value]) <= weight / total <= float(found[value] + undecided)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_points_fall_into_cells_as_often_as_the_density_says(p):
    rng = np.random.default_rng(p)
    points = rng.normal(size=(9 if p > 1 else 16, p))
    t, rate, noise, boxes = 2, 0.4, SeededNoise(p), DepthBoxes(points)
    drawn = [boxes.deep_point(t, Fraction(rate), noise) for _ in range(6000)]
    edges = np.sort(points, axis=0)
    counts = Counter(tuple(int(np.searchsorted(edges[:, j], z[j])) for j in range(p)) for z in drawn)
    weights = {}
    for cell in product(range(1, len(points)), repeat=p):
        sides = [(edges[c - 1, j], edges[c, j]) for j, c in enumerate(cell)]
        at = depth(points, [(a + b) / 2 for a, b in sides])
        if at >= t:
            weights[cell] = math.prod(b - a for a, b in sides) * math.exp(rate * at)
    assert set(counts) <= set(weights)
    expected = np.array(list(weights.values())) * 6000 / sum(weights.values())
    observed = np.array([counts[cell] for cell in weights])
    many = expected > 10
    observed = np.append(observed[many], observed[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-3


def hostile_fits(rng):
    """Points of very different spread, with ties, and a neighbour of them."""
    m, p = int(rng.integers(1, 60)), int(rng.integers(1, 4))
    points = rng.normal(size=(m, p)) * 10.0 ** rng.integers(-3, 3, size=(m, 1))
    if rng.random() < 0.5:
        points = np.round(points, int(rng.integers(0, 3)))
    other = points.copy()
    other[rng.integers(m)] = rng.choice([0.0, 1e100, 5e-324, points[0, 0], rng.normal()], size=p)
    return points, other


def by_definition(boxes, t, rate, level):
    def holds(k):
        return any(
            boxes.volume(t - k - 1) * mpmath.exp(-rate * g)
            <= level * mpmath.exp(-2 * rate) * boxes.volume(t + k + g + 1)
            for g in range(1, boxes.deepest)
            if boxes.volume(t + k + g + 1)
        )

    return max((k for k in range(t - 1) if holds(k)), default=-1)


def test_the_distance_is_the_definition_s_and_moves_by_one_between_neighbours():
    rng, seen = np.random.default_rng(0), set()
    with mpmath.workprec(300):
        for _ in range(150):
            pair = [DepthBoxes(fits) for fits in hostile_fits(rng)]
            rate, level = float(rng.choice([0.1, 1.0, 5.0, 1e3])), float(rng.choice([0.1, 1e-6])) / 8
            t = max(1, len(pair[0]._edges[0]) // 4)
            one, two = (boxes.distance(t, Fraction(rate), Fraction(level)) for boxes in pair)
            assert one == by_definition(pair[0], t, rate, level)
            assert abs(one - two) <= 1
            seen.add(one)
    assert len(seen) > 6  # the search is not idle


@pytest.mark.parametrize("bits", [2, 64])
def test_distances_of_boxes_that_grow_step_by_step_are_the_definition_s(bits, monkeypatch):
    """Points at plus and minus b^i: whether a distance holds depends on single volumes, and is not seen from two bits alone."""
    monkeypatch.setattr(tukey_boxes, "FIRST_BITS", bits)
    seen = Counter()
    with mpmath.workprec(300):
        for base, rate, level in product([1.25, 1.5, 2.0], [0.25, 0.5, 1.0, 2.0], [0.0125, 1e-4]):
            boxes = DepthBoxes(np.outer(base ** np.arange(40.0), [-1.0, 1.0]).reshape(-1, 1))
            for t in (10, 14, 20):
                found = boxes.distance(t, Fraction(rate), Fraction(level))
                assert found == by_definition(boxes, t, rate, level)
                seen[found] += 1
    assert len(seen) > 10


def densities(points, t, rate, borders):
    """The mechanism's probability of each piece between borders, one coordinate."""
    mass = np.array(
        [
            (b - a) * math.exp(rate * at) if (at := depth(points, [(a + b) / 2])) >= t else 0.0
            for a, b in pairwise(borders)
        ]
    )
    return mass / mass.sum()


def test_safe_neighbours_are_as_close_as_the_lemma_says():
    rng, worst, safe = np.random.default_rng(1), 0.0, 0
    for _ in range(300):
        m, epsilon, delta = 40, float(rng.choice([0.5, 2.0, 8.0])), float(rng.choice([0.5, 0.05]))
        t, rate = 10, epsilon / 2
        fits = rng.standard_t(2, size=(m, 1)) if rng.random() < 0.5 else rng.choice([-1.0, 1.0], size=(m, 1))
        other = fits.copy()
        other[rng.integers(m)] = rng.choice([-100.0, 100.0, rng.normal()])
        if DepthBoxes(fits).distance(t, Fraction(rate), Fraction(delta) / 8) < 0:
            continue
        safe += 1
        borders = np.unique(np.concatenate([fits, other]))
        one, two = (densities(points, t, rate, borders) for points in (fits, other))
        for a, b in ((one, two), (two, one)):
            worst = max(worst, float(np.sum(np.maximum(a - math.exp(epsilon) * b, 0.0))) / delta)
    assert safe > 50
    assert worst <= 0.25


def test_boxes_without_volume_are_never_drawn_from():
    """A test that is passed by chance meets no box to draw from: no reply."""
    X, y = np.ones((400, 1)), np.ones(400)
    models = [TukeyEM(1.0, 0.9, 50, False, random_state=s).fit(X, y) for s in range(40)]
    assert not any(model.release_.replied for model in models)


def test_extreme_boxes_are_drawn_exactly_and_soon():
    fits = np.array([[-1e100], [-1.0], [-5e-324], [0.0], [5e-324], [1.0], [1e100], [1e100]])
    for noise in (ExactNoise(), SeededNoise(0)):
        for rate in (1e-9, 1.0, 500.0, 1e9):
            assert abs(DepthBoxes(fits).deep_point(1, Fraction(rate), noise)[0]) <= 1e100
