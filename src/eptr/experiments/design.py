"""What an experiment is: a name, a grid, methods by family, and a function that runs one replication of the whole grid."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import EptrWarning, PrivacyError

__all__ = ["Experiment", "Method", "Record", "Wanted", "generator", "outcome", "outcomes"]

Wanted = Callable[[str], bool]  # which methods are run
Record = tuple[float, str, dict[str, float]]  # setting, method, measures (always "error" and "replied")


@dataclass(frozen=True, slots=True)
class Method:
    """How a method appears: its family decides colour and place, ``private=False`` draws it dashed and says so."""

    name: str
    family: str  # "reference", "published", "rival" or "ours"
    private: bool = True

    @property
    def label(self) -> str:
        return self.name if self.private else f"{self.name} (NOT private)"


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure of the paper, or one it left out."""

    name: str
    title: str
    setting: str  # what the horizontal axis shows
    measure: str  # what the vertical axis shows
    grid: tuple[float, ...]
    methods: tuple[Method, ...]
    replications: int
    run: Callable[[int, Wanted], Iterator[Record]]
    log_x: bool = False
    log_y: bool = True


def generator(experiment: str, *parts: int) -> np.random.Generator:
    """Seeded by the experiment's name and the replication alone: no order and no number of workers can matter."""
    return np.random.default_rng([zlib.crc32(experiment.encode()), *parts])


def outcomes(
    setting: float, models: Mapping[str, Any], wanted: Wanted, X: Any, y: Any, score: Callable[[Any], dict[str, float]]
) -> Iterator[Record]:
    """Fit and score what is wanted, all on the same rows; a method that refuses the setting counts as its fallback."""
    for method, model in models.items():
        if wanted(method):
            yield setting, method, outcome(model, X, y, score)


def outcome(model: Any, X: Any, y: Any, score: Callable[[Any], dict[str, float]]) -> dict[str, float]:
    """Fit and score; a method that refuses the setting counts as its fallback, without a reply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EptrWarning)
        try:
            model.fit(X, y)
        except PrivacyError:
            return score(None) | {"replied": 0.0}
    replied = getattr(model, "replied_", None)
    return score(model) | {"replied": float(model.released_) if replied is None else float(np.mean(replied))}
