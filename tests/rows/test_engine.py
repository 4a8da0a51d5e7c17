"""Validated, then charged, then drawn: what happens when any of the three goes wrong."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pytest

import eptr
from eptr.estimators.bayes.bounds import class_sums
from eptr.rows import namespace as namespaces
from eptr.rows.engine import Pass
from eptr.rows.memory import MemoryRows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
T = X @ [1.0, -0.5] + RNG.normal(size=300)
SETTINGS = {
    eptr.LinearRegression: {"x_bound": 3.0, "y_bound": 4.0},
    eptr.BayesClassifier: {"x_bound": 3.0},
    eptr.KernelRegressor: {"domain": (-3, 3), "y_bound": 4.0, "bandwidth": 1.0},
}


class Broken:
    """A ledger that fails in the one way that getattr with a default would hide."""

    def charge(self, cost, *, private, what=""):
        raise AttributeError("no such thing")


@pytest.mark.parametrize("strategy", ["refined", "tight", "paper"])
@pytest.mark.parametrize("estimator", SETTINGS)
def test_nothing_is_released_if_the_charge_fails_in_any_way(estimator, strategy):
    y = (T > 0).astype(int) if estimator is eptr.BayesClassifier else T
    model = estimator(epsilon=5.0, delta=1e-2, strategy=strategy, ledger=Broken(), **SETTINGS[estimator])
    with pytest.raises((eptr.LedgerError, AttributeError)):
        model.fit(X, y)
    assert not hasattr(model, "release_")


@pytest.mark.parametrize(("what", "bad"), [("X", np.nan), ("y", np.nan)])  # what is infinite is moved to the edge
def test_rows_that_go_bad_after_the_first_pass_are_not_released(bad, what):
    rows, target = X.copy(), T.copy()

    spoiled = rows if what == "X" else target

    class Ledger:
        def charge(self, cost, *, private, what=""):
            spoiled[7] = bad

    with pytest.raises(eptr.InputError, match="changes while it is read"):
        eptr.LinearRegression(x_bound=3.0, y_bound=4.0, ledger=Ledger()).fit(MemoryRows(rows, target), None)


@pytest.mark.parametrize(("fault", "told"), [(eptr.InputError("a column is text"), 0), (eptr.DomainError("a row"), 1)])
def test_only_what_a_value_was_wrong_with_counts_as_an_answer_about_rows(fault, told):
    """A column's declared type is public: whoever counts failed checks does not hear of it."""

    class Unreadable(MemoryRows):
        def _read(self, part):
            raise fault

    rows, heard = Unreadable(X, T), []
    rows.on_fault = lambda: heard.append(1)
    with pytest.raises(type(fault), match=str(fault)) as caught:
        rows.check()
    assert (type(caught.value), len(heard)) == (type(fault), told)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("far", [1e300, -1e300, 1e151])
def test_every_pass_sees_values_that_can_be_squared(drop, far):
    rows, seen = MemoryRows(np.array([[1.0, 2.0], [far, 3.0]]), np.zeros(2), drop_invalid=drop), []
    for _ in range(3):
        rows.sum(lambda x, y, keep: (seen.append(x.copy()), ())[1])
    assert all(np.array_equal(x, [[1.0, 2.0], [np.sign(far) * 1e150, 3.0]]) for x in [*seen, rows.part(slice(0, 2))[0]])


@pytest.mark.parametrize("kind", [np.float32, np.int64, bool])
def test_every_pass_computes_in_doubles_and_leaves_codes_whole(kind):
    for codes in (False, True):
        seen = []
        row_function = lambda *block, seen=seen: (seen.extend(block), ())[1]  # noqa: E731
        Pass(row_function, False, codes, True, True)._block(np.ones((2, 1), kind), np.ones(2, kind))
        assert [a.dtype for a in seen[:2]] == [np.float64, kind if codes else np.float64]


@pytest.mark.parametrize("bound", [1e-200, 1e-101, 1e101, 1e200])
def test_bounds_whose_squares_vanish_or_overflow_are_refused(bound):
    for estimator, settings in SETTINGS.items():
        for name in settings.keys() & {"x_bound", "y_bound"}:
            with pytest.raises(eptr.BoundError, match="between 1e-100 and 1e100"):
                estimator(**settings | {name: bound}).fit(X, (T > 0).astype(int))


def test_a_tiny_bound_is_kept():
    sums = class_sums(MemoryRows(np.full((4, 1), 1e-90), np.array([0, 1, 0, 1])), 2, 1e-100).sums
    assert np.all(np.abs(sums) <= 2e-100)


@pytest.mark.parametrize("y", [np.array(["private name"] * 300), T + 1j, np.zeros(300, "datetime64[s]")])
def test_targets_that_are_not_numbers_are_refused_unseen_or_dropped(y):
    with pytest.raises(eptr.DomainError, match="number") as caught:
        eptr.LinearRegression(x_bound=3.0, y_bound=4.0).fit(X, y)
    assert "private name" not in str(caught.value)
    eptr.LinearRegression(x_bound=3.0, y_bound=4.0, invalid="drop").fit(X, y)


def test_columns_of_one_name_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.column_stack([X, T]), columns=["a", "a", "t"])
    with pytest.raises(eptr.InputError, match="different names"):
        eptr.LinearRegression(x_bound=3.0, y_bound=4.0).fit(frame, "t")


def test_devices_without_doubles_are_refused(monkeypatch):
    class Short:
        """The standard's functions, but float64 is float32, as some libraries have it by default."""

        float64 = xp.float32

        def __getattr__(self, name):
            return getattr(xp, name)

    monkeypatch.setattr(namespaces, "namespace", lambda x: Short())
    assert not namespaces.holds_doubles(xp.ones((2, 2)))
    monkeypatch.undo()
    assert namespaces.holds_doubles(xp.ones((2, 2)))
