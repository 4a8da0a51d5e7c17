"""Look for two neighbours that break a claimed Lipschitz constant or sensitivity bound; give the smallest pair found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, whole_number
from .domain import Domain

__all__ = ["Claims", "Counterexample", "Search", "falsify"]

Array = NDArray[np.float64]
# A claim is broken beyond this; below it the difference could be the rounding of the functions themselves.
_RELATIVE = 1e-9
_SIZES = (1, 2, 3, 5, 10, 30)


@dataclass(frozen=True, slots=True)
class Claims:
    """What is to be attacked (see :class:`eptr.Adapter` for the meaning of each)."""

    estimate: Callable[[Any], Any]
    safety: Callable[[Any], Any]
    lipschitz: float
    sensitivity: Callable[[float], float]
    minimum: float = 0.0
    safety_error: float = 0.0
    estimate_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two neighbouring datasets that break a claim; printing it gives a test that fails."""

    claim: str
    before: Array
    after: Array
    measured: float
    bound: float

    def __str__(self) -> str:
        said = {
            "lipschitz": ("the safety statistic moves by", "assert abs(safety(before) - safety(after)) <= lipschitz"),
            "sensitivity": (
                "the estimate moves by",
                "b = min(safety(before), safety(after))\n"
                "assert np.linalg.norm(np.subtract(estimate(before), estimate(after))) <= sensitivity(b)",
            ),
            "finite": (
                "the estimate does not exist on a safe dataset; its size is",
                "assert np.all(np.isfinite(estimate(before))) and np.all(np.isfinite(estimate(after)))",
            ),
            "decreasing": (
                "sensitivity grows with the safety; it is",
                "low, high = sorted([safety(before), safety(after)])\nassert sensitivity(low) >= sensitivity(high)",
            ),
        }[self.claim]
        return "\n".join(
            [
                f"# {said[0]} {self.measured:.6g}, claimed: at most {self.bound:.6g}",
                f"before = np.array({_literal(self.before)})",
                f"after = np.array({_literal(self.after)})",
                said[1],
            ]
        )


@dataclass(slots=True)
class Search:
    """How hard it looked: pairs tried, and how close (1 means attained) each claim came to being broken."""

    counterexample: Counterexample | None = None
    pairs: int = 0
    closest: dict[str, float] = field(default_factory=lambda: {"lipschitz": 0.0, "sensitivity": 0.0})

    def __str__(self) -> str:
        if self.counterexample is not None:
            return str(self.counterexample)
        near = ", ".join(f"{claim} {ratio:.3f}" for claim, ratio in self.closest.items())
        return f"no counter-example among {self.pairs} pairs of neighbours; closest (1 is the bound): {near}"


