"""What one row can add: no pair of neighbours that was searched for costs more than mu, and some pair costs just that.

The cost is measured where noise is drawn: every call of a contribution's `draw` is recorded, and the loss is the sum over the
calls of (change / scale)^2. A weaker constant or a smaller scale, on any coordinate, shows up as a pair that costs too much.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from eptr import InputError
from eptr.privacy.claim import Cost
from eptr.privacy.contribution import (
    Absolute,
    Ball,
    Box,
    Cell,
    Interval,
    LabelledBall,
    Outer,
    Shape,
    WeightedOuter,
)
from eptr.privacy.noise import NoiseStandIn
from eptr.privacy.spending import Spending
from eptr.privacy.unit import Unit

MU = 0.7
RELATIONS = ("replace-one", "zero-out")
BOTH = pytest.mark.parametrize("relation", RELATIONS)


# Row functions: a vector of free numbers becomes what one row adds, always inside the set. The largest are easy to reach.


def ball(z, radius):
    return z * min(1.0, radius / max(float(np.linalg.norm(z)), 1e-300))


def between(z, low, high):
    return np.clip(z, low, high)


def cell(z):
    return np.eye(len(z))[int(np.argmax(z))]


def labelled(z, cells, radius):
    """(counts, sums): a one and a vector in the same cell."""
    member = cell(z[:cells])
    return member, np.outer(member, ball(z[cells:], radius))


def outer(z, radius):
    x = ball(z, radius)
    return np.outer(x, x)


def weighted(z, bound):
    """w x x' with a weight that may be large where x is small."""
    size = float(z[1:] @ z[1:])
    weight = min(math.exp(min(float(z[0]), 300.0)), bound / max(size, 1e-300))
    return weight * np.outer(z[1:], z[1:])


# Name, contribution, row function, free numbers it takes.
CASES = {
    "ball": (Ball(1.5), lambda z: ball(z, 1.5), 3),
    "ball of one number": (Ball(0.3), lambda z: ball(z, 0.3), 1),
    "interval below, around zero": (Interval(-1.0, 3.0), lambda z: between(z[0], -1.0, 3.0), 1),
    "interval above zero": (Interval(50.0, 60.0), lambda z: between(z[0], 50.0, 60.0), 1),
    "interval below zero": (Interval(-7.0, -2.0), lambda z: between(z[0], -7.0, -2.0), 1),
    "interval from zero": (Interval(0.0, 4.0), lambda z: between(z[0], 0.0, 4.0), 1),
    "box": (Box(3), lambda z: between(z, 0.0, 1.0), 3),
    "cell": (Cell(), cell, 4),
    "labelled ball": (LabelledBall(2.5), lambda z: labelled(z, 3, 2.5), 5),
    "labelled ball, small": (LabelledBall(0.01), lambda z: labelled(z, 2, 0.01), 5),
    "labelled ball of one cell": (LabelledBall(2.5), lambda z: labelled(z, 1, 2.5), 3),
    "outer": (Outer(1.5, 3), lambda z: outer(z, 1.5), 3),
    "outer of two": (Outer(40.0, 2), lambda z: outer(z, 40.0), 2),
    "outer of one number": (Outer(1.5, 1), lambda z: outer(z, 1.5), 1),
    "weighted outer": (WeightedOuter(2.0, 3), lambda z: weighted(z, 2.0), 4),
    "weighted outer of one number": (WeightedOuter(2.0, 1), lambda z: weighted(z, 2.0), 2),
    # A rectangle around zero: neither is twice the other.
    "shape": (
        Shape(math.hypot(4.0, 2.0), math.hypot(3.0, 2.0)),
        lambda z: between(z[:2], np.array([-1.0, 0.0]), np.array([3.0, 2.0])),
        2,
    ),
}  # fmt: skip
# With one cell there is nothing to move from one cell to another, but u and -u still are as far apart.
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def plus(one, two):
    return tuple(a + b for a, b in zip(one, two, strict=True)) if isinstance(one, tuple) else one + two


def nothing(value):
    return tuple(0.0 * v for v in value) if isinstance(value, tuple) else 0.0 * value


def total(parts):
    result = parts[0]
    for part in parts[1:]:
        result = plus(result, part)
    return result


