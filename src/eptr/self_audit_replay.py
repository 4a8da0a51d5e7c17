"""The checks that replay noise: losses call by call, rows of mixed types, artefacts, and what a draw cannot give.

They need no sampling, or little, and decide at any effort; `eptr.self_audit` puts them beside the sampled ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .audit.artefacts import Collect, Fit, artefacts, compare_artefacts, outlines
from .audit.finding import Check, Finding
from .audit.known_bad import BoxDraw, CommonTypeCounts, NoisyCounts, TalkativeCounts, WarningCounts
from .audit.mixed_types import containers, search_types
from .audit.neighbours import neighbours
from .audit.replay import Diverged, Replay
from .audit.support import Impossible, impossible
from .bounds import PublicBounds
from .errors import EptrWarning
from .estimators.catalogue import COMMANDS, OURS, Entrant, commanded
from .files import FileModel
from .privacy.claim import Cost
from .privacy.gaussian import gaussian_mu
from .report import render
from .rivals.catalogue import RIVAL_STATISTICS, RIVALS
from .rivals.tukey import TukeyEM
from .stats.catalogue import COLUMNS, LEVELS, STATISTICS, Statistic

__all__ = ["artefact_checks", "loss_checks", "support_checks", "type_checks"]

Array = NDArray[np.float64]
EPSILON, DELTA = 1.0, 1e-3
CLASSES = [0, 1, 2]
Part = tuple[str, Fit, list[Any], Collect]  # a name, how to fit, pairs of datasets, and what to compare
Model = tuple[str, Any, Entrant]  # a name, an estimator, and what the catalogue says of it


def _models(entrants: list[Entrant]) -> Iterator[Model]:
    """What claims to be private and, where bounds can be bought, that too."""
    for entrant in entrants:
        if entrant.private:
            model = _example(entrant)
            yield entrant.name, model, entrant
            strategy = entrant.estimator.strategies.get(entrant.variant)
            if strategy is not None and strategy.buys_bounds:
                bounds = {name: "private" for name in ("x_bound", "y_bound") if name in model.get_params()}
                yield f"{entrant.name}, private bounds", clone(model).set_params(**bounds), entrant


def _example(entrant: Entrant, classes: Any = None) -> Any:
    reach = 1.0 if entrant.task == "function" else 1.5
    return entrant.example(
        reach, 2.0, classes or CLASSES[: entrant.labels], epsilon=EPSILON, delta=DELTA, invalid="drop"
    )


def _families(ours: list[Entrant], rivals: list[Entrant]) -> Iterator[tuple[str, list[Model]]]:
    """One line of the table for each estimator with all its strategies, and one for all rivals."""
    for kind in dict.fromkeys(entrant.estimator for entrant in ours):
        found = [*_models([entrant for entrant in ours if entrant.estimator is kind])]
        yield f"{kind.__name__}, {len(found)} variant{'s' * (len(found) > 1)}", found
    others = [*_models(rivals)]
    yield f"rivals, {len(others)} of them", others


def loss_checks() -> Iterator[Check]:
    """The loss of every noisy call, given the same outputs, adds up to no more than the claim."""
    for name, models in _families(*([e for e in entrants if e.noise == "added"] for entrants in (OURS, RIVALS))):
        yield _loss(name, [(which, model, entrant.labels) for which, model, entrant in models])
    sums = [s for s in [*STATISTICS, *RIVAL_STATISTICS] if not s.pure]
    statistics: list[tuple[str, Any, int]] = [(s.name, _Asked(s), len(LEVELS)) for s in sums]
    yield _loss(f"statistics, {len(statistics)} of them", statistics)
    counts = _HalfNoise(NoisyCounts(EPSILON, DELTA, CLASSES))
    yield _loss("bad: noise for half of a change", [("counts", counts, 3)], True)


class _Asked:
    """A statistic behind the interface of an estimator, about rows of the common form."""

    def __init__(self, statistic: Statistic) -> None:
        self.statistic = statistic

    def set_params(self, **settings: Any) -> _Asked:
        self.settings = settings
        return self

    def fit(self, X: Any, y: Any) -> _Asked:
        x, labels = np.resize(X.T, (len(COLUMNS), len(X))).T, np.array(LEVELS, dtype=object)[y]
        settings = {"epsilon": EPSILON, "delta": DELTA, "invalid": "drop", **self.settings}
        self.release_ = self.statistic.example(x, labels, **settings).release
        return self


class _HalfNoise:
    """Claims what its inner model claims, with twice the rows behind every change."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def set_params(self, **settings: Any) -> _HalfNoise:
        self.inner.set_params(**settings)
        return self

    def fit(self, X: Any, y: Any) -> _HalfNoise:
        self.inner.fit(np.concatenate([X, X]), np.concatenate([y, y]))
        self.release_ = self.inner.release_
        return self


