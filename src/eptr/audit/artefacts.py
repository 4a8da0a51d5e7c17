"""Everything a fitted model shows: with the noise replayed, it must be the same, byte for byte, on neighbours.

A released number is protected by its noise; whatever else differs between neighbours is protected by nothing: an attribute
that keeps a raw statistic, a warning that counts rows, a pickle that holds them.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..privacy.voices import VOICES
from .replay import Diverged, Replay

__all__ = ["ArtefactSearch", "Collect", "Fit", "artefacts", "compare_artefacts", "outlines"]

Fit = Callable[[Any, Replay], Any]  # a dataset and a noise source give a fitted model
Collect = Callable[[Any], dict[str, bytes]]


@dataclass(frozen=True, slots=True)
class ArtefactSearch:
    """How many artefacts were compared on how many pairs, and the first that differs."""

    pairs: int
    compared: int
    differs: str | None

    @property
    def convicts(self) -> bool:
        return self.differs is not None


def artefacts(model: Any) -> dict[str, bytes]:
    """The attributes of a fitted model one by one, its repr, pickle, JSON and statements."""
    found = _shown(model, _bytes)
    found["pickle"] = _bytes(model)
    for name in ("to_json", "privacy_statement"):
        if hasattr(model, name):
            found[name] = str(getattr(model, name)()).encode()
    if hasattr(model, "privacy_statement"):
        # A replayed fit says that it is not private; the statement of a private one tells more.
        private = copy.copy(model)
        private.release_ = replace(model.release_, private=True)
        found |= {f"statement of a private fit, {voice}": private.statement(voice).encode() for voice in VOICES}
    return found


def outlines(model: Any) -> dict[str, bytes]:
    """The same without values, for mechanisms whose output is not a statistic plus noise: names, types, shapes, texts."""
    return _shown(model, _outline) | {"privacy_statement": model.privacy_statement().encode()}


def _shown(model: Any, told: Callable[[Any], bytes]) -> dict[str, bytes]:
    """What the model holds, and what it fitted one by one, under the names that users read; and its repr."""
    fitted = getattr(model, "fitted_", None)
    released = {f"{f.name}_": getattr(fitted, f.name) for f in fields(fitted)} if is_dataclass(fitted) else {}
    found = {f"attribute {name}": told(value) for name, value in sorted((vars(model) | released).items())}
    return found | {"attributes": repr(sorted(vars(model))).encode(), "repr": repr(model).encode()}


def _outline(value: Any) -> bytes:
    shape = f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else ""
    return f"{type(value).__name__} {shape}".encode()


def _bytes(value: Any) -> bytes:
    return pickle.dumps(value, protocol=5)


def compare_artefacts(
    fit: Fit, pairs: list[tuple[Any, Any]], collect: Collect = artefacts, seeds: int = 1
) -> ArtefactSearch:
    """Fit on one dataset of a pair, replay on the other, and compare all that can be seen.

    Parameters
    ----------
    fit : callable (dataset, noise) -> fitted model
    pairs : list of two neighbouring datasets
    collect : callable (model) -> names and bytes
    seeds : int
        Recordings per pair: a test may reply in one and not in another.
    """
    compared = 0
    for one, two in pairs:
        for seed in range(seeds):
            replay = Replay(seed, same_scales=False)  # a scale may be private as long as nothing shows it
            first = _seen(fit, one, replay, collect)
            second = _seen(fit, two, replay.rewind(), collect)
            compared += len(first)
            # A single attribute says more than the pickle that holds it.
            for name in sorted({*first, *second}, key=lambda name: (not name.startswith("attribute "), name)):
                if first.get(name) != second.get(name):
                    return ArtefactSearch(len(pairs), compared, name)
            try:
                replay.finish()
            except Diverged as difference:
                return ArtefactSearch(len(pairs), compared, f"draws: {difference}")
    return ArtefactSearch(len(pairs), compared, None)


def _seen(fit: Fit, data: Any, replay: Replay, collect: Collect) -> dict[str, bytes]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = collect(fit(data, replay))
        except Exception as error:  # which an attacker sees, too
            found = {"exception": f"{type(error).__name__}: {error}".encode()}
    found["warnings"] = repr([(w.category.__name__, str(w.message)) for w in caught]).encode()
    return found