def drawn(contribution, values, unit):
    """Every call for noise: the numbers it is added to, and its scale."""
    calls = []

    def gaussian(numbers, scale):
        calls.append((np.array(numbers, dtype=float).ravel(), scale))
        return np.array(numbers, dtype=float)

    contribution.draw(values, unit, MU, gaussian)
    return calls


def loss(contribution, one, two, unit):
    """The mu that the pair costs, from what was drawn."""
    pairs = zip(drawn(contribution, one, unit), drawn(contribution, two, unit), strict=True)
    return math.sqrt(sum(float(np.sum(((a - b) / scale) ** 2)) for (a, scale), (b, _) in pairs))


def starts(rng, rows, size):
    """Pairs of (rows, size) numbers that try hard: opposite, orthogonal, alike, one cell and another, tiny, huge, random."""
    axes = np.eye(size)
    for a in range(size):
        for b in range(size):
            for scale in (1.0, 1e3):
                yield np.tile(scale * axes[a], (rows, 1)), np.tile(scale * axes[b], (rows, 1))
            yield (
                np.tile(100.0 * axes[a] + 99.0 * axes[b], (rows, 1)),
                np.tile(100.0 * axes[a] - 99.0 * axes[b], (rows, 1)),
            )
    for scale in (1e-3, 1.0, 1e3):
        one = np.tile(scale * rng.normal(size=size), (rows, 1))
        yield one, -one
        yield scale * rng.normal(size=(rows, size)), scale * rng.normal(size=(rows, size))
    yield 1e3 * np.ones((rows, size)), -1e3 * np.ones((rows, size))
    yield 1e3 * np.ones((rows, size)), np.zeros((rows, size))


def worst(measure, rng, rows, size, steps=150):
    """The largest cost found: the best three starts, each improved by random steps of all sizes."""
    found = sorted(((measure(*pair), k, pair) for k, pair in enumerate(starts(rng, rows, size))), reverse=True)[:3]
    best = found[0][0]
    for value, _, (one, two) in found:
        for _ in range(steps):
            size_of_step = 10.0 ** rng.uniform(-3, 1)
            moved = one + size_of_step * rng.normal(size=one.shape), two + size_of_step * rng.normal(size=two.shape)
            if (there := measure(*moved)) > value:
                value, (one, two) = there, moved
        best = max(best, value)
    return best


def neighbours_cost(cost, function, relation, rows):
    """Cost of the pair of sums in which ``rows`` rows become others (some dropped), or are dropped."""

    def measure(one, two):
        first = total([function(z) for z in one])
        second = total([function(z) for z in two])
        gone = cost(first, nothing(first))
        return gone if relation == "zero-out" else max(gone, cost(first, second))

    return measure


@EVERY
@BOTH
@pytest.mark.parametrize("rows", [1, 3])
def test_no_pair_costs_more_than_mu_and_some_pair_costs_mu(case, relation, rows):
    contribution, function, size = case
    unit = Unit(relation, rows)
    measure = neighbours_cost(lambda a, b: loss(contribution, a, b, unit), function, relation, rows)
    found = worst(measure, np.random.default_rng(rows), rows, size, steps=150 if rows == 1 else 50)
    assert found <= MU * (1.0 + 1e-12)
    assert found >= 0.999 * MU


@EVERY
def test_a_replacement_costs_at_most_two_rows_that_are_dropped(case):
    contribution = case[0]
    one, two = (contribution.sensitivity(Unit(relation)) for relation in RELATIONS)
    assert two <= one <= 2.0 * two


@EVERY
@BOTH
def test_rows_of_one_person_add_up(case, relation):
    contribution = case[0]
    for rows in (1, 2, 7):
        assert contribution.sensitivity(Unit(relation, rows)) == rows * contribution.sensitivity(Unit(relation))
        assert contribution.scale(Unit(relation, rows), MU) == pytest.approx(
            rows * contribution.scale(Unit(relation), MU), rel=1e-14
        )