def falsify(claims: Claims, domain: Any, trials: int = 10_000, sizes: Any = _SIZES, seed: int = 0) -> Search:
    """Search for neighbours that break one of the claims.

    Worst-case templates, random datasets, then hill climbing on whichever claim is closest to breaking; a pair that breaks a
    claim is shrunk to few rows and short numbers. Finding nothing proves nothing, but bad bounds rarely survive.

    Parameters
    ----------
    claims : Claims
    domain : see :class:`eptr.audit.domain.Domain`
    trials : int
        Pairs of datasets to try.
    sizes : sequence of int
        Numbers of rows to try; small datasets are where bounds break.

    Examples
    --------
    A mean of numbers in [0, 1] moves by 1/n, not by 1/(2n):

    >>> wrong = Claims(np.mean, len, 1.0, lambda n: 0.5 / n)
    >>> print(falsify(wrong, (0, 1)))
    # the estimate moves by 1, claimed: at most 0.5
    before = np.array([1.0])
    after = np.array([0.0])
    b = min(safety(before), safety(after))
    assert np.linalg.norm(np.subtract(estimate(before), estimate(after))) <= sensitivity(b)
    >>> right = Claims(np.mean, len, 1.0, lambda n: 1 / n)
    >>> falsify(right, (0, 1), trials=500).counterexample is None
    True
    """
    whole_number("trials", trials)
    space, rng, search = Domain(domain), np.random.default_rng(seed), Search()
    sizes = [int(n) for n in np.atleast_1d(sizes)]
    if not sizes or min(sizes) < 1:
        raise InputError("sizes must hold numbers of rows of at least 1.")
    attacker = _Attacker(claims, space, search)
    with np.errstate(all="ignore"):
        for pair in _starts(space, rng, sizes, trials // 2):
            if attacker.breaks(pair):
                break
        climbs = max(1, (trials - search.pairs) // 200)
        for goal in [*("sensitivity", "lipschitz") * ((climbs + 1) // 2)]:
            if search.counterexample is None and search.pairs < trials:
                attacker.climb(goal, rng, min(200, trials - search.pairs))
        attacker.shrink()
    return search


Pair = tuple[Array, Array]  # a dataset, and the row that replaces its first one


def _starts(space: Domain, rng: np.random.Generator, sizes: list[int], count: int) -> Iterator[Pair]:
    for k in range(count):
        n = sizes[k % len(sizes)]
        kind = k // len(sizes) % 4
        if kind == 0:  # everybody at one corner, the newcomer at another
            yield np.tile(space.corner(rng), (n, 1)), space.corner(rng)
        elif kind == 1:  # one row away from the rest, and it joins them or leaves
            table = np.tile(space.corner(rng), (n, 1))
            table[0] = space.corner(rng)
            yield table, table[-1] if rng.random() < 0.5 else space.corner(rng)
        elif kind == 2:  # a crowd of corners
            yield np.array([space.corner(rng) for _ in range(n)]), space.corner(rng)
        else:
            yield space.rows(rng, n), space.rows(rng, 1)[0]


class _Attacker:
    def __init__(self, claims: Claims, space: Domain, search: Search) -> None:
        self.claims, self.space, self.search = claims, space, search
        self.worst: dict[str, tuple[float, Pair]] = {}

    def breaks(self, pair: Pair) -> bool:
        """Try a pair; remember the closest and the first that breaks a claim."""
        self.search.pairs += 1
        for claim, measured, bound in self._measure(pair):
            ratio = measured / bound if bound > 0.0 else math.inf
            if claim in self.search.closest:
                self.search.closest[claim] = max(self.search.closest[claim], ratio)
                if ratio > self.worst.get(claim, (-1.0, pair))[0]:
                    self.worst[claim] = ratio, pair
            if not ratio <= 1.0 + _RELATIVE:
                self.search.counterexample = self._example(claim, pair, measured, bound)
                self.worst[claim] = ratio, pair
                return True
        return False

    def _example(self, claim: str, pair: Pair, measured: float, bound: float) -> Counterexample:
        before, after = self._both(pair)
        return Counterexample(claim, before.copy(), after.copy(), measured, bound)

    def _both(self, pair: Pair) -> tuple[Array, Array]:
        after = pair[0].copy()
        after[0] = pair[1]
        return self.space.dataset(pair[0].copy()), self.space.dataset(after)

    def _measure(self, pair: Pair) -> Iterator[tuple[str, float, float]]:
        """(claim, measured, claimed bound) for every claim this pair says something about."""
        c = self.claims
        before, after = self._both(pair)
        safety = [self._safety(before), self._safety(after)]
        if all(math.isfinite(b) for b in safety):
            yield "lipschitz", abs(safety[0] - safety[1]), c.lipschitz + 2.0 * c.safety_error
        elif max(safety) > c.minimum:  # a safety without a value, next to a safe dataset
            yield "lipschitz", math.inf, c.lipschitz
        low, high = min(safety), max(safety)
        if not low > c.minimum:
            return
        alpha = float(c.sensitivity(low))
        yield "decreasing", float(c.sensitivity(high)), alpha
        values = [np.asarray(c.estimate(d), dtype=float) for d in (before, after)]
        if not all(np.all(np.isfinite(v)) for v in values) or values[0].shape != values[1].shape:
            yield "finite", math.inf, alpha
            return
        yield "sensitivity", float(np.linalg.norm(np.ravel(values[0] - values[1]))), alpha + 2.0 * c.estimate_error

    def _safety(self, data: Array) -> float:
        beta = float(self.claims.safety(data))
        return -math.inf if math.isnan(beta) else beta

    def climb(self, claim: str, rng: np.random.Generator, moves: int) -> None:
        """Hill climbing from the worst pair known for a claim."""
        if claim not in self.worst:
            return
        ratio, (table, row) = self.worst[claim]
        step = 0.5
        for _ in range(moves):
            moved = table.copy()
            for i in range(len(moved)):
                if rng.random() < 1.5 / len(moved):
                    moved[i] = self.space.moved(moved[i], step, rng)
            pair = moved, self.space.moved(row, step, rng)
            if self.breaks(pair):
                return
            found = self.worst[claim][0]
            if found > ratio:
                ratio, (table, row) = self.worst[claim]
            else:
                step = max(0.97 * step, 1e-4)

    def shrink(self) -> None:
        """Drop rows and shorten numbers while the same claim stays broken."""
        broken = self.search.counterexample
        if broken is None:
            return
        pair = self.worst[broken.claim][1]
        changed = True
        while changed:
            changed = False
            for simpler in self._simpler(pair):
                example = self._still(broken.claim, simpler)
                if example is not None:
                    pair, self.search.counterexample, changed = simpler, example, True
                    break

    def _simpler(self, pair: Pair) -> Iterator[Pair]:
        table, row = pair
        for i in range(len(table) - 1, 0, -1):
            yield np.delete(table, i, axis=0), row
        for i, j in np.ndindex(table.shape):
            for value in self._easier(float(table[i, j]), j):
                new = table.copy()
                new[i, j] = value
                yield new, row
        for j in range(len(row)):
            for value in self._easier(float(row[j]), j):
                new = row.copy()
                new[j] = value
                yield table, new

    def _easier(self, value: float, column: int) -> list[float]:
        short = len(repr(value))
        return [v for v in self.space.simpler(value, column) if len(repr(v)) < short]

    def _still(self, claim: str, pair: Pair) -> Counterexample | None:
        for found, measured, bound in self._measure(pair):
            if found == claim and not measured <= bound * (1.0 + _RELATIVE):
                return self._example(claim, pair, measured, bound)
        return None


def _literal(values: Array) -> str:
    return repr(values.tolist()).replace("nan", "np.nan")
