"""Neighbours of mixed types: one row's label or cell becomes something else, in every container that can hold it.

What a row becomes must be a function of that row and of public settings alone. An array of one type for all rows breaks
this: one text among numbers makes all of them text. The fit on the neighbour is replayed: it must ask for the same draws,
say the same, and spend no more than it claims. Columns of which numpy or pandas made text or complex numbers before a fit
sees them are not attacked: what was lost there, nobody can read back.
"""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import clone

from ..privacy.claim import Cost
from .replay import Diverged, Replay

__all__ = ["TypeSearch", "containers", "hostile_values", "search_types"]

Rows = tuple[list[list[Any]], list[Any]]  # cells and targets, as plain Python has them
Container = Callable[[list[list[Any]], list[Any]], tuple[Any, Any]]
_ROUNDING = 1e-9


def hostile_values() -> dict[str, Any]:
    """What a row may hold although nobody expects it, by a short name."""
    values: dict[str, Any] = {
        "None": None, "NaN": math.nan, "inf": math.inf, "empty text": "", "n/a": "n/a", "'7'": "7", "'?'": "?",
        "bytes": b"?", "complex": 1j, "list": [1.0], "dict": {"a": 1}, "10**400": 10**400, "-0.0": -0.0,
        "5e-324": 5e-324, "1e308": 1e308, "longdouble": np.longdouble("1e4000"), "True": True, "7": 7,
        "datetime": datetime.datetime(2020, 1, 1), "array": np.array([1.0, 2.0]),
    }  # fmt: skip
    if find_spec("pandas"):
        import pandas as pd

        values |= {"pd.NA": pd.NA, "NaT": pd.NaT}
    return values


def containers() -> dict[str, Container]:
    """Ways to hand rows to ``fit``, of those libraries that are installed; each makes (X, y)."""
    found: dict[str, Container] = {
        "list": lambda X, y: (X, y),
        "tuple": lambda X, y: (tuple(map(tuple, X)), tuple(y)),
        "object array": lambda X, y: (_objects(X), _objects([[v] for v in y])[:, 0]),
        "float array": lambda X, y: (np.array(X, dtype=float), np.array(y, dtype=float)),
    }
    if find_spec("pandas"):
        found |= _pandas()
    if find_spec("polars") and find_spec("pyarrow"):
        found["polars"] = _polars
    if find_spec("pyarrow"):
        found["arrow"] = _arrow
    return found


def _objects(table: list[list[Any]]) -> Any:
    array = np.empty((len(table), len(table[0])), dtype=object)
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            array[i, j] = value  # one by one: numpy would look inside lists
    return array


def _names(X: list[list[Any]]) -> list[str]:
    return [f"x{j}" for j in range(len(X[0]))]


def _columns(X: list[list[Any]], y: list[Any]) -> dict[str, list[Any]]:
    return dict(zip(_names(X), map(list, zip(*X, strict=True)), strict=True)) | {"y": y}


def _kind(y: list[Any]) -> str:
    """Of the clean targets, which are public: the last row is never replaced."""
    return {str: "text", int: "whole", float: "real"}[type(y[-1])]


def _pandas() -> dict[str, Container]:
    import pandas as pd

    def frame(X: list[list[Any]], dtype: Any) -> Any:
        return pd.DataFrame({name: pd.Series(c, dtype=dtype) for name, c in _columns(X, []).items() if name != "y"})

    def nullable(X: list[list[Any]], y: list[Any]) -> tuple[Any, Any]:
        kind = {"text": "string", "whole": "Int64", "real": "Float64"}[_kind(y)]
        return frame(X, "Float64"), pd.Series(y, dtype=kind)

    def inferred(X: list[list[Any]], y: list[Any]) -> tuple[Any, Any]:
        table, column = frame(X, None), pd.Series(y)
        if "c" in {getattr(dtype, "kind", "O") for dtype in [*table.dtypes, column.dtype]}:
            raise TypeError("pandas made every row complex")
        return table, column

    def named(X: list[list[Any]], y: list[Any]) -> tuple[Any, Any]:
        return pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in _columns(X, y).items()}), "y"

    return {
        "pandas object": lambda X, y: (frame(X, object), pd.Series(y, dtype=object)),
        "pandas": inferred,
        "pandas nullable": nullable,
        "pandas categorical": lambda X, y: (inferred(X, y)[0], inferred(X, y)[1].astype("category")),
        "pandas, y by name": named,
    }