# By hand: contribution, replace-one, zero-out.
TABLE = [
    (Ball(1.0), 2.0, 1.0),
    (Ball(2.5), 5.0, 2.5),
    (Interval(0.0, 1.0), 1.0, 1.0),
    (Interval(-1.0, 3.0), 4.0, 3.0),
    (Interval(-3.0, 1.0), 4.0, 3.0),
    (Interval(50.0, 60.0), 60.0, 60.0),
    (Interval(-60.0, -50.0), 60.0, 60.0),
    (Box(1), 1.0, 1.0),
    (Box(2), math.sqrt(2.0), math.sqrt(2.0)),
    (Box(9), 3.0, 3.0),
    (Cell(), math.sqrt(2.0), 1.0),
    (LabelledBall(1.0), 2.0, math.sqrt(2.0)),
    (LabelledBall(30.0), 2.0, math.sqrt(2.0)),  # in units in which counts have noise 1 and sums have noise 30
    (Outer(1.0, 1), 1.0, 1.0),
    (Outer(3.0, 1), 9.0, 9.0),
    (Outer(1.0, 2), math.sqrt(2.0), 1.0),
    (Outer(3.0, 5), 9.0 * math.sqrt(2.0), 9.0),
    (WeightedOuter(4.0, 1), 4.0, 4.0),
    (WeightedOuter(4.0, 3), 4.0 * math.sqrt(2.0), 4.0),
    (Shape(2.0, 1.5), 2.0, 1.5),
    (Absolute(2.0, 1.0), 2.0, 1.0),
]


@pytest.mark.parametrize(("contribution", "replaced", "dropped"), TABLE, ids=lambda v: repr(v))
def test_sensitivities_are_those_derived_by_hand(contribution, replaced, dropped):
    assert contribution.sensitivity(Unit()) == pytest.approx(replaced, rel=1e-14)
    assert contribution.sensitivity(Unit("zero-out")) == pytest.approx(dropped, rel=1e-14)
    assert contribution.sensitivity(Unit("replace-one", 4)) == pytest.approx(4.0 * replaced, rel=1e-14)
    assert contribution.sensitivity(Unit("zero-out", 4)) == pytest.approx(4.0 * dropped, rel=1e-14)


def test_outer_products_of_orthogonal_rows_attain_sqrt_2():
    one, two = (np.outer(x, x) for x in 1.5 * np.eye(3)[:2])
    assert loss(Outer(1.5, 3), one, two, Unit()) == pytest.approx(MU, rel=1e-12)


def test_outer_products_that_differ_off_the_diagonal_alone_are_within_mu():
    """(1, 1)/sqrt 2 and (1, -1)/sqrt 2 are orthogonal, and only what is off the diagonal tells them apart."""
    one, two = (np.outer(x, x) for x in np.array([[1.0, 1.0], [1.0, -1.0]]) * math.sqrt(0.5))
    assert np.array_equal(np.diag(one), np.diag(two))
    found = loss(Outer(1.0, 2), one, two, Unit())
    assert MU * (1.0 - 1e-12) <= found <= MU


def test_noise_on_outer_products_is_smaller_by_sqrt_2_off_the_diagonal_and_symmetric():
    (diagonal, wide), (upper, narrow) = drawn(Outer(2.0, 3), np.arange(9.0).reshape(3, 3), Unit())
    assert len(diagonal) == len(upper) == 3
    assert wide == pytest.approx(4.0 * math.sqrt(2.0) / MU, rel=1e-14)
    assert wide / narrow == pytest.approx(math.sqrt(2.0), rel=1e-14)
    assert narrow * math.sqrt(2.0) >= wide
    rng = np.random.default_rng(0)
    noisy = Outer(2.0, 4).draw(np.zeros((4, 4)), Unit(), MU, lambda v, s: v + s * rng.normal(size=np.shape(v)))
    assert np.array_equal(noisy, noisy.T)
    assert np.all(noisy != 0.0)


def test_a_matrix_of_one_number_has_nothing_off_the_diagonal():
    noisy = Outer(2.0, 1).draw(np.array([[3.0]]), Unit(), MU, lambda v, s: v + s)
    assert noisy == pytest.approx(3.0 + 4.0 / MU)


def test_a_row_that_changes_its_cell_and_one_that_turns_round_cost_the_same():
    moved = (np.array([1.0, -1.0]), np.array([[2.0, 0.0], [-2.0, 0.0]]))
    turned = (np.zeros(2), np.array([[4.0, 0.0], [0.0, 0.0]]))
    for change in (moved, turned):
        assert loss(LabelledBall(2.0), change, nothing(change), Unit()) == pytest.approx(MU, rel=1e-12)


