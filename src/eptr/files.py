"""Files in, models out: open a table, read it with its public bounds, fit, and store a model that knows its columns."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounds import FileColumns, PublicBounds, is_range, plain_columns, stretched
from .catalogue import from_json
from .errors import DomainError, InputError, no_column
from .estimators.catalogue import Entrant, commanded
from .rows.answers import gathered
from .rows.engine import Engine, Partial, Pass
from .rows.memory import MemoryRows
from .rows.sources import open_path
from .rows.table import Table, TableRows
from .rows.task import target_kind
from .rows.text_file import read_csv

__all__ = ["FileModel", "open_data", "read_csv"]
Data = dict[str, NDArray[Any]] | Table
SCHEMA = "eptr-file/1"
MANY_OUTSIDE = 0.05  # rows beyond the ranges that a reader should hear of


@contextmanager
def open_data(path: Path, engine: str = "local", scheduler: str | None = None) -> Iterator[Data]:
    """A CSV file as columns in memory; a Parquet file or folder as a table that is read in pieces, perhaps by a cluster."""
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.suffix == ".parquet" or path.is_dir():
        with open_path(path, engine, scheduler) as table:
            if table.count() == 0:
                raise InputError(f"{path.name} has no rows.")
            yield table
        return
    if engine != "local":
        raise InputError(f"a cluster reads Parquet; {path.name} is read on this machine: leave --engine out.")
    yield read_csv(path)


def plain(text: str) -> str:
    """A name as figures can show it: no accidental formulas."""
    return text.replace("$", r"\$")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient in the units of the data, its 95 % interval (NaN if not known), and how far the figure moves its column.

    It is not ``determined`` if the rows are too few to say.
    """

    name: str
    value: float
    low: float
    high: float
    reach: float
    determined: bool = True


