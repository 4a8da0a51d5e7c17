"""Arrays of the array API standard: the strict implementation refuses whatever is not in it, and any copy to numpy."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr.rivals.catalogue import RIVALS
from eptr.rows import namespace as namespaces

from .clusters import seeded
from .test_everywhere import CASES, THROUGH_EXP, fitted, people, public

OURS = [name for name in CASES if not any(e.name == name for e in RIVALS)]


def strict(name):
    """The data of a case on a device of its own; labels as numbers, for the standard knows no text."""
    frame = people(name)
    X, t = frame[list("abc")].to_numpy(), frame["t"].to_numpy()
    if t.dtype == object:
        t = np.array([{"no": 0, "yes": 1}.get(v, 7) for v in t])
    return X, t


def case(name):
    model = clone(CASES[name])  # others use it as it is
    listed = isinstance(getattr(model, "classes", None), list)
    return model.set_params(classes=list(range(len(model.classes)))) if listed else model


@pytest.mark.parametrize("name", CASES)
def test_every_estimator_takes_arrays_of_the_standard(name):
    X, t = strict(name)
    wanted, model = fitted(case(name), X, t), fitted(case(name), xp.asarray(X), xp.asarray(t))
    found = public(model)
    for key, value in public(wanted).items():
        if value is None or isinstance(value, (str, bool)):
            assert found[key] == value
        else:
            np.testing.assert_allclose(found[key], value, rtol=1e-9, atol=1e-9, err_msg=key)
    if not name.startswith(THROUGH_EXP):
        np.testing.assert_array_equal(model.predict(xp.asarray(X[:5])), model.predict(X[:5]))


# Ranges that are bought are counted here, block by block: signs and sizes of all columns in one histogram.
@pytest.mark.parametrize("name", [name for name in OURS if not name.startswith("L") or not name.endswith("private")])
def test_ours_are_computed_where_the_array_lives(name, monkeypatch):
    """Only sums come back: no array as long as a block of rows is ever copied here (labels are, once, to be coded)."""
    X, t = strict(name)
    long = []
    real = namespaces.to_numpy

    def watched(x):
        long.append(namespaces.is_foreign(x) and len(x.shape) > 0 and max(x.shape) >= len(X))
        return real(x)

    for module in ("eptr.rows.engine", "eptr.estimators.quantile", "eptr.rows.namespace"):
        monkeypatch.setattr(f"{module}.to_numpy", watched)
    device = xp.Device("device1")
    fitted(case(name), xp.asarray(X, device=device), t if t.dtype.kind == "i" else xp.asarray(t, device=device))
    assert long
    assert not any(long)


def test_float32_and_integers_are_read_as_they_are():
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(500, 2)).astype(np.float32), rng.normal(size=500)
    with seeded():
        for rows in (X, np.rint(4 * X).astype(np.int32)):
            found = eptr.LinearRegression(x_bound=9.0, y_bound=3.0, random_state=0).fit(xp.asarray(rows), xp.asarray(t))
            wanted = eptr.LinearRegression(x_bound=9.0, y_bound=3.0, random_state=0).fit(rows.astype(float), t)
            np.testing.assert_allclose(found.coef_, wanted.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "t"),
    [
        (np.ones(5), np.ones(5)),
        (np.ones((5, 0)), np.ones(5)),
        (np.ones((0, 2)), np.ones(0)),
        (np.ones((5, 2)), np.ones(4)),
        (np.ones((5, 2)), np.ones((5, 1))),
        (np.ones((5, 2), dtype=complex), np.ones(5)),
        (np.ones((5, 2), dtype=bool), np.ones(5)),
        (np.full((5, 2), np.nan), np.ones(5)),
        (np.ones((5, 2)), np.full(5, np.inf)),
    ],
)
def test_bad_arrays_are_typed_errors(X, t):
    with pytest.raises(eptr.InputError):
        eptr.LinearRegression(x_bound=9.0, y_bound=3.0).fit(xp.asarray(X), xp.asarray(t))


def test_without_array_api_compat_the_fix_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(eptr.InputError, match=r"eptr\[arrays\]"):
        eptr.LinearRegression(x_bound=9.0, y_bound=3.0).fit(xp.ones((5, 2)), xp.ones(5))
