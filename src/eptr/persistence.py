"""The fitted private model as versioned JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .errors import InputError
from .estimators.fitted import FACTS, Fitted
from .privacy.claim import Cost, Record, Release

__all__ = ["decode", "encode", "restored", "to_json"]

SCHEMA = "eptr-model/2"
# Settings that mean something only where the model was fitted: they are not part of a published model.
_LOCAL = ("ledger", "random_state")


def to_json(estimator: Any) -> str:
    """A fitted estimator in four parts: its settings, what is public about the rows, its Release and its ``fitted_``."""
    check_is_fitted(estimator, "release_")
    settings = {k: v for k, v in estimator.get_params(deep=False).items() if k not in _LOCAL}
    facts = {name: getattr(estimator, name) for name in FACTS if hasattr(estimator, name)}
    fitted = {name: getattr(estimator.fitted_, name) for name in _own_fields(type(estimator.fitted_))}
    parts = {"settings": settings, "facts": facts, "fitted": fitted}
    model = {"schema": SCHEMA, "model": type(estimator).__name__, "release": encode(estimator.release_)}
    model |= {part: {k: encode(v) for k, v in content.items()} for part, content in parts.items()}
    return json.dumps(model, indent=1, allow_nan=False)


def _own_fields(fitted: type[Fitted]) -> list[str]:
    """What a model adds: the value and its noise are in the Release."""
    shared = {field.name for field in fields(Fitted)}
    return [field.name for field in fields(fitted) if field.name not in shared]


def restored(text: str, models: Mapping[str, Any]) -> Any:
    """The estimator that :func:`to_json` wrote, one of ``models``."""
    try:
        content = json.loads(text)
        schema, name = content["schema"], content["model"]
    except (TypeError, ValueError, KeyError):
        raise InputError("text is not an eptr model; pass what to_json() returned.") from None
    if str(schema).startswith("eptr-study/"):
        raise InputError("text is the fit of a study; eptr.study.Fit.from_json(text) reads it.")
    if schema not in (SCHEMA, "eptr-model/1"):
        raise InputError(f"the model has schema {schema!r}; this version of eptr reads {SCHEMA!r}.")
    if name not in models:
        raise InputError(f"the model is a {name!r}, which this version of eptr does not know.")
    if schema != SCHEMA:
        content = _from_first_schema(content)
    estimator = models[name](**{k: decode(v) for k, v in content["settings"].items()})
    for key in FACTS:
        if key in content["facts"]:
            setattr(estimator, key, decode(content["facts"][key]))
    found: Release = decode(content["release"])
    # Version 0.1 did not write what a guarantee rests on; a rival still knows it of its form.
    if "basis" not in content["release"]["cost"]:
        found = replace(found, cost=estimator._marked(found.cost))
    own = {k: decode(content["fitted"][k]) for k in _own_fields(estimator._fitted) if k in content["fitted"]}
    estimator.release_ = found
    estimator.fitted_ = estimator._fitted(value=found.value, noise=found.noise_scale, **own)
    return estimator


def _from_first_schema(content: dict[str, Any]) -> dict[str, Any]:
    """Everything fitted was one table of names that end in an underscore, the Release among them."""
    old = content["fitted"]
    release = old["release_"] | {
        "release": old["release_"]["release"] | {"rows_per_person": old.get("rows_per_person_", 1)}
    }
    return content | {"facts": old, "release": release, "fitted": {k.removesuffix("_"): v for k, v in old.items()}}


def encode(value: Any) -> Any:
    """Released and public values as what JSON has, so that :func:`decode` gives them back."""
    if isinstance(value, np.ndarray):
        return {
            "array": [encode(v) for v in value.ravel().tolist()],
            "shape": list(value.shape),
            "dtype": "object" if value.dtype == object else value.dtype.str,
        }
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, Release):
        content = {k: encode(getattr(value, k)) for k in value.__slots__ if k not in ("cost", "record")}
        cost = {k: getattr(value.cost, k) for k in value.cost.__slots__}
        return {"release": content, "cost": cost, "record": asdict(value.record)}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(v)] for key, v in value.items()]}
    if isinstance(value, (tuple, list)):
        return {"tuple" if isinstance(value, tuple) else "list": [encode(v) for v in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(
        f"cannot store a {type(value).__name__} in JSON; use plain numbers, strings, lists, dicts and arrays as settings."
    )


def decode(value: Any) -> Any:
    """The inverse of :func:`encode`."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array([decode(v) for v in value["array"]], dtype=value["dtype"]).reshape(value["shape"])
    if "float" in value:
        return float(value["float"])
    if "release" in value:
        # Version 0.1 kept no record.
        record = Record.from_dict(value["record"]) if "record" in value else Record()
        content = {k: decode(v) for k, v in value["release"].items()}
        cost = {"rows": content.get("rows_per_person", 1)} | value["cost"]
        return Release(**content, cost=Cost(**cost), record=record)
    if "tuple" in value:
        return tuple(decode(v) for v in value["tuple"])
    if "dict" in value:
        return {decode(key): decode(v) for key, v in value["dict"]}
    return [decode(v) for v in value["list"]]