def _polars(X: list[list[Any]], y: list[Any]) -> tuple[Any, Any]:
    import polars as pl

    kind = {"text": pl.String, "whole": pl.Int64, "real": pl.Float64}[_kind(y)]
    schema = dict.fromkeys(_names(X), pl.Float64) | {"y": kind}
    return pl.DataFrame(_columns(X, y), schema=schema, strict=False), "y"


def _arrow(X: list[list[Any]], y: list[Any]) -> tuple[Any, Any]:
    import pyarrow as pa

    kinds = {"text": pa.string(), "whole": pa.int64(), "real": pa.float64()}
    columns = {k: pa.array(v, type=kinds[_kind(y)] if k == "y" else pa.float64()) for k, v in _columns(X, y).items()}
    return pa.table(columns), "y"


@dataclass(frozen=True, slots=True)
class TypeSearch:
    """How many pairs were tried, how close the worst came to its claim, and the first fault of each container."""

    pairs: int
    closest: float
    faults: dict[str, str]

    @property
    def convicts(self) -> bool:
        return bool(self.faults)


def search_types(estimator: Any, rows: Rows, place: str, chosen: dict[str, Container] | None = None) -> TypeSearch:
    """Replace one value of the first row by everything hostile, in every container, and replay the fit.

    Parameters
    ----------
    estimator : an estimator with ``random_state`` and a ``release_`` whose cost says what it claims
    rows : (list of lists, list)
        A clean dataset.
    place : "target" or "cell"
        What is replaced.
    """
    faults: dict[str, str] = {}
    pairs, closest = 0, 0.0
    for name, container in (containers() if chosen is None else chosen).items():
        replay = Replay()
        model = clone(estimator).set_params(random_state=replay)
        data = _built(container, rows)
        if data is None:
            continue
        clean = _heard(model, data)
        for what, other in _neighbours(rows, place):
            data = _built(container, other)
            if data is None:
                continue  # this container cannot hold it: whoever fills it is told so, not the public
            pairs += 1
            replay.rewind()
            said = _heard(model, data)
            fault = _difference(clean, said)
            if fault is None and clean[0] is not None:
                share, fault = _spent(replay, model.release_.cost)
                closest = max(closest, share)
            if fault is not None:
                faults.setdefault(name, f"{what} in {name}: {fault}")
    return TypeSearch(pairs, closest, faults)


def _neighbours(rows: Rows, place: str) -> Iterator[tuple[str, Rows]]:
    for what, value in hostile_values().items():
        X, y = [list(row) for row in rows[0]], list(rows[1])
        if place == "target":
            y[0] = value
        else:
            X[0][0] = value
        yield what, (X, y)


def _built(container: Container, rows: Rows) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the container's library, about its own business
        try:
            return container(*rows)
        except Exception:
            return None


# The cost of a fit, or None if it raised; what it raised; its warnings.
Heard = tuple[Cost | None, str, tuple[tuple[str, str], ...]]


def _heard(model: Any, data: Any) -> Heard:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(*data)
            cost, error = model.release_.cost, ""
        except Diverged as difference:
            cost, error = None, f"other draws ({difference})"
        except Exception as raised:
            cost, error = None, f"{type(raised).__name__}: {raised}"
    return cost, error, tuple((w.category.__name__, str(w.message)) for w in caught)


def _difference(clean: Heard, other: Heard) -> str | None:
    if clean[1] != other[1]:
        return other[1] or "accepted, but the clean rows are refused"
    if clean[2] != other[2]:
        new = [text for text in other[2] if text not in clean[2]]
        return f"a warning: {new[0][1]}" if new else "a warning that is missing"
    return "another cost" if clean[0] != other[0] else None


def _spent(replay: Replay, cost: Cost) -> tuple[float, str | None]:
    """The largest share of its claim that the fit spent on the pair, and what is wrong if it is above 1."""
    try:
        replay.finish()
    except Diverged as difference:
        return math.inf, f"other draws ({difference})"
    shares = {"mu": math.sqrt(replay.gaussian_loss) / (cost.mu * math.sqrt(cost.parts)) if cost.mu > 0.0 else 0.0}
    shares["epsilon"] = replay.laplace_loss / cost.epsilon
    shares["coin"] = 0.0 if replay.coins_within(cost.epsilon, cost.delta) else math.inf
    worst = max(shares, key=lambda k: shares[k])
    fault = f"{worst} is {shares[worst]:.3g} times the claim" if shares[worst] > 1.0 + _ROUNDING else None
    return shares[worst], fault
