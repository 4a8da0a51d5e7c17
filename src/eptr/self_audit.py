"""The self-audit: every claim attacked, next to known-bad mechanisms that must be convicted by the same attacks.

``eptr audit`` prints the table. A bad mechanism that escapes is as much a failure as a claim of ours that falls; an attack
with too few runs to tell says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .audit.attack import Measured, attack, fits
from .audit.falsify import Claims, falsify
from .audit.finding import Check, Finding
from .audit.power import enough_runs
from .estimators.catalogue import OURS, Entrant
from .privacy.gaussian import gaussian_mu
from .privacy.ladder import build_ladder
from .privacy.mechanism import Proposal, forecast_test, simulate
from .privacy.noise import ExactNoise
from .rivals.catalogue import RIVALS
from .rows.exact import sum_grid, toward_zero
from .self_audit_replay import artefact_checks, loss_checks, support_checks, type_checks

__all__ = ["CHECKS", "estimator_finding", "run_checks"]

Array = NDArray[np.float64]
EPSILON, DELTA = 1.0, 1e-6
SCALE = 1.0 / gaussian_mu(EPSILON, DELTA)  # of the noise that a value of sensitivity 1 needs
# Fits are slow, so their attack uses a delta that few runs can see.
FIT_DELTA = 0.01


def _measured(name: str, result: Measured, claimed: float, guilty: bool, enough: bool) -> Finding:
    return Finding(
        name,
        # Which score told them apart, without its threshold.
        f"{re.split(r' [<>]=| reply| no reply', result.event)[0]}, {result.runs:,} runs",
        f"epsilon {result.epsilon:.2f} of {claimed:g}",
        result.convicts(claimed),
        guilty,
        enough,
    )


def _release(strategy: str) -> Check:
    """The worst pairs of a test: neighbours one step of safety and one sensitivity apart."""

    def sampler(safety: float, value: float) -> Any:
        return lambda size, rng: simulate(
            Proposal([value], 1.0, safety), EPSILON, DELTA, strategy, size=size, random_state=rng
        )[1]

    def run(effort: float) -> Finding:
        top = forecast_test(strategy, EPSILON, DELTA).certain
        runs = max(500_000, int(1_000_000 * effort))
        results = [
            attack(sampler(rung, 0.0), sampler(rung + 1.0, 1.0), DELTA, runs, seed=k)
            for k, rung in enumerate(0.5 + share * top for share in (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.1))
        ]
        worst = max(results, key=lambda r: r.epsilon)
        enough = enough_runs(worst, EPSILON)
        return _measured(f"release, {strategy}, seven pairs", worst, EPSILON, guilty=False, enough=enough)

    return Check(f"release-{strategy}", run)


def _bad(name: str, first: Any, second: Any, runs: int = 1_000_000, bits: bool = False) -> Check:
    def run(effort: float) -> Finding:
        result = attack(first, second, DELTA, runs=runs, bits=bits)
        return _measured(name, result, EPSILON, guilty=True, enough=True)  # so many runs at any effort

    return Check(name, run)


def _noisy(value: float, scale: float = SCALE) -> Any:
    return lambda size, rng: value + scale * rng.standard_normal(size)


def _rounded_rung() -> Check:
    """The last uncertain rung of a finished ladder, lowered by a tenth of a per cent."""
    cost = forecast_test("tight", EPSILON, DELTA).cost
    steps = build_ladder(EPSILON, DELTA, cost.mu, cost.p0 or DELTA)
    lowered = float(steps.probabilities[-2]) * 0.999

    def sampler(chance: float, value: float) -> Any:
        return lambda size, rng: np.where(
            rng.random(size) < chance, value + rng.standard_normal(size) / cost.mu, np.nan
        )

    return _bad("bad: a rung rounded down after the fact", sampler(lowered, 0.0), sampler(1.0, 1.0))


def _printed_ptr() -> Check:
    """Standard PTR with half of epsilon for the test and all of it for the noise."""
    threshold = 2.0 / EPSILON * math.log(1.0 / DELTA)

    def sampler(distance: float, value: float) -> Any:
        def sample(size: int, rng: np.random.Generator) -> Array:
            reply = distance + rng.laplace(scale=2.0 / EPSILON, size=size) > threshold
            return np.where(reply, value + SCALE * rng.standard_normal(size), np.nan)

        return sample

    top = math.floor(threshold)
    return _bad("bad: PTR as printed", sampler(top, 0.0), sampler(top + 1.0, 1.0), runs=8_000_000)


def _exact_noise() -> Check:
    def sampler(value: float) -> Any:
        return lambda size, rng: ExactNoise().gaussian(np.full(size, value), SCALE)

    def run(effort: float) -> Finding:
        runs = max(10_000, int(40_000 * effort))
        result = attack(sampler(0.0), sampler(1.0), DELTA, runs, bits=True)
        # What is sought here is not the law but the way of drawing: would floating-point noise have been convicted?
        enough = attack(_noisy(0.0), _noisy(1.0), DELTA, runs, bits=True).convicts(EPSILON)
        return _measured("exact noise, low bits included", result, EPSILON, guilty=False, enough=enough)

    return Check("exact-noise", run)


def _falsified(name: str, claims: Claims, domain: Any, guilty: bool, sizes: Any) -> Check:
    def run(effort: float) -> Finding:
        search = falsify(claims, domain, trials=max(300, int(5_000 * effort)), sizes=sizes)
        found = search.counterexample
        near = max(search.closest.values())
        said = f"{near:.3f} of claim" if found is None else f"{found.claim} {found.measured:.4g} > {found.bound:.4g}"
        enough = not guilty or effort >= 1.0
        return Finding(name, f"search among {search.pairs:,} pairs", said, found is not None, guilty, enough)

    return Check(name, run)


def _sum_claim(name: str, ready: Callable[[Array], Array], guilty: bool) -> Check:
    """100,000 rows of 0.6, and one row that moves by 1: the sum must not move by more."""
    rest = np.full(100_000, 0.6)

    def total(x: Array) -> float:
        return float(np.add.accumulate(ready(np.append(x, rest)))[-1])

    return _falsified(name, Claims(total, len, 1.0, lambda b: 1.0), (0, 1), guilty, sizes=(1, 2))


# Worst pairs of estimators: families indexed by how many rows carry information, so that some members sit on the threshold.
Pair = tuple[tuple[Array, Array], tuple[Array, Array]]
ROWS = 60


def _with_another_row(X: Array, y: Array, *news: tuple[Any, Any]) -> Iterator[Pair]:
    """The rows, and the same with each of these in place of the first."""
    for x_new, y_new in news:
        other, target = X.copy(), y.copy()
        other[0], target[0] = x_new, y_new
        yield (X, y), (other, target)


def regression_pairs(k: int) -> Iterator[Pair]:
    """k rows at the edge, the rest at zero; one row turns around, or vanishes."""
    X, y = np.zeros((ROWS, 1)), np.zeros(ROWS)
    X[:k], y[:k] = 1.0, 1.0
    return _with_another_row(X, y, (1.0, -1.0), (0.0, 0.0))


def classification_pairs(k: int) -> Iterator[Pair]:
    """A class of k rows at one pole; one of them goes to the other pole, in the same class or in the other."""
    features = 8
    X, y = np.full((ROWS, features), -1.0 / math.sqrt(features)), np.zeros(ROWS, dtype=int)
    y[:k] = 1
    return _with_another_row(X, y, (-X[0], 1), (-X[0], 0))


def kernel_pairs(k: int) -> Iterator[Pair]:
    """k rows at the query, the rest far away; one row changes its response, or leaves."""
    X, y = np.zeros((ROWS, 1)), np.ones(ROWS)
    X[:k] = 0.5
    return _with_another_row(X, y, (0.5, -1.0), (0.0, -1.0))


def estimator_finding(
    name: str,
    estimator: Any,
    pairs: Callable[[int], Iterator[Pair]],
    epsilon: float,
    effort: float,
    guilty: bool = False,
) -> Finding:
    """Attack an estimator where it looks weakest: many pairs are screened with few runs, the worst gets them all.

    The pairs are those on which the reply is least certain, the smallest and the full one of the family. Fewer runs than
    all of them acquit no known-bad mechanism, and nobody if twice the claimed epsilon would have escaped them.
    """
    full = effort >= 1.0
    much = full or guilty  # what must be convicted is worth more runs than what cannot be acquitted by them
    tries, screening = (10, 300) if full else (4, 100)
    rates = {}
    for k in range(2, ROWS + 1, 2 if full else 6):
        (X, y), _ = next(pairs(k))
        rates[k] = float(np.mean(~np.isnan(fits(estimator, X, y)(tries, np.random.default_rng(k))).any(axis=1)))
    doubtful = sorted(rates, key=lambda k: abs(rates[k] - 0.5))[: 2 if full else 1]
    screened = [
        (attack(fits(estimator, *one), fits(estimator, *two), FIT_DELTA, screening, seed=k, confidence=0.5), one, two)
        for k in ({*doubtful, 1, ROWS - 1} if much else {*doubtful, ROWS - 1})
        for one, two in pairs(k)
    ]
    _, one, two = max(screened, key=lambda item: item[0].epsilon)
    runs = max(1_000 if guilty else 500, int(8_000 * effort) if much else int(5_000 * effort))
    result = attack(fits(estimator, *one), fits(estimator, *two), FIT_DELTA, runs, seed=1)
    return _measured(name, result, epsilon, guilty, full if guilty else enough_runs(result, epsilon))


# Where each task is attacked, and what makes its weakest point visible.
_FAMILIES: dict[str, Any] = {
    "classification": (classification_pairs, {}),
    "regression": (regression_pairs, {"fit_intercept": False}),
    "function": (kernel_pairs, {"domain": (0, 1)}),
}


def _estimators(entrants: list[Entrant], called: str = "{}") -> Iterator[Check]:
    for entrant in entrants:
        pairs, settings = _FAMILIES[entrant.task]
        settings = {**(settings if entrant.takes_bounds else {}), **entrant.exposed}
        model = entrant.example(1.0, 1.0, [0, 1], epsilon=EPSILON, delta=FIT_DELTA, **settings)
        # A printed test is convicted at a small delta, by its own check above.
        if entrant.name != "PTR-literature":
            found = partial(estimator_finding, entrant.name, model, pairs, EPSILON, guilty=not entrant.private)
            yield Check(called.format(entrant.name), found)


_ALL = [
    _release("tight"),
    _release("paper"),
    _release("ptr"),
    _exact_noise(),
    _sum_claim("exact sums, sensitivity 1", lambda x: toward_zero(x, sum_grid(200_000, 1.0)), guilty=False),
    *loss_checks(),
    *type_checks(),
    *artefact_checks(),
    *support_checks(),
    *_estimators(OURS),
    *_estimators(RIVALS, "rival {}"),
    _bad("bad: noise at half scale", _noisy(0.0, 0.5 * SCALE), _noisy(1.0, 0.5 * SCALE)),
    _bad("bad: a test without noise", _noisy(0.0), lambda size, rng: np.full(size, np.nan)),
    # A sum whose clipping bound, and noise, is the largest value in the data: one row of 10 among ones.
    _bad("bad: bounds taken from the data", _noisy(100.0), _noisy(109.0, 10.0 * SCALE)),
    _rounded_rung(),
    _printed_ptr(),
    _bad("bad: floating-point noise, low bits", _noisy(0.0), _noisy(1.0), runs=200_000, bits=True),
    _sum_claim("bad: a float32 sum, sensitivity 1", lambda x: x.astype(np.float32), guilty=True),
]
# Our claims first, then the gallery of known-bad mechanisms.
CHECKS = sorted(_ALL, key=lambda check: "bad: " in check.name)


def run_checks(names: list[str], effort: float, workers: int = 1) -> Iterator[Finding]:
    """The findings of the named checks, in this order, each as soon as it and those before it are there."""
    tasks = [delayed(_run)(name, effort) for name in names]
    # In processes, by name: a check holds functions that do not travel. They start anew, so that no seed depends on them.
    return iter(Parallel(n_jobs=workers, return_as="generator", batch_size=1)(tasks))


def _run(name: str, effort: float) -> Finding:
    return next(check for check in CHECKS if check.name == name).run(effort)