def test_counts_have_the_noise_of_the_sums_divided_by_the_radius():
    (_, counts), (_, sums) = drawn(LabelledBall(5.0), (np.zeros(2), np.zeros((2, 3))), Unit("zero-out"))
    assert counts == pytest.approx(math.sqrt(2.0) / MU, rel=1e-14)
    assert sums == pytest.approx(5.0 * counts, rel=1e-14)
    assert LabelledBall(5.0).scale(Unit("zero-out"), MU) == sums


def test_the_root_of_a_weighted_bound_is_rounded_up():
    for bound in (2.0, 3.0, 0.1, 1e-8, 7e9):
        assert WeightedOuter(bound, 2).reach("zero-out") >= bound
        assert WeightedOuter(bound, 2).reach("zero-out") == pytest.approx(bound, rel=1e-15)


@pytest.mark.parametrize("contribution", [Shape(2.0), Absolute(2.0)], ids=repr)
def test_what_is_not_proven_for_dropped_rows_is_refused(contribution):
    assert contribution.sensitivity(Unit()) == 2.0
    with pytest.raises(InputError, match="zero-out"):
        contribution.sensitivity(Unit("zero-out"))


@EVERY
@BOTH
def test_noise_times_mu_is_the_sensitivity(case, relation):
    contribution, unit = case[0], Unit(relation, 2)
    radius = contribution.radius if isinstance(contribution, LabelledBall) else 1.0
    for mu in (1e-3, MU, 30.0):
        assert contribution.scale(unit, mu) * mu / radius == pytest.approx(contribution.sensitivity(unit), rel=1e-12)


# Laplace noise: the same search with absolute values, through the budget that draws it.

LAPLACE = {
    "ball of absolute values": (Absolute(3.0, 1.5), lambda z: z * min(1.0, 1.5 / max(float(np.abs(z).sum()), 1e-300)), 3),
    "counts": (Absolute(2.0, 1.0), cell, 3),
    "corner": (Absolute(2.0, 1.0), lambda z: abs(z) / max(1.0, float(np.abs(z).sum())), 3),
}  # fmt: skip


class Recorder(NoiseStandIn):
    def __init__(self):
        self.calls = []

    def laplace(self, values, scale):
        self.calls.append((np.array(values, dtype=float).ravel(), scale))
        return np.array(values, dtype=float)


class Checked:
    def check(self):
        pass


def laplace_loss(reach, one, two, unit, weights):
    """The epsilon that the pair costs; ``weights`` divide the numbers, and multiply the noise, of one block each."""
    noise = [Recorder(), Recorder()]
    for recorder, value in zip(noise, (one, two), strict=True):
        spending = Spending(Cost(MU, 0.0, "basic", 0.0), unit, Checked(), random_state=recorder)
        spending.laplace_blocks([(w * part, w) for w, part in zip(weights, value, strict=True)], reach)
    pairs = zip(noise[0].calls, noise[1].calls, strict=True)
    return sum(float(np.abs(a - b).sum()) / scale for (a, scale), (b, _) in pairs)


@pytest.mark.parametrize("case", LAPLACE.values(), ids=LAPLACE.keys())
@BOTH
@pytest.mark.parametrize("rows", [1, 2])
def test_no_pair_costs_more_than_epsilon_and_some_pair_costs_epsilon(case, relation, rows):
    reach, function, size = case
    unit = Unit(relation, rows)
    cost = lambda a, b: laplace_loss(reach, a, b, unit, (1.0, 0.5, 40.0))  # noqa: E731
    measure = neighbours_cost(cost, function, relation, rows)
    found = worst(measure, np.random.default_rng(rows), rows, size, steps=60)
    assert 0.999 * MU <= found <= MU


@BOTH
def test_laplace_noise_times_epsilon_is_the_sensitivity(relation):
    unit = Unit(relation, 3)
    assert Absolute(3.0, 2.0, margin=0.0).scale(unit, MU) * MU == pytest.approx(Absolute(3.0, 2.0).sensitivity(unit))
    assert 0.0 < Absolute(3.0, 2.0).scale(unit, MU) / Absolute(3.0, 2.0, margin=0.0).scale(unit, MU) - 1.0 < 1.1e-12
