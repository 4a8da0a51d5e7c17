"""Every fit, ours and rivals': its parts add up to its budget, neither over nor under, and all its noise was paid for."""

from __future__ import annotations

import random
import re
import secrets
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

import eptr
from eptr.estimators import base
from eptr.estimators.logistic.newton import imagined
from eptr.privacy import mechanism, noise, spending
from eptr.rivals.catalogue import RIVALS
from eptr.rows.memory import MemoryRows

LINEAR = {"x_bound": 1.5, "y_bound": 2.0}
RANGES = {"x_range": (-1.0, 1.0), "y_range": (0.0, 1.0)}
CLASSES = {"x_bound": 1.5, "classes": [0, 1]}
KERNEL = {"domain": (-1, 1), "y_bound": 2.0, "bandwidth": 0.4}
PRIVATE = {"x_bound": "private", "y_bound": "private"}
SETTINGS = {"classification": CLASSES, "regression": LINEAR, "function": {"domain": (-1, 1), "y_bound": 2.0}}


def rival(entrant, **more):
    """One of the catalogue, with settings that fit its task."""
    return entrant.make(**({} if entrant.estimator.__name__ == "TukeyEM" else SETTINGS[entrant.task]) | more)


# Name, model, and what its noisy sums are of, in order, by the initials of their contributions (n is 120). Of least squares:
# a Gram matrix or its trace; steps with the number of rows they clip, the last one's slope and spread, and a look beyond
# the clip; or sizes of gradients where that of y is not clear, steps, sizes again, two passes in bands (and, with the first, the
# number of rows beyond, and of rows that only y'y tells of), their spread, and the number of rows beyond if it can tell.
# Of smooth functions: the mean and the size of y, where noise rules that of what is left, too, and the means of the curves.
# Of log odds: shares of the classes; steps, and two of Newton's along what they found; or sums of each class, Newton's steps and
# sizes of gradients, the last of them in bands with the number of rows beyond.
FEW, BANDED, ONCE = "(IB){8}I", "C?B{4,7}CB{2,}II?B{2,}IO", "BCB{2,}WIO"
ALONG, NEWTON = "B{3,}(BW){2}WO", "B?BWC(BW)*B{2,}W?IO"
REFINED = {
    "linear": (eptr.LinearRegression(1.0, 1e-3, **LINEAR), f"OIIC{FEW}OB"),
    "linear, banded": (eptr.LinearRegression(200.0, 1e-3, **LINEAR | {"y_bound": 99.0}), f"OIIC{BANDED}"),
    "linear, warm start": (eptr.LinearRegression(2000.0, 1e-3, **LINEAR), f"OIIC{ONCE}"),
    "linear, ranges": (eptr.LinearRegression(1.0, 1e-3, **RANGES), f"SII[OI]I{FEW}OB"),
    "linear, ranges, banded": (eptr.LinearRegression(200.0, 1e-3, **RANGES | {"y_range": (-99, 99)}), f"SIOI{BANDED}"),
    "linear, wide ranges": (eptr.LinearRegression(200.0, 1e-3, x_range=(-99, 99), y_range=(-99, 99)), f"SISOI{BANDED}"),
    "linear, ranges, warm start": (eptr.LinearRegression(2000.0, 1e-3, **RANGES), f"SIOI{ONCE}"),
    "linear, symmetric": (eptr.LinearRegression(1.0, 1e-3, symmetric_errors=True, **LINEAR), f"OIIC{FEW}O"),
    "linear, symmetric, banded": (
        eptr.LinearRegression(200.0, 1e-3, symmetric_errors=True, **LINEAR | {"y_bound": 99.0}), "OIICC?B{4,7}CBIO"
    ),
    "linear, symmetric, warm start": (eptr.LinearRegression(2000.0, 1e-3, symmetric_errors=True, **LINEAR), "OIICBBWO"),
    "linear, private x": (eptr.LinearRegression(1.0, 1e-3, **LINEAR | {"x_bound": "private"}), f"SSI[OI]I{FEW}OB"),
    "linear, private bounds": (eptr.LinearRegression(1.0, 1e-3, **PRIVATE), f"CSSI[OI]I{FEW}OB"),
    "linear, private bounds, warm start": (eptr.LinearRegression(200.0, 1e-3, **PRIVATE), "CSSIOIBCB{2,}W?IO"),
    "linear, no intercept": (eptr.LinearRegression(1.0, 1e-3, fit_intercept=False, **LINEAR), f"OIIC{FEW}OB"),
    "additive": (eptr.AdditiveRegressor(1.0, 1e-3, **RANGES), f"SIIC[OI]I{FEW}OIS"),
    "additive, banded": (eptr.AdditiveRegressor(400.0, 1e-3, **RANGES | {"y_range": (-99, 99)}), "SIICOIB?C?B{4,7}CB{4,}I?OS"),
    "additive, levels": (eptr.AdditiveRegressor(1.0, 1e-3, categories={1: [-1, 1]}, **RANGES), f"SIIC[OI]I{FEW}OIS"),
    "bayes": (eptr.BayesClassifier(1.0, 1e-3, **CLASSES), "LCL"),
    "bayes, one pass": (eptr.BayesClassifier(2000.0, 1e-3, **CLASSES), "L"),
    "bayes, private bound": (eptr.BayesClassifier(8.0, 1e-3, **CLASSES | {"x_bound": "private"}), "CLCL"),
    "bayes, shared": (eptr.BayesClassifier(1.0, 1e-3, covariance="shared", **CLASSES), "CC"),
    "bayes, shared, ranges": (
        eptr.BayesClassifier(1.0, 1e-3, covariance="shared", x_range=(-1, 1), classes=[0, 1]), "SICC"
    ),
    "bayes, shared, private bound": (
        eptr.BayesClassifier(1.0, 1e-3, covariance="shared", **CLASSES | {"x_bound": "private"}), "SSICC"
    ),
    "logistic": (eptr.LogisticRegression(1.0, 1e-3, **CLASSES), f"[OI]IC{ALONG}"),
    "logistic, shares alone": (eptr.LogisticRegression(0.05, 1e-3, **CLASSES), "[OI]ICC"),
    "logistic, steps": (eptr.LogisticRegression(80.0, 1e-3, **CLASSES), f"[OI]IC{ALONG}"),
    "logistic, banded": (eptr.LogisticRegression(2000.0, 1e-3, **CLASSES), f"OIC{NEWTON}"),
    "logistic, no intercept": (eptr.LogisticRegression(1.0, 1e-3, fit_intercept=False, **CLASSES), f"[OI]I{ALONG}"),
    "logistic, ranges": (eptr.LogisticRegression(1.0, 1e-3, x_range=(-1, 1), classes=[0, 1]), f"SI[OI]C{ALONG}"),
    "logistic, private bound": (
        eptr.LogisticRegression(4.0, 1e-3, **CLASSES | {"x_bound": "private"}), f"SSI[OI]C{ALONG}"
    ),
    "kernel": (eptr.KernelRegressor(1.0, 1e-3, **KERNEL), "ICS"),
    "kernel, trend": (eptr.KernelRegressor(1.0, 1e-3, trend="linear", **KERNEL), f"IC[OI]I{FEW}OCS"),
    "kernel, private bound, trend": (
        eptr.KernelRegressor(1.0, 1e-3, trend="linear", **KERNEL | {"y_bound": "private"}),
        f"CIC[OI]I{FEW}OCS",
    ),
}  # fmt: skip
OTHERWISE = ("DPJL", "DPNBSS", "ObjectivePerturbation", "PTR", "TukeyEM")  # private by tests or theorems of their own
GAUSSIAN = {
    e.name: rival(e, epsilon=1.0, delta=0.05)
    for e in RIVALS
    if e.private and e.guarantee == "approximate" and e.estimator.__name__ not in OTHERWISE
} | {f"DPGD-{form}, {steps} steps": eptr.rivals.DPGD(1.0, 0.05, form=form, steps=steps, **LINEAR)
     for form in ("repaired", "clipped") for steps in (1, 7, 49)}  # fmt: skip