@dataclass(frozen=True)
class FileModel:
    """A fitted estimator together with the columns and public bounds it was fitted on."""

    kind: str
    target: str
    rows: int
    bounds: PublicBounds
    estimator: Any

    @classmethod
    def fit(cls, data: Data, kind: str, target: str, bounds: PublicBounds, where: str, **settings: Any) -> FileModel:
        """Check names, read with the public bounds, fit."""
        entrants = commanded(kind)
        entrant = next((e for e in entrants if e.variant == settings.get("strategy")), entrants[0])
        labelled = entrant.task == "classification"
        names = list(data) if isinstance(data, dict) else data.columns
        if target not in names:
            raise InputError(no_column(f"the target {target!r}", len(names), where))
        if target in bounds.columns:
            raise InputError(
                f"the target {target!r} is among the columns of the bounds file; describe it under [target]."
            )
        known = {*bounds.columns, *bounds.ignore, target}
        extra = [name for name in names if name not in known]
        if extra:
            # A header that has every name of the bounds file is none of somebody's values.
            first = repr(extra[0]) if set(bounds.columns) <= set(names) else f"column {names.index(extra[0]) + 1}"
            raise InputError(
                f"the bounds file says nothing about {len(extra)} of the {len(names)} columns of {where}, the first of them "
                f"{first}; describe it under [columns.NAME], or name it in ignore = [...]."
            )
        what = "levels" if labelled else "min and max"
        if bounds.target is None:
            raise InputError(f"the bounds file has no [target] with {what}: what values can {target!r} take?")
        if labelled == is_range(bounds.target):
            raise InputError(f"[target] must have {what} for model {kind!r}.")
        bounds.find(names, where)
        drop = settings.get("invalid") == "drop"
        layout = FileColumns(bounds, target, where, drop, raw=entrant.takes_ranges)
        estimator = _estimator(entrant, bounds, settings)
        in_memory = isinstance(data, dict)
        rows: Engine = _CsvRows(data, layout, drop) if in_memory else TableRows(data, layout, drop_invalid=drop)  # type: ignore[arg-type]
        rows.names = bounds.names() if layout.raw else None
        return cls(kind, target, rows.n, bounds, estimator.fit(rows, None))

    @property
    def entrant(self) -> Entrant:
        """What the catalogue says of its kind."""
        return commanded(self.kind)[0]

    @property
    def raw(self) -> bool:
        """Whether it was fitted on columns as they are, with their ranges."""
        return getattr(self.estimator, "x_range", None) is not None

    @cached_property
    def summary(self) -> Any:
        """The estimator's own table of coefficients, where it has one in the units of the data."""
        if not self.raw or self.entrant.panel not in ("coefficients", "effects"):
            return None
        found = self.estimator.summary()
        return replace(found, outcome=self.target) if hasattr(found, "outcome") else found

    def predict(self, data: Data, where: str) -> NDArray[Any]:
        """Predictions in the units of the target; extra columns and the target itself are ignored."""
        if isinstance(data, dict):
            return self._predicted(data, where)
        self.bounds.find(data.columns, where)
        names = list(self.bounds.columns)
        return gathered(data, lambda batch: [self._predicted(plain_columns(batch, names), where)], names)

    def _predicted(self, table: dict[str, NDArray[Any]], where: str) -> NDArray[Any]:
        X = self.bounds.matrix(table, where, raw=self.raw)
        if self.raw:
            return np.asarray(self.estimator._predict(X))
        found = self.estimator.predict(X)
        if self.entrant.task == "classification":
            return np.asarray(found)
        return np.asarray(stretched(found, *self.bounds.target))

    def coefficients(self) -> list[Coefficient]:
        """Slopes in the units of the data, or changes of log odds; the intercept last."""
        scales = self.bounds.scales()
        reaches = [*self.bounds.reaches(), 0.0]
        table = self.summary
        if table is not None:
            reaches *= len(table.names) // len(reaches)  # a set of coefficients for every class but the first
            return [
                Coefficient(name, float(value), float(low), float(high), reach, not unknown)
                for name, value, (low, high), reach, unknown in zip(
                    table.names, table.estimates, table.intervals, reaches, table.undetermined, strict=True
                )
            ]
        low, high = self.bounds.target
        half = 0.5 * (high - low)
        slopes = [half / across * float(v) for v, (_, across) in zip(self.estimator.coef_, scales, strict=True)]
        middles = [middle for middle, _ in scales]
        constant = 0.5 * (low + high) + half * self.estimator.intercept_ - float(np.dot(slopes, middles))
        found = zip([*self.bounds.names(), "(Intercept)"], [*slopes, constant], reaches, strict=True)
        return [Coefficient(name, value, math.nan, math.nan, reach) for name, value, reach in found]

    def table(self) -> list[list[str]]:
        """The released numbers in the units of the data, a header first; empty for a function."""
        tables = {"coefficients": self._coefficient_table, "means": self._means_table, "function": list}
        tables["effects"] = lambda: self.summary.table()
        return tables[self.entrant.panel]()

    def _coefficient_table(self) -> list[list[str]]:
        what = "log odds" if self.entrant.task == "classification" else "slope"
        rows = [["column", what, "2.5 %", "97.5 %"]]
        for c in self.coefficients():
            ends = [f"{v:.5g}" for v in (c.low, c.high) if not math.isnan(v)] or ["", ""]
            rows.append([c.name, *([f"{c.value:.5g}", *ends] if c.determined else ["too few rows to say", "", ""])])
        return rows

    def _means_table(self) -> list[list[str]]:
        fitted, classes = self.estimator.fitted_, self.estimator.classes_
        return [
            ["class", "share", *self.bounds.names()],
            *(
                [
                    str(label),
                    f"{share:.1%}",
                    *(f"{m:.5g}" for m in (means if self.raw else self.bounds.unscaled(means))),
                ]
                for label, share, means in zip(classes, fitted.priors, fitted.means, strict=True)
            ),
            *([["spread within", "", *(f"{v:.5g}" for v in np.sqrt(np.diag(fitted.covariance)))]] if self.raw else []),
        ]

    def caution(self) -> str:
        """What a reader of intervals must know, where there are some."""
        return "" if self.summary is None else " ".join(self.summary.caution.split())

    def warnings(self) -> list[str]:
        """What a reader of the estimate should know, from released and public numbers alone."""
        release, found = self.estimator.release_, []
        if self.summary is not None and self.summary.corrected is False:
            found.append(self.caution())
        unclear = 2.0 * release.facts().share_noise
        if self.raw and self.estimator.outside_ > max(MANY_OUTSIDE, unclear):
            found.append(
                f"About {self.estimator.outside_:.0%} of the rows reach beyond a range and were moved to its edge."
            )
        if release.delta > 1.0 / self.rows:
            advice = f"Use {0.01 / self.rows:.1g} or less."
            found.append(f"delta = {release.delta:g} is above 1/n: it allows publishing some rows in clear. {advice}")
        if release.epsilon > 10.0:
            found.append(f"epsilon = {release.epsilon:g} guarantees next to nothing; 1 is usual, 10 is large.")
        return found

    def to_json(self) -> str:
        """Everything inside is public."""
        content = {"schema": SCHEMA, "kind": self.kind, "target": self.target, "rows": self.rows}
        content["bounds"] = self.bounds.to_dict()
        return json.dumps(content | {"model": json.loads(self.estimator.to_json())}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> FileModel:
        """The inverse of :meth:`to_json`."""
        try:
            content = json.loads(text)
            parts = content["kind"], content["target"], content["rows"], PublicBounds.from_dict(content["bounds"])
            schema, model = content["schema"], content["model"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("this is not a model that `eptr fit` wrote.") from None
        if schema != SCHEMA:
            raise InputError(f"the model has schema {schema!r}; this version of eptr reads {SCHEMA!r}.")
        return cls(*parts, from_json(json.dumps(model)))


class _CsvRows(Engine):
    """The columns of a CSV file, read in the first pass: what is wrong with them is found there, as everywhere."""

    def __init__(self, data: dict[str, NDArray[Any]], layout: FileColumns, drop_invalid: bool) -> None:
        self.data, self.layout, self.drop_invalid = data, layout, drop_invalid
        self.n, self.n_features = len(data[layout.target]), layout.n_features
        self.classes, self.target = layout.classes, target_kind(layout.target, layout.classes)

    @cached_property
    def _read(self) -> MemoryRows:
        return MemoryRows(*self.layout.read(self.data), drop_invalid=self.drop_invalid)

    def _partials(self, task: Pass) -> Iterable[Partial]:
        try:
            return self._read._partials(task)
        except DomainError as error:
            return [(None, 0, 0.0, str(error))]


def _estimator(entrant: Entrant, bounds: PublicBounds, settings: dict[str, Any]) -> Any:
    """For raw columns with their ranges, or columns and targets on [-1, 1], where a share of a range is twice that long."""
    share, whole = settings.pop("bandwidth", 0.1), entrant.task == "function"
    if entrant.takes_ranges:
        levels = {} if entrant.takes_bounds else {"categories": bounds.indicators()}
        return entrant.ranged(bounds.ranges(), bounds.target, **levels, **settings)
    if whole and any(not is_range(b) for b in bounds.columns.values()):
        raise InputError(f"{entrant.title.lower()} needs numbers in every column; leave out columns with levels.")
    needs = {"bandwidth": 2.0 * share} if "bandwidth" in entrant.needs else {}
    return entrant.example(1.0 if whole else bounds.radius(), 1.0, list(bounds.target), **needs, **settings)


def write_predictions(path: Path | None, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns of predictions as CSV text, written to ``path`` if given."""
    found = io.StringIO()
    csv.writer(found, lineterminator="\n").writerows([heads, *rows])
    text = found.getvalue()
    if path is not None:
        path.write_text(text)
    return text
