"""A measured lower bound on epsilon: run a mechanism on two neighbours and find the event that tells them apart.

Half of the runs choose the event, the other half count it; Clopper-Pearson limits turn counts into a bound that holds with the
stated confidence. A bound above the claim convicts; a bound below it acquits nobody, it only says how hard we looked.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from ..errors import EptrWarning, InputError, probability, whole_number
from .low_bits import bit_scores

__all__ = ["Measured", "attack", "fits", "lower_limit", "measure", "upper_limit"]

Array = NDArray[np.float64]
Sampler = Callable[[int, np.random.Generator], Array]
_THRESHOLDS = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """With this confidence the mechanism is not (e, delta)-DP for any e below ``epsilon``."""

    epsilon: float
    delta: float
    runs: int
    confidence: float
    event: str

    def convicts(self, claimed: float) -> bool:
        """Whether the claim of ``claimed`` is refuted."""
        return self.epsilon > claimed


def attack(
    first: Sampler,
    second: Sampler,
    delta: float,
    runs: int = 1_000_000,
    *,
    seed: int = 0,
    confidence: float = 0.9999,
    bits: bool = False,
) -> Measured:
    """Measure a mechanism on two neighbours.

    Parameters
    ----------
    first, second : callables (size, generator) -> outputs of shape (size,) or (size, k)
        Runs on the two datasets; NaN stands for "no reply".
    delta : float
    runs : int
        On each dataset.
    bits : bool
        Look at the low bits of every number, too: an attack on how noise is drawn rather than on its law. The seeded
        generator does not survive it, and is not meant to.

    Examples
    --------
    Gaussian noise at half the scale it should have:

    >>> from eptr import gaussian_mu
    >>> scale = 0.5 / gaussian_mu(1.0, 1e-6)
    >>> bad = [lambda size, rng, t=t: t + scale * rng.normal(size=size) for t in (0.0, 1.0)]
    >>> attack(*bad, delta=1e-6).convicts(1.0)
    True
    """
    whole_number("runs", runs, 100)
    streams = np.random.default_rng(seed).spawn(2)
    return measure(first(runs, streams[0]), second(runs, streams[1]), delta, confidence, bits)


def measure(first: Any, second: Any, delta: float, confidence: float = 0.9999, bits: bool = False) -> Measured:
    """The bound from outputs that were already drawn on two neighbours (rows are runs, NaN is "no reply")."""
    delta, confidence = probability("delta", delta), probability("confidence", confidence)
    tables = [np.asarray(x, dtype=float).reshape(len(x), -1) for x in (first, second)]
    width = max(t.shape[1] for t in tables)
    # Runs that never replied do not know how wide a reply would have been.
    tables = [np.full((len(t), width), np.nan) if np.isnan(t).all() else t for t in tables]
    if tables[0].shape[1] != tables[1].shape[1]:
        raise InputError("first and second must have outputs of the same shape.")
    train, test = zip(*((t[::2], t[1::2]) for t in tables), strict=True)
    best: tuple[float, str, Any] | None = None
    for name, score in _scores(train[0], train[1], bits):
        values = [score(t) for t in train]
        for order in ((0, 1), (1, 0)):
            gain, event = _best_event(values[order[0]], values[order[1]], delta)
            if best is None or gain > best[0]:
                best = gain, f"{name} {event}", (score, event, order)
    assert best is not None
    score, event, order = best[2]
    hits, sizes = [int(event(score(test[k])).sum()) for k in order], [len(test[k]) for k in order]
    low, high = lower_limit(hits[0], sizes[0], confidence), upper_limit(hits[1], sizes[1], confidence)
    epsilon = math.log((low - delta) / high) if low > delta else 0.0
    return Measured(max(0.0, epsilon), delta, len(tables[0]), confidence, best[1])


def _scores(first: Array, second: Array, bits: bool) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """One number per run: where the output lies, how large it is, and its low bits. NaN stays NaN."""
    here, there = _direction(first, second), _direction(_size(first), _size(second))
    yield "position", lambda t: t @ here
    yield "size", lambda t: _size(t) @ there
    if bits:
        yield from bit_scores(first.shape[1])


def _size(table: Array) -> Array:
    return np.asarray(np.log(np.maximum(np.abs(table), 1e-300)))


def _direction(first: Array, second: Array) -> Array:
    """Columns weighted by how far apart their medians are, in units of their spread squared."""
    replies = [t[~np.isnan(t).any(axis=1)] for t in (first, second)]
    if min(len(r) for r in replies) < 2:
        return np.ones(first.shape[1])
    apart = np.median(replies[0], axis=0) - np.median(replies[1], axis=0)
    spread = np.maximum(*(np.quantile(r, 0.75, axis=0) - np.quantile(r, 0.25, axis=0) for r in replies))
    if np.any((spread == 0.0) & (apart != 0.0)):  # a column without noise tells everything
        return np.where(spread == 0.0, np.sign(apart), 0.0)
    steps = apart / np.where(spread > 0.0, spread, 1.0)
    direction = steps / np.where(spread > 0.0, spread / spread.max(initial=1e-300), 1.0)
    return np.asarray(direction / np.abs(direction).max()) if np.any(direction) else np.ones(first.shape[1])


@dataclass(frozen=True, slots=True)
class _Event:
    """Outputs at or beyond a threshold, with or without "no reply"."""

    threshold: float
    above: bool
    silence: bool

    def __call__(self, score: Array) -> NDArray[np.bool_]:
        beyond = score >= self.threshold if self.above else score <= self.threshold
        return beyond | np.isnan(score) if self.silence else beyond

    def __str__(self) -> str:
        if math.isinf(self.threshold):
            return "no reply" if self.silence else "reply"
        return f"{'>=' if self.above else '<='} {self.threshold:.4g}{' or no reply' if self.silence else ''}"


def _best_event(p: Array, q: Array, delta: float) -> tuple[float, _Event]:
    """The event with the largest cautious log((P - delta)/Q) on the training runs."""
    replies = np.concatenate([p[~np.isnan(p)], q[~np.isnan(q)]])
    edges = np.quantile(replies, np.linspace(0.0, 1.0, _THRESHOLDS)) if len(replies) else []
    thresholds = np.unique(np.concatenate([edges, [-math.inf, math.inf]]))
    ordered = [np.sort(s[~np.isnan(s)]) for s in (p, q)]
    silent = [float(np.isnan(s).mean()) for s in (p, q)]
    best = -math.inf, _Event(math.inf, True, True)
    for above in (True, False):
        shares = []
        for values, size in zip(ordered, (len(p), len(q)), strict=True):
            below = np.searchsorted(values, thresholds, side="left" if above else "right")
            shares.append((len(values) - below if above else below) / size)
        for silence in (False, True):
            pair = [share + (z if silence else 0.0) for share, z in zip(shares, silent, strict=True)]
            gains = _gain(pair[0], pair[1], len(p), len(q), delta)
            k = int(np.argmax(gains))
            if gains[k] > best[0]:
                best = float(gains[k]), _Event(float(thresholds[k]), above, silence)
    return best


def _gain(p: Any, q: Any, n: int, m: int, delta: float) -> Any:
    """log((P - delta)/Q) with both shares moved three standard errors and three counts against us."""
    low = p - 3.0 * np.sqrt(p / n) - 3.0 / n - delta
    high = q + 3.0 * np.sqrt(q / m) + 3.0 / m
    return np.where(low > 0.0, np.log(np.maximum(low, 1e-300) / high), -math.inf)


def lower_limit(hits: int, runs: int, confidence: float) -> float:
    """Clopper and Pearson's lower limit of a probability; together with the upper one it has this confidence."""
    return 0.0 if hits == 0 else float(beta.ppf((1.0 - confidence) / 2.0, hits, runs - hits + 1))


def upper_limit(hits: int, runs: int, confidence: float) -> float:
    """Clopper and Pearson's upper limit."""
    return 1.0 if hits == runs else float(beta.ppf(1.0 - (1.0 - confidence) / 2.0, hits + 1, runs - hits))


def fits(estimator: Any, X: Any, y: Any) -> Sampler:
    """A sampler that fits an estimator anew for every run, with seeds; NaN where there was no reply."""
    from sklearn.base import clone

    def sample(size: int, rng: np.random.Generator) -> Array:
        model = clone(estimator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EptrWarning)
            values = [model.set_params(random_state=child).fit(X, y).release_.value for child in rng.spawn(size)]
        width = next((np.size(v) for v in values if v is not None), 1)
        return np.array([np.full(width, np.nan) if v is None else np.ravel(v) for v in values])

    return sample