def _loss(name: str, models: list[tuple[str, Any, int]], guilty: bool = False) -> Check:
    def run(effort: float) -> Finding:
        shares, pairs = {}, max(20, int(120 * effort))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EptrWarning)
            for which, model, labels in models:
                rng = np.random.default_rng(0)
                tried = [neighbours(rng, 12, 1 + 2 * (trial % 2), labels) for trial in range(pairs)]
                shares[which] = max(_share(model, *pair, seed) for seed, pair in enumerate(tried))
        worst = max(shares, key=lambda which: shares[which])
        convicted = shares[worst] > 1.0 + 1e-9
        said = f"{shares[worst]:.3f} of claim" + (f", {worst}" if convicted else "")
        return Finding(name, f"replayed loss, {len(models) * pairs} pairs", said, convicted, guilty)

    return Check(f"loss: {name}", run)


def _share(model: Any, one: Any, two: Any, seed: int) -> float:
    """What a fit spends on a pair, as a share of what it claims."""
    replay = Replay(seed)
    model.set_params(random_state=replay).fit(*one)
    try:
        model.set_params(random_state=replay.rewind()).fit(*two)
        replay.finish()
    except Diverged:
        return math.inf
    cost: Cost = model.release_.cost
    mu = cost.mu if cost.mu > 0.0 else gaussian_mu(cost.epsilon, cost.delta) if cost.delta > 0.0 else 0.0
    gaussian = math.sqrt(replay.gaussian_loss)
    return float(replay.laplace_loss / cost.epsilon) + (gaussian / mu if mu else math.inf if gaussian else 0.0)


def type_checks() -> Iterator[Check]:
    """One row's label or cell of another type, in every container."""
    rng = np.random.default_rng(0)
    X, numbers = rng.uniform(-1, 1, size=(24, 2)).tolist(), rng.uniform(-1, 1, size=24).tolist()
    whole, text = [i % 3 for i in range(24)], [("no", "perhaps", "yes")[i % 3] for i in range(24)]
    turns = {True: count(), False: count()}  # with labels, and without
    for entrant in (entrant for entrant in OURS if entrant.noise == "added"):
        name, model, turn = entrant.name.replace("-refined", ""), _example(entrant), next(turns[bool(entrant.labels)])
        if entrant.labels:
            words = _example(entrant, ["no", "perhaps", "yes"])
            yield _types(f"{name}, labels 0, 1, 2", model, (X, whole), "target", turn)
            yield _types(f"{name}, labels of text", words, (X, text), "target", turn)
        else:
            yield _types(f"{name}, targets", model, (X, numbers), "target", turn)
        yield _types(f"{name}, cells", model, (X, whole if entrant.labels else numbers), "cell", turn)
    counts: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "classes": CLASSES}
    yield _types("counts, each label read by itself", NoisyCounts(**counts), (X, whole), "target")
    yield _types("bad: labels through one array (0.1)", CommonTypeCounts(**counts), (X, whole), "target", guilty=True)
    yield _types("bad: a warning counts labels", WarningCounts(**counts), (X, whole), "target", guilty=True)


def _types(name: str, model: Any, rows: Any, place: str, turn: int | None = None, guilty: bool = False) -> Check:
    """Containers are opened before an estimator sees a row: at less effort those who take turns meet a third of them each."""

    def run(effort: float) -> Finding:
        every = list(containers().items())
        some = every if turn is None or effort >= 1.0 else every[turn % 3 :: 3]
        found = search_types(model, rows, place, dict(some))
        said = (
            shorten(next(iter(found.faults.values())), 60, placeholder=" ...")
            if found.convicts
            else f"{found.closest:.3f} of claim"
        )
        return Finding(name, f"mixed types, {found.pairs} pairs", said, found.convicts, guilty)

    return Check(f"types: {name}", run)


def artefact_checks() -> Iterator[Check]:
    """Everything a fit shows, byte for byte."""
    for name, models in _families(OURS, RIVALS):
        parts: list[Part] = [
            # What mixes rows and random numbers is not made alike by replayed numbers.
            (which, _fitter(model), _pairs(entrant.labels), outlines if entrant.noise == "mixed" else artefacts)
            for which, model, entrant in models
        ]
        yield _artefacts(name, parts)
    if find_spec("matplotlib"):
        files: list[Part] = [(k, _file_fitter(k), _tables(k), _file_artefacts) for k in COMMANDS]
        yield _artefacts("eptr fit: report and model file", files, pairs_at_least=1)
    counts = TalkativeCounts(EPSILON, DELTA, CLASSES)
    yield _artefacts("bad: a raw statistic in an attribute", [("counts", _fitter(counts), _pairs(3), artefacts)], True)