def data(n=120):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


DATA = data()  # made before anything is poisoned


@pytest.fixture
def budgets(monkeypatch):
    """Every budget that a fit opens."""
    opened = []

    class Recorded(spending.Spending):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            opened.append(self)

    monkeypatch.setattr(base, "Spending", Recorded)
    return opened


def adds_up(model, budgets):
    X, y = data()
    model.fit(X, y)
    (whole,) = budgets  # one fit, one budget
    square = Fraction(whole.cost.mu) ** 2
    spent = sum(Fraction(part.mu) ** 2 for part in whole.parts)
    assert spent <= square
    assert spent >= square * (1 - Fraction(1, 10**12))
    return whole


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
@pytest.mark.parametrize("name", REFINED)
def test_the_parts_of_a_refined_fit_add_up_to_its_budget(name, relation, budgets):
    model, kinds = REFINED[name]
    whole = adds_up(clone(model).set_params(neighbours=relation, rows_per_person=2, random_state=0), budgets)
    assert whole.cost.mu == eptr.gaussian_mu(model.epsilon, model.delta)
    assert re.fullmatch(kinds, "".join(type(part.contribution).__name__[0] for part in whole.parts))
    assert whole.protected.rows == 2
    assert whole.cost.relation == relation


@pytest.mark.parametrize("name", GAUSSIAN)
def test_the_parts_of_a_gaussian_rival_add_up_to_its_budget(name, budgets):
    whole = adds_up(clone(GAUSSIAN[name]).set_params(random_state=0), budgets)
    assert whole.cost.kind == "gaussian"
    if "literature" not in name:
        assert whole.cost.mu == eptr.gaussian_mu(1.0, 0.05)


TESTED = {
    f"{name}, {strategy}": clone(model).set_params(strategy=strategy)
    for name, model in {
        "linear": eptr.LinearRegression(1.0, 1e-3, c0=0.01, **LINEAR),
        "bayes": eptr.BayesClassifier(1.0, 1e-3, **CLASSES),
        "kernel": eptr.KernelRegressor(1.0, 1e-3, queries=[[0.0, 0.0], [0.5, 0.5], [0.9, 0.9]], **KERNEL),
    }.items()
    for strategy in ("tight", "paper")
}


