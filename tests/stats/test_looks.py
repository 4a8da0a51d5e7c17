"""Looks at columns: every value is counted once, by its distance; what stands out from noise, and what that hides."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from eptr import gaussian_mu, stats
from eptr.audit.replay import Replay
from eptr.rows.memory import MemoryRows
from eptr.stats.looks import ALONE, FADE, FASTEST, LASTING, NEXT, Look, fading, lasting, look_at_columns

from ..silent import Silent

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")


def test_a_value_is_counted_on_its_side_in_the_cell_of_its_distance():
    """In units of 2 around 10: cells end 1, 3, 7, 15, ... units away from the centre; the bounds end the last one."""
    centre, unit, bounds = np.array([10.0]), np.array([2.0]), np.array([[0.0, 100.0]])
    away = [0.0, 0.99, 1.0, 2.99, 3.0, 45.0, 1e6, -0.01, -1.0, -2.0, -2.99, -5.0, np.nan]
    rows = MemoryRows(10.0 + 2.0 * np.array(away)[:, None], drop_invalid=True)
    (look,) = look_at_columns(rows, [0], centre, unit, bounds, Silent(size=1.0), 1.0)
    below, above = np.split(look.counts, 2)
    assert above.tolist() == [2, 2, 1, 0, 0, 2]
    assert below[::-1].tolist() == [1, 3, 1, 0, 0, 0]


def edges(cells):
    return 2.0 ** np.arange(cells + 1) - 1.0


def look(counts, n, sd=14.0, bounds=(-1000.0, 1000.0)):
    return Look(np.array(counts, dtype=float), sd, 0.0, 0.1, bounds, n)


def test_rows_that_a_fading_tail_has_anyway_do_not_carry_it_further():
    """34 rows are where a tail of 2169 and 356 has them; the four cells after that are noise of two standard deviations."""
    counts = np.array([-6.0, -15, 2169, 356, 38, 33, 25, 28, 28, -5])
    assert fading(counts, edges(10), 13.4, FADE, FASTEST, NEXT).seen == 4
    counts[5:9] += 30  # rows that no tail would have
    assert fading(counts, edges(10), 13.4, FADE, FASTEST, NEXT).seen == 9


@pytest.mark.parametrize("beside", [0, 3.6])
def test_a_value_that_most_rows_share_does_not_tell_where_the_others_are(beside):
    """A cell with three times the noise beside one with all rows is noise as often as not."""
    counts = [0.0] * 10 + [900, 14 * beside] + [0] * 8
    assert look(counts, 1000).near == ALONE
    assert look(counts, 1000).spread() == 1000.0


def test_half_of_the_rows_in_one_cell_leave_open_where_the_others_are():
    assert look([0.0] * 10 + [500] + [15] * 9, 1000).spread() == 1000.0


def test_faint_neighbours_of_a_faint_cell_are_a_column_all_the_same():
    counts = [-38, -21, 17, -13, 19, 76, 145, 177, 92, 33, 45, 46, 78, -29, -27, 64, 76, -46, -22, -63]
    found = look(counts, 1000, sd=44.7)
    assert sum(tail.standing for tail in found.tails()) < 2
    assert 0.0 < found.spread() < 10.0


def test_faint_cells_far_from_the_fullest_are_part_of_the_spread():
    """Of 500 rows 288 are zeros; the others stand out together, and a spread of nothing would cut them off."""
    counts = [0.0] * 10 + [288] + [0] * 4 + [40, 29, 54, 58, 54] + [0] * 4
    assert look(counts, 500, sd=17.2).spread() > 1.0


def test_the_variance_of_counts_does_not_follow_noise_to_the_bound():
    """On these rows and bits noise looked like a tail to 100, and the value was off by 1,300 sampling errors."""
    x = np.random.default_rng([1101, 10_000, 7]).poisson(0.3, 10_000)
    found = stats.variance(x, (0, 100), epsilon=1.0, random_state=1101)
    assert abs(found.value - 0.3) < 0.05


def test_rare_ones_are_looked_for_around_the_value_that_most_have():
    """Around the middle of the bounds the mean would have eight times the noise of the squares."""
    x = np.random.default_rng(0).random(10_000) < 0.002
    errors = [stats.variance(x, (0, 1), epsilon=1.0, random_state=s).value - x.var(ddof=1) for s in range(40)]
    assert np.sqrt(np.mean(np.square(errors))) < 1.2e-3


KINDS = {
    "counts": (lambda g, n: g.poisson(0.3, n), (0, 8)),
    "two": (lambda g, n: np.where(g.random(n) < 0.3, 100, 90), (90, 100)),
    "zeros": (lambda g, n: (g.random(n) < 0.4) * g.exponential(1, n), (0, 50)),
    "flag": (lambda g, n: g.random(n) < 0.01, (0, 1)),
    "days": (lambda g, n: g.integers(400, 420, n), (400, 420)),
}


@pytest.mark.parametrize("statistic", ["mean", "variance", "covariance"])
@pytest.mark.parametrize(("n", "epsilon"), [(500, 1.0), (1000, 4.0), (10_000, 1.0)])
@pytest.mark.parametrize("kinds", [("counts", "two"), ("zeros", "flag", "days")])
def test_columns_in_which_many_share_a_value_have_honest_intervals(statistic, n, epsilon, kinds):
    """Some were a millionth as wide as they should be: what lies beside the common value was cut, and not missed."""
    plain = {"mean": np.mean, "variance": lambda x, axis: np.var(x, axis=axis, ddof=1)}
    for seed in range(12):
        rng = np.random.default_rng([seed, 23])
        X, bounds = np.column_stack([KINDS[k][0](rng, n) for k in kinds]).astype(float), [KINDS[k][1] for k in kinds]
        found = getattr(stats, statistic)(X, bounds, epsilon=epsilon, neighbours="zero-out", random_state=seed)
        value, low, high = (np.asarray(v) for v in (found.value, found.low, found.high))
        truth = np.cov(X.T) if statistic == "covariance" else plain[statistic](X, axis=0)
        if statistic == "covariance":
            truth, value, low, high = (np.diag(v) for v in (truth, value, low, high))
        reach = np.where(truth > value, high - value, value - low)
        assert np.all(abs(truth - value) <= 3.0 * reach + 1e-12)


def test_a_constant_column_does_not_blur_the_covariances_of_others():
    rng = np.random.default_rng(5)
    X = np.column_stack([np.zeros(10_000), rng.integers(400, 420, 10_000)])
    found = stats.covariance(X, [(0, 1), (400, 420)], epsilon=1.0, random_state=0)
    assert found.high[1, 1] - found.low[1, 1] < 12.0  # of 33; was 180
    assert found.low[1, 1] < np.var(X[:, 1]) < found.high[1, 1]


def test_covariances_move_values_into_the_bounds():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20_000, 2))
    found = stats.covariance(X, (-0.5, 0.5), epsilon=8.0, random_state=0)
    assert np.diag(found.value) == pytest.approx(np.var(np.clip(X, -0.5, 0.5), axis=0), rel=0.1)
    assert math.isfinite(found.high[0, 1])


def test_so_many_rows_lie_no_farther_out_than_cells_and_noise_allow():
    """Two standard deviations of k cells are 28 sqrt(k) rows: 40 of the last cell and five cells of noise may be 100 rows."""
    seen = look([0.0] * 10 + [500] + [0.0] * 8 + [40], 1000)
    edges = seen.edges()
    assert seen.farthest(60.0) == (edges[4], 1000.0)
    assert seen.farthest(100.0)[1] == edges[-5]
    assert seen.farthest(1e6) == (1000.0, -1000.0)


def test_a_clump_too_faint_to_clip_for_is_feared():
    """Four standard deviations of noise: seldom noise, and not enough for a clip. Three are noise, if no tail leads there."""
    counts = np.array([500.0, 100, 10, 0, 56, 42, 0])
    feared = lasting(counts, edges(7), 14.0, LASTING[1], NEXT)
    assert feared.seen == 2
    assert feared.apart.tolist() == [0, 0, 0, 0, 56 + 28, 0, 0]
    assert feared.counts[4] == 0.0
    assert feared.counts[5] < 14.0


def test_a_clump_too_faint_to_clip_for_may_lie_at_the_outer_end_of_its_cell():
    counts = np.array([500.0, 100, 10, 0, 56, 42, 0])
    feared = lasting(counts, edges(7), 14.0, LASTING[1], NEXT)
    more = feared.beyond(np.array([5.0]), 2, 3.0) - replace(feared, apart=np.zeros(7)).beyond(np.array([5.0]), 2, 3.0)
    assert more == pytest.approx((56 + 28) * ((3.0 + 31.0) ** 2 - 8.0**2))
    assert feared.outermost(np.array([15.0])) >= (56 + 28) * (31.0 - 15.0)


def test_squares_are_feared_where_noise_may_have_emptied_a_cell_and_have_a_mean():
    """Two standard deviations of noise, and at most half of the rows of the cell before."""
    counts = np.array([500.0, 100, 80, 10, 0, 0, 0])
    one, two = (lasting(counts, edges(7), 14.0, LASTING[kind], NEXT).counts for kind in (1, "of squares"))
    assert one[3] == 24.0
    assert two[3] == 38.0
    assert np.all(two[3:] >= one[3:])
    assert np.all(two[4:] <= 0.5 * two[3:-1])


@pytest.mark.parametrize(("code", "bounds"), [(999.0, (0, 1000)), (9999.0, (0, 10_000))])
@pytest.mark.parametrize(("statistic", "plain"), [(stats.mean, np.mean), (stats.variance, np.var)])
def test_a_code_of_seventeen_over_mu_rows_is_allowed_for(statistic, plain, code, bounds):
    """72 of 2,000 rows: they stand out by 3.5 to 5 standard deviations of the noise, and two of three intervals missed them."""
    held = 0
    for seed in range(40):
        ages = np.clip(np.random.default_rng(seed).normal(44, 15, 1928), 18, 90).round()
        x = np.append(ages, np.full(72, code))
        found = statistic(x, bounds, epsilon=1.0, random_state=seed)
        held += found.low <= plain(x) <= found.high
    assert held >= 36


def test_rows_may_lie_at_the_outer_ends_of_their_cells():
    """Cells end at 1, 3 and 7: from 2 on, 10 rows at 3 and 5 at 7 lose 1 and 5 each, of squares 5 and 45."""
    tail = fading(np.array([100.0, 10, 5]), edges(3), 0.1, FADE, FASTEST, NEXT)
    np.testing.assert_allclose(tail.outermost(np.array([2.0, 7.0])), [35.0, 0.0])
    np.testing.assert_allclose(tail.outermost(np.array([2.0]), 2), [275.0])


@pytest.mark.parametrize("statistic", [stats.mean, stats.variance, stats.covariance])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_zero_has_no_side(statistic, relation):
    """Of the text -0 Arrow made -0.0 where a whole batch is numbers, and else a reader of cells 0: one row chose for all."""
    pa = pytest.importorskip("pyarrow")
    first = {"replace-one": ("3", "True"), "zero-out": ("3", "none")}[relation]
    replay = Replay(0)
    for k, cell in enumerate(first):
        column = [cell] + ["-0"] * 3999
        table = pa.table({"x": pa.array(column), "z": pa.array(column)})
        if k:
            replay.rewind()
        asked = {"invalid": "drop", "neighbours": relation, "random_state": replay}
        statistic(table, (-10.0, 10.0), epsilon=1.0, **asked)
    replay.finish()
    assert math.sqrt(replay.gaussian_loss) <= gaussian_mu(1.0, 1e-6)


def test_arrays_may_hold_both_zeros():
    x = np.where(np.arange(3000) % 2, 0.0, -0.0)
    (found,) = look_at_columns(
        MemoryRows(x[:, None]), [0], np.zeros(1), np.ones(1), np.array([[-10.0, 10.0]]), Quiet(), 0.1
    )
    assert np.count_nonzero(found.counts) == 1


class Quiet:
    """A budget without noise."""

    def noisy(self, values, contribution, share):
        return np.asarray(values, dtype=float)

    def scale(self, contribution, share):
        return 1.0
