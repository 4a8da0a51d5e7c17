"""Histograms and tables: what a row costs, whole numbers that agree, intervals, the same bits everywhere, bad input."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import minimize

from eptr import InputError, gaussian_mu, stats
from eptr.audit.replay import Replay
from eptr.stats.tally import consistent, score_interval

pytestmark = pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
EDGES = [-3.0, -1.0, 0.0, 1.0, 3.0]
LEVELS = {"a": ["M", "F"], "b": [3, 1, 2]}


def people(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    return {"a": rng.choice(["F", "M"], n, p=[0.7, 0.3]), "b": rng.choice([1, 2, 3], n), "x": rng.normal(size=n)}


def truth(frame):
    return np.array([[np.sum((frame["a"] == a) & (frame["b"] == b)) for b in LEVELS["b"]] for a in LEVELS["a"]])


def test_counts_are_near_and_add_up():
    frame = people()
    found = stats.table(frame["a"], frame["b"], levels=list(LEVELS.values()), epsilon=1.0)
    assert found.names == (("M", "F"), ("3", "1", "2"))
    assert np.abs(found.value - truth(frame)).max() < 6 * found.release.noise_scale
    assert found.value.sum() == 1200
    assert np.all(found.value == np.rint(found.value))
    bins = stats.histogram(frame["x"], EDGES, epsilon=1.0)
    inner = np.histogram(frame["x"], [-math.inf, *EDGES[1:-1], math.inf])[0]
    assert np.abs(bins.value - inner).max() < 6 * bins.release.noise_scale
    assert bins.value.sum() == 1200
    assert bins.names == (("[-3, -1)", "[-1, 0)", "[0, 1)", "[1, 3]"),)
    assert bins.release.noise_scale == pytest.approx(math.sqrt(2.0 * 3 / 4) / gaussian_mu(1.0, 1e-6), rel=1e-6)


@pytest.mark.parametrize("ways", [1, 2, 3, 4])
def test_tables_have_one_to_four_ways(ways):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 500) for _ in range(ways)]
    found = stats.table(*columns, levels=[[0, 1]] * ways, epsilon=3.0)
    assert found.value.shape == (2,) * ways
    assert found.value.sum() == 500
    assert len(found.to_frame()) == 2**ways
    with pytest.raises(InputError, match="1 to 4 columns"):
        stats.table(*columns * 5, levels=[[0, 1]] * 5 * ways, epsilon=3.0)


def neighbours_cost(ask, one, two, **settings):
    """mu that an answer spends on a pair of datasets."""
    noise = Replay(0)
    ask(one, random_state=noise, epsilon=1.0, delta=1e-3, **settings)
    noise.rewind()
    ask(two, random_state=noise, epsilon=1.0, delta=1e-3, **settings)
    noise.finish()
    return noise.gaussian_loss**0.5 / gaussian_mu(1.0, 1e-3)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_no_pair_costs_more_than_the_claim_and_the_worst_attains_it(relation, rows):
    settings = {"neighbours": relation, "rows_per_person": rows, "invalid": "drop"}
    one, two = np.zeros(60), np.zeros(60)
    two[:rows] = math.nan if relation == "zero-out" else 2.0

    def bins(x, **more):
        stats.histogram(x, EDGES, **more, **settings)

    def cells(x, **more):
        stats.table([None if math.isnan(v) else v for v in x], levels=[0, 2], **more, **settings)

    for ask in (bins, cells):
        for pair in ((one, two), (two, one)):
            assert 0.999 < neighbours_cost(ask, *pair) <= 1.0


@pytest.mark.parametrize("invalid", ["raise", "drop"])
def test_the_same_bits_wherever_the_rows_are(invalid):
    import dask.dataframe as dd

    named = {k: v.tolist() for k, v in people().items()}
    if invalid == "drop":
        named["a"][::9] = [None] * len(named["a"][::9])
        named["b"][::5] = [7] * len(named["b"][::5])
    settings = {"epsilon": 1.0, "invalid": invalid, "random_state": 4}
    first = stats.table(named["a"], named["b"], levels=list(LEVELS.values()), **settings)
    frame = pd.DataFrame(named)
    for rows in (frame, pa.table(named), pl.DataFrame(named), dd.from_pandas(frame, npartitions=3)):
        found = stats.table(rows, levels=LEVELS, **settings)
        for name in ("value", "low", "high"):
            assert np.array_equal(getattr(found, name), getattr(first, name))
    bins = stats.histogram(named["x"], EDGES, **settings)
    for rows in (frame, pa.table(named), dd.from_pandas(frame, npartitions=3)):
        assert np.array_equal(stats.histogram(rows, {"x": EDGES}, **settings).value, bins.value)
    if invalid == "drop":
        assert first.value.sum() < 1200 - 150


def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(0)
    for _ in range(20):
        noisy = rng.normal(5, 8, size=5)
        found = consistent(noisy, 20, exactly=True)
        best = minimize(
            lambda c, noisy=noisy: np.sum((c - noisy) ** 2), np.full(5, 4.0), bounds=[(0, None)] * 5,
            constraints={"type": "eq", "fun": lambda c: c.sum() - 20}, tol=1e-12,
        ).x  # fmt: skip
        assert found.sum() == 20
        assert np.all(found >= 0)
        assert np.abs(found - best).max() < 1.001  # whole numbers next to it
        fewer = consistent(noisy / 10, 20, exactly=False)
        assert fewer.sum() <= 20
        assert np.abs(fewer - np.maximum(noisy / 10, 0)).max() < 1.001


def test_score_intervals_solve_their_equation():
    noisy, sd, n, z = np.array([3.0, 50.0, 97.0]), 2.0, 100, 1.96
    for x in score_interval(noisy, sd, n, z):
        inside = (x > 0) & (x < n)
        assert (noisy - x)[inside] ** 2 == pytest.approx((z**2 * (x * (1 - x / n) + sd**2))[inside])


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("invalid", ["raise", "drop"])
def test_intervals_hold_the_shares_of_the_population(n, invalid):
    shares = np.array([0.01, 0.04, 0.25, 0.7])
    held = []
    for seed in range(500):
        x = np.random.default_rng(seed).choice(4, n, p=shares)
        found = stats.table(x, levels=[0, 1, 2, 3], epsilon=1.0, invalid=invalid, random_state=seed)
        held.append((found.low <= n * shares) & (n * shares <= found.high))
    assert np.all(np.mean(held, axis=0) > 0.925)
    assert 0.93 < np.mean(held) < 0.985


def test_plots_show_bars_and_intervals():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    pyplot.switch_backend("Agg")
    found = stats.histogram(people()["x"], EDGES, epsilon=1.0)
    axes = found.plot()
    assert [bar.get_height() for bar in axes.patches] == found.value.tolist()
    assert [label.get_text() for label in axes.get_xticklabels()] == list(found.names[0])
    again = stats.quantiles(people()["x"], [0.5], (-3, 3), epsilon=1.0, level=None).plot(pyplot.figure().add_subplot())
    assert len(again.patches) == 1
    pyplot.close("all")


TEXT = ["F", "M"] * 30


@pytest.mark.parametrize(
    ("columns", "levels", "match"),
    [
        ((TEXT,), ["F", "N"], "a label that is not in levels"),
        ((TEXT,), ["F"], "levels must list two or more labels"),
        ((TEXT,), None, "levels must list two or more labels"),
        ((TEXT,), "FM", "levels must"),
        ((TEXT, TEXT), ["F", "M"], "levels must list two or more labels"),
        ((TEXT, TEXT), [["F", "M"]], "a list of labels for each of the 2 columns"),
        ((TEXT,), {"a": ["F", "M"]}, "levels by name choose columns of one table"),
        ((pd.DataFrame({"a": TEXT}),), {"b": ["F", "M"]}, "'b' is not among the 1 columns"),
        ((pd.DataFrame({"a": TEXT}),), [["F", "M"]], "for a table pass levels="),
        ((), [], "columns must be columns of labels"),
        (([],), ["F", "M"], "at least one"),
        ((TEXT, TEXT[:-1]), [["F", "M"]] * 2, "the same number of rows"),
    ],
)
def test_bad_tables_get_a_sentence(columns, levels, match):
    with pytest.raises(InputError, match=match):
        stats.table(*columns, levels=levels, epsilon=1.0)


@pytest.mark.parametrize(
    "bins", [4, [1.0], [3.0, 1.0], [0.0, 0.0, 1.0], ["a", "b"], [0.0, math.nan], None, {}, [[0, 1]]]
)
def test_bad_bins_get_a_sentence(bins):
    with pytest.raises(InputError, match="bins must be two or more increasing edges"):
        stats.histogram(np.zeros(60), bins, epsilon=1.0)


def test_a_histogram_is_of_one_column():
    with pytest.raises(InputError, match="one column, got 2"):
        stats.histogram(np.zeros((60, 2)), EDGES, epsilon=1.0)
    with pytest.raises(InputError, match="x has no rows"):
        stats.histogram([], EDGES, epsilon=1.0)


def test_nothing_but_dropped_rows_is_an_answer_too():
    found = stats.table(["?"] * 80, levels=["F", "M"], epsilon=1.0, invalid="drop")
    assert np.all(found.value >= 0)
    assert found.value.sum() <= 80
    assert scipy_stats.norm.sf(found.value.max() / found.release.noise_scale) > 1e-9