@pytest.mark.parametrize("name", TESTED)
def test_all_the_tests_that_were_paid_for_are_made(name, budgets):
    clone(TESTED[name]).set_params(random_state=0).fit(*data())
    (whole,) = budgets
    assert whole._tests == 0
    assert whole.parts == []
    assert whole.cost.parts == (3 if "kernel" in name else 1)


# Noise that was not paid for is poison.

EVERY = (
    {name: model for name, (model, _) in REFINED.items()}
    | TESTED
    | {f"{name}, published fallback": clone(model).set_params(fallback="paper", c0=0.9) for name, model in TESTED.items()}
    | GAUSSIAN
    | {e.name: rival(e, epsilon=1.0, delta=0.05) for e in RIVALS}
)  # fmt: skip


class Poison(AssertionError):
    """Randomness that no budget has paid for."""


@pytest.fixture
def poisoned(monkeypatch):
    """Noise raises unless its source was handed out by `Spending._source`, which charges first, or draws idle numbers."""
    licensed, inside, drawn = [], [], []
    for directions, free in ((1, 0), (1, 1), (2, 0), (2, 1)):
        imagined(directions, free)  # a table, made once: no noise
    source, idle = spending.Spending._source, spending.Spending.idle

    def paid(self):
        found = source(self)
        assert self._paid
        licensed.append(found)
        return found

    def no_row_enters(self, *args, **options):
        inside.append("idle")
        try:
            return idle(self, *args, **options)
        finally:
            inside.pop()

    def guard(method):
        def draw(self, *args):
            if not inside and not any(self is one for one in licensed):
                raise Poison(method.__name__)
            drawn.append(method.__name__)
            inside.append(method.__name__)
            try:
                return method(self, *args)
            finally:
                inside.pop()

        return draw

    def only_inside(function):
        def call(*args, **options):
            if not inside:
                raise Poison(function.__name__)
            return function(*args, **options)

        return call

    monkeypatch.setattr(spending.Spending, "_source", paid)
    monkeypatch.setattr(spending.Spending, "idle", no_row_enters)
    for kind in (noise.ExactNoise, noise.SeededNoise):
        for name in ("gaussian", "laplace", "cauchy", "coin", "bits"):
            monkeypatch.setattr(kind, name, guard(getattr(kind, name)))
    # The wells below them, too: whoever draws around the sources draws from here.
    for home, name in (
        (noise, "_measurement"), (secrets, "randbits"), (secrets, "token_bytes"), (random, "random"), (random, "gauss"),
        (np.random, "default_rng"), (np.random, "normal"), (np.random, "standard_normal"), (np.random, "laplace"),
        (np.random, "rand"), (np.random, "randn"), (np.random, "permutation"),
    ):  # fmt: skip
        monkeypatch.setattr(home, name, only_inside(getattr(home, name)))
    return drawn


@pytest.mark.parametrize("name", EVERY)
def test_no_fit_draws_what_no_budget_has_paid_for(name, poisoned):
    model = clone(EVERY[name])
    assert model.random_state is None
    model.fit(*DATA)
    assert poisoned
    model.predict(DATA[0][:5])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: noise.ExactNoise().gaussian(np.zeros(1), 1.0),
        lambda: noise.ExactNoise().coin(1, 1),
        lambda: noise.ExactNoise().bits(8),
        lambda: noise._measurement("gaussian", 1.0)([0.0]),
        lambda: noise.noise_source(0),
        lambda: mechanism.release(eptr.Proposal(0.0, 1.0, 1e6), 1.0, 1e-6),
        lambda: np.random.default_rng(0),
        lambda: secrets.randbits(3),
    ],
)
def test_the_poison_works(draw, poisoned):
    with pytest.raises(Poison):
        draw()


class Broke:
    """A ledger without budget."""

    def check(self, cost, *, private):
        raise eptr.BudgetError("nothing is left")

    def charge(self, cost, *, private, what=""):
        raise eptr.BudgetError("nothing is left")


class Failing(Broke):
    """A ledger that fails when it is charged."""

    def check(self, cost, *, private):
        pass


@pytest.mark.parametrize("name", EVERY)
def test_a_budget_that_cannot_pay_is_refused_before_any_pass_over_the_rows(name, poisoned, monkeypatch):
    def passed(self, fn):
        raise Poison("a pass over the rows")

    monkeypatch.setattr(MemoryRows, "sum", passed)
    with pytest.raises(eptr.BudgetError, match="nothing is left"):
        clone(EVERY[name]).set_params(ledger=Broke()).fit(*DATA)
    assert poisoned == []


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_drawn_if_the_ledger_fails_at_the_charge(name, poisoned):
    model = clone(EVERY[name]).set_params(ledger=Failing())
    with pytest.raises(eptr.BudgetError, match="nothing is left"):
        model.fit(*DATA)
    assert poisoned == []
    assert not hasattr(model, "release_")