def _artefacts(name: str, parts: list[Part], guilty: bool = False, pairs_at_least: int = 4) -> Check:
    def run(effort: float) -> Finding:
        found = {}
        for which, fit, pairs, collect in parts:
            some = pairs[: max(pairs_at_least, int(effort * len(pairs)))]
            found[which] = compare_artefacts(fit, some, collect, seeds=max(1, int(4 * effort)))
        differs = [f"{which}: {search.differs}" for which, search in found.items() if search.convicts]
        said = f"differs: {differs[0]}" if differs else f"{sum(s.compared for s in found.values()):,} the same"
        how = f"artefacts, {sum(s.pairs for s in found.values())} pairs"
        return Finding(name, how, said, bool(differs), guilty)

    return Check(f"artefacts: {name}", run)


def _pairs(labels: int) -> list[Any]:
    """Hard neighbours, one whose row is no longer valid, and one so clear that every private test replies."""
    rng = np.random.default_rng(1)
    pairs = [neighbours(rng, n, 2, labels) for n in (12, 400)]
    (X, y), _ = neighbours(rng, 400, 2, labels)
    other = X.copy()
    other[0, 0] = math.nan
    corners = rng.choice([-0.5, 0.5], size=(3_000, 2))
    clear = np.arange(3_000) % labels if labels else corners @ [1.0, -0.5] + 0.1 * rng.normal(size=3_000)
    moved, target = corners.copy(), clear.copy()
    moved[0], target[0] = -corners[0], 0
    return [*pairs, ((X, y), (other, y)), ((corners, clear), (moved, target))]


def _fitter(model: Any) -> Fit:
    return lambda data, noise: clone(model).set_params(random_state=noise).fit(*data)


def _tables(kind: str) -> list[Any]:
    """Columns as `eptr fit` reads them from a file; one row is left empty, or changes."""
    rng = np.random.default_rng(2)
    columns = {name: np.array([f"{v:.3f}" for v in rng.uniform(size=40)], dtype=object) for name in ("x", "z")}
    labelled = commanded(kind)[0].labels
    target = rng.choice(["no", "yes"], size=40) if labelled else [f"{v:.3f}" for v in rng.uniform(size=40)]
    first = columns | {"y": np.array(list(target), dtype=object)}
    others = []
    for value in ("", "0.999"):
        other = {name: column.copy() for name, column in first.items()}
        other["x"][0] = value
        others.append((first, other))
    return others


def _file_fitter(kind: str) -> Fit:
    target: Any = ["no", "yes"] if commanded(kind)[0].labels else (0.0, 1.0)
    bounds = PublicBounds({"x": (0.0, 1.0), "z": (0.0, 1.0)}, target, None)
    settings: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "invalid": "drop"}
    return lambda data, noise: FileModel.fit(data, kind, "y", bounds, "data.csv", random_state=noise, **settings)


def _file_artefacts(model: FileModel) -> dict[str, bytes]:
    """The report as it is, and as that of a private fit, which tells more."""
    private = copy(model.estimator)
    private.release_ = replace(private.release_, private=True)
    pages = {"report": model, "report of a private fit": replace(model, estimator=private)}
    found = {name: render(page).encode() for name, page in pages.items()}
    return artefacts(model.estimator) | found | {"model file": model.to_json().encode()}


# Half of many small fits at one place, half at another: all boxes are alike, and on a neighbour the innermost is not.
_FITS = [-1.0] * 20 + [1.7] * 20
_OTHER = [-1.0] * 20 + [1.7] * 19 + [1.3]


def support_checks() -> Iterator[Check]:
    """Outputs that a neighbour cannot give."""

    def drawn(effort: float) -> Impossible:
        draws, rng = (BoxDraw(_FITS), BoxDraw(_OTHER)), np.random.default_rng(0)
        return impossible((draws[0](2_000, rng), draws[1](2_000, rng)), (draws[0].possible, draws[1].possible))

    def tukey(effort: float) -> Impossible:
        runs = max(150, int(1_000 * effort))
        outputs = _tukey_points(_FITS, runs), _tukey_points(_OTHER, runs)
        return impossible(outputs, (BoxDraw(_FITS).possible, BoxDraw(_OTHER).possible))

    yield _support("TukeyEM, exact noise", tukey)
    yield _support("bad: a box drawn in floats (TukeyEM 0.1)", drawn, guilty=True)


def _support(name: str, search: Callable[[float], Impossible], guilty: bool = False) -> Check:
    def run(effort: float) -> Finding:
        found = search(effort)
        how = f"support, {found.runs:,} runs"
        return Finding(name, how, str(found), found.convicts(0.01), guilty)

    return Check(f"support: {name}", run)


def _tukey_points(fits: list[float], runs: int) -> Array:
    """Released slopes with one row per batch, so that the small fits are the targets themselves; large epsilon, few rows."""
    model = TukeyEM(8.0, 0.01, batches=len(fits), fit_intercept=False)
    X, y = np.ones((len(fits), 1)), np.array(fits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EptrWarning)
        releases = [model.fit(X, y).release_ for _ in range(runs)]
    return np.array([float(np.ravel(release.value)[0]) for release in releases if release.replied])
