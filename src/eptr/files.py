"""Files in, models out: read a table and its public bounds, scale, fit, and store a model that knows its columns."""

from __future__ import annotations

import csv
import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .estimators.bayes import BayesClassifier
from .estimators.kernel import KernelRegressor
from .estimators.linear import LinearRegression
from .persistence import from_json
from .rows.engine import Engine
from .rows.memory import MemoryRows
from .rows.sources import open_path
from .rows.table import Table, TableRows, cache_blocks

__all__ = ["FileModel", "PublicBounds", "open_data", "read_csv"]

Array = NDArray[np.float64]
Data = dict[str, NDArray[Any]] | Table
SCHEMA = "eptr-file/1"
MODELS = ("ols", "bayes", "kernel")


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


def read_csv(path: Path) -> dict[str, NDArray[Any]]:
    """Columns of a CSV file by name, as text. Messages name columns, never values."""
    if path.suffix not in (".csv", ".txt"):
        raise InputError(f"{path.name} must end in .csv or .parquet.")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = next(lines, [])
            rows = list(lines)
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path.name} is not a CSV file in UTF-8.") from None
    if not header or not rows:
        raise InputError(f"{path.name} is empty; it must have a line of column names and at least one row.")
    if len(set(header)) != len(header):
        raise InputError(f"{path.name} has two columns of the same name.")
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path.name} has rows with more or fewer than {len(header)} values.")
    return {name: np.array(column, dtype=object) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


@dataclass(frozen=True, slots=True)
class PublicBounds:
    """What is known before seeing the data: a range or levels for every column, and for the target."""

    columns: dict[str, Any]  # name -> (min, max) or a list of levels
    target: Any  # (min, max), a list of levels, or None
    x_bound: float | None
    ignore: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> PublicBounds:
        """From a TOML file: [columns.NAME] min, max (or levels); [target] min, max or levels; x_bound."""
        if not path.exists():
            raise InputError(f"{path} does not exist; write the public bounds there: [columns.NAME] min = 0, max = 1.")
        try:
            content = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path.name} is not TOML: {error}.") from None
        unknown = set(content) - {"columns", "target", "x_bound", "ignore"}
        if unknown:
            raise InputError(
                f"{path.name} has unknown entries {sorted(unknown)}; known are columns, target, x_bound and ignore."
            )
        ignore = content.get("ignore", [])
        if not isinstance(ignore, list) or not all(isinstance(name, str) for name in ignore):
            raise InputError(f'ignore in {path.name} must be a list of column names, such as ignore = ["id"].')
        columns = content.get("columns")
        if not isinstance(columns, dict) or not columns:
            raise InputError(f"{path.name} must have a table [columns.NAME] with min and max for every feature.")
        bounds = {name: _bound(f"[columns.{name}]", value) for name, value in columns.items()}
        target = None if "target" not in content else _bound("[target]", content["target"])
        x_bound = content.get("x_bound")
        if x_bound is not None and not (isinstance(x_bound, (int, float)) and 0 < x_bound < math.inf):
            raise InputError(f"x_bound in {path.name} must be a number above 0.")
        return cls(bounds, target, None if x_bound is None else float(x_bound), tuple(ignore))

    def names(self) -> list[str]:
        """Names of the columns of the scaled matrix: one per number, one per level but the first."""
        return [
            n for name, b in self.columns.items() for n in ([name] if _is_range(b) else [f"{name}={v}" for v in b[1:]])
        ]

    def matrix(self, table: dict[str, NDArray[Any]], where: str, *, drop: bool = False) -> Array:
        """Ranges mapped to [-1, 1] (values beyond are left to the estimator's own clipping), levels to 0 and 1.

        A missing value or an undeclared level lies outside the domain: an error, or NaN in that row with ``drop``.
        """
        self.find(list(table), where)
        parts = []
        for name, bound in self.columns.items():
            if _is_range(bound):
                low, high = bound
                values = numbers(table[name], name)
                known = np.isfinite(values)
                parts.append((values - 0.5 * (low + high)) / (0.5 * (high - low)))
            else:
                codes = level_codes(table[name], bound)
                known = codes >= 0
                parts += [np.where(known, codes == k, np.nan) for k in range(1, len(bound))]
            if not drop and not known.all():
                what = "missing values" if _is_range(bound) else "a level that is not declared, or missing values"
                raise InputError(
                    f"column {name!r} of {where} has {what}; mend it, or give such rows no weight (--invalid drop)."
                )
        return np.column_stack(parts).astype(float)

    def find(self, names: list[str], where: str) -> None:
        """An error if a column is not among these."""
        missing = [name for name in self.columns if name not in names]
        if missing:
            raise InputError(f"{where} has no column {missing[0]!r}; its columns are {sorted(names)}.")

    def scales(self) -> list[tuple[float, float]]:
        """(middle, half length) of every column of the matrix; (0, 1) for a level."""
        found: list[tuple[float, float]] = []
        for bound in self.columns.values():
            if _is_range(bound):
                found.append((0.5 * (bound[0] + bound[1]), 0.5 * (bound[1] - bound[0])))
            else:
                found += [(0.0, 1.0)] * (len(bound) - 1)
        return found

    def unscaled(self, row: Array) -> Array:
        """A row of the matrix in the units of the data."""
        return np.array([m + h * v for (m, h), v in zip(self.scales(), row, strict=True)])

    def radius(self) -> float:
        """sqrt of the number of columns: nothing inside its range is longer."""
        return self.x_bound or math.sqrt(len(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """For storage with the model."""
        return {
            "columns": {k: list(v) for k, v in self.columns.items()},
            "target": self.target,
            "x_bound": self.x_bound,
            "ignore": list(self.ignore),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> PublicBounds:
        """The inverse of :meth:`to_dict`."""
        columns = {k: _restored(v) for k, v in content["columns"].items()}
        return cls(columns, _restored(content["target"]), content["x_bound"], tuple(content["ignore"]))


def _bound(where: str, value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"levels"}:
        levels = value["levels"]
        if not isinstance(levels, list) or len(levels) < 2 or len({str(v) for v in levels}) != len(levels):
            raise InputError(f"{where} levels must be a list of at least two different values.")
        return [str(v) for v in levels]
    if not isinstance(value, dict) or set(value) != {"min", "max"}:
        raise InputError(f"{where} must have min and max, or levels.")
    low, high = value["min"], value["max"]
    fine = all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in (low, high))
    if not fine or not low < high:
        raise InputError(f"{where} must have finite numbers min < max.")
    return float(low), float(high)


def _restored(value: Any) -> Any:
    return tuple(value) if value is not None and not isinstance(value[0], str) else value


def _is_range(bound: Any) -> bool:
    return isinstance(bound, tuple)


def plain(text: str) -> str:
    """A name as figures can show it: no accidental formulas."""
    return text.replace("$", r"\$")


def level_codes(column: NDArray[Any], levels: Sequence[str]) -> NDArray[np.int64]:
    """Positions in ``levels`` of the values as text; -1 for one that is not among them."""
    position = {level: k for k, level in enumerate(levels)}

    def code(value: Any) -> int:
        found = position.get(str(value), -1)
        if found < 0 and isinstance(value, float) and value.is_integer():  # a whole number beside a missing one
            found = position.get(str(int(value)), -1)
        return found

    return np.array([code(v) for v in column.tolist()], dtype=np.int64)


def numbers(column: NDArray[Any], name: str) -> Array:
    """A column as floats; empty cells are NaN."""
    if column.dtype.kind in "fiub":
        return column.astype(float)
    try:
        return np.array([math.nan if v is None or v == "" else float(v) for v in column], dtype=float)
    except (TypeError, ValueError):
        pass
    raise InputError(f"column {name!r} holds text; declare its levels in the bounds file, or remove it.")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A slope in the units of the data, its 95 % interval (NaN if not known), and half of the column's range.

    An interval wider than anything the target's range allows says nothing: the slope is then not ``determined``.
    """

    name: str
    value: float
    low: float
    high: float
    reach: float
    determined: bool = True


@dataclass(frozen=True, slots=True)
class FileModel:
    """A fitted estimator together with the columns and public scales it was fitted on."""

    kind: str
    target: str
    rows: int
    bounds: PublicBounds
    estimator: Any

    @classmethod
    def fit(cls, data: Data, kind: str, target: str, bounds: PublicBounds, where: str, **settings: Any) -> FileModel:
        """Check names, scale with the public bounds, fit."""
        if kind not in MODELS:
            raise InputError(f"model must be one of {MODELS}, got {kind!r}.")
        names = list(data) if isinstance(data, dict) else data.columns
        if target not in names:
            raise InputError(f"{where} has no column {target!r} to predict; its columns are {sorted(names)}.")
        if target in bounds.columns:
            raise InputError(
                f"the target {target!r} is among the columns of the bounds file; describe it under [target]."
            )
        extra = sorted(set(names) - set(bounds.columns) - {target} - set(bounds.ignore))
        if extra:
            raise InputError(
                f"the bounds file says nothing about column {extra[0]!r}; add [columns.{extra[0]}], or ignore = [{extra[0]!r}]."
            )
        if bounds.target is None:
            what = "levels" if kind == "bayes" else "min and max"
            raise InputError(f"the bounds file has no [target] with {what}: what values can {target!r} take?")
        if (kind == "bayes") == _is_range(bounds.target):
            raise InputError(f"[target] must have {'levels' if kind == 'bayes' else 'min and max'} for model {kind!r}.")
        bounds.find(names, where)
        drop = settings.get("invalid") == "drop"
        layout = ScaledColumns(bounds, target, where, drop)
        estimator = _estimator(kind, bounds, settings)
        if isinstance(data, dict):
            rows: Engine = MemoryRows(*layout.scaled(data), drop_invalid=drop)
            rows.classes = layout.classes
        else:
            rows = TableRows(data, layout, drop_invalid=drop)
        return cls(kind, target, rows.n, bounds, estimator.fit(rows, None))

    def predict(self, data: Data, where: str) -> NDArray[Any]:
        """Predictions in the units of the target; extra columns and the target itself are ignored."""
        if isinstance(data, dict):
            return self._predicted(data, where)
        self.bounds.find(data.columns, where)
        parts, fault = data.reduce(_Predictions(self, where), _in_order, list(self.bounds.columns))
        if fault:
            raise InputError(fault)
        return np.concatenate(parts)

    def _predicted(self, table: dict[str, NDArray[Any]], where: str) -> NDArray[Any]:
        found = self.estimator.predict(self.bounds.matrix(table, where))
        if self.kind == "bayes":
            return np.asarray(found)
        low, high = self.bounds.target
        return np.asarray(0.5 * (low + high) + 0.5 * (high - low) * found)

    def coefficients(self) -> list[Coefficient]:
        """Of a linear fit, in the units of the data; last the value in the middle of all ranges."""
        estimator, (low, high) = self.estimator, self.bounds.target
        half, names, scales = 0.5 * (high - low), self.bounds.names(), self.bounds.scales()
        unknown = np.full((len(names) + 1, 2), math.nan)
        spans = estimator.conf_int() if hasattr(estimator, "covariance_") else unknown
        found = []
        for j, (name, (_, reach)) in enumerate(zip(names, scales, strict=True)):
            unit = half / reach
            value, ends = float(estimator.coef_[j]) * unit, [float(v) * unit for v in spans[j]]
            found.append(Coefficient(name, value, ends[0], ends[1], reach, not spans[j, 1] - spans[j, 0] > 4.0))
        middle = 0.5 * (low + high)
        ends = [middle + half * float(v) for v in spans[-1]]
        known, value = not spans[-1, 1] - spans[-1, 0] > 4.0, middle + half * estimator.intercept_
        return [*found, Coefficient(f"{self.target} at the middle", value, ends[0], ends[1], 0.0, known)]

    def warnings(self) -> list[str]:
        """What a reader of the estimate should know, from public numbers alone."""
        release, found = self.estimator.release_, []
        noisy = getattr(self.estimator, "noisy_directions_", 0)
        if noisy:
            found.append(
                f"{noisy} direction(s) of the design are mostly privacy noise: some slopes cannot be told apart. Tighter "
                "ranges in the bounds file (or x_bound), more rows, a larger epsilon or fewer columns help."
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


@dataclass(frozen=True, slots=True)
class ScaledColumns:
    """The layout of a file: columns scaled with the public bounds, and the target scaled or coded with them, too."""

    bounds: PublicBounds
    target: str
    where: str
    drop: bool

    @property
    def columns(self) -> list[str]:
        return [*self.bounds.columns, self.target]

    @property
    def n_features(self) -> int:
        return len(self.bounds.names())

    @property
    def classes(self) -> NDArray[Any] | None:
        return None if _is_range(self.bounds.target) else np.unique(np.array(self.bounds.target))

    def scaled(self, table: dict[str, NDArray[Any]]) -> tuple[Array, NDArray[Any]]:
        """The matrix and the target of some rows."""
        X = self.bounds.matrix(table, self.where, drop=self.drop)
        if self.classes is not None:
            return X, level_codes(table[self.target], self.classes.tolist())
        low, high = self.bounds.target
        return X, (numbers(table[self.target], self.target) - 0.5 * (low + high)) / (0.5 * (high - low))

    def blocks(self, batch: Any) -> Iterator[tuple[Array, NDArray[Any]]]:
        """As a pass over a table wants them."""
        for part in cache_blocks(batch.num_rows, self.n_features):
            yield self.scaled(_columns(batch.slice(part.start, part.stop - part.start), self.columns))


@dataclass(frozen=True, slots=True)
class _Predictions:
    """Predictions for the record batches of a table, in order, and what was wrong."""

    model: FileModel
    where: str
    travels_whole: ClassVar[bool] = False

    def __call__(self, batches: Iterable[Any]) -> tuple[list[NDArray[Any]], str]:
        names = list(self.model.bounds.columns)
        try:
            return [self.model._predicted(_columns(batch, names), self.where) for batch in batches], ""
        except InputError as error:
            return [], str(error)


def _in_order(one: tuple[list[Any], str], two: tuple[list[Any], str]) -> tuple[list[Any], str]:
    return one[0] + two[0], one[1] or two[1]


def _columns(batch: Any, names: list[str]) -> dict[str, NDArray[Any]]:
    """Columns of a record batch as numpy arrays: numbers with NaN, text with None."""
    import pyarrow as pa

    found = {}
    for name in names:
        column = batch.column(batch.schema.get_field_index(name))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        whole = pa.types.is_integer(column.type) and column.null_count > 0  # else a level 1 would read 1.0
        values = np.array(column.to_pylist(), dtype=object) if whole else column.to_numpy(zero_copy_only=False)
        found[name] = np.asarray(values)
    return found


def _estimator(kind: str, bounds: PublicBounds, settings: dict[str, Any]) -> Any:
    bandwidth = settings.pop("bandwidth", None)
    if kind == "ols":
        return LinearRegression(x_bound=bounds.radius(), y_bound=1.0, **settings)
    if kind == "bayes":
        return BayesClassifier(x_bound=bounds.radius(), classes=list(bounds.target), **settings)
    if any(not _is_range(b) for b in bounds.columns.values()):
        raise InputError("kernel regression needs numbers in every column; leave out columns with levels.")
    # The domain is [-1, 1] on every axis, so a share of the range is twice that long here.
    return KernelRegressor(domain=(-1.0, 1.0), y_bound=1.0, bandwidth=2.0 * (bandwidth or 0.1), **settings)


def write_predictions(path: Path | None, target: str, values: Sequence[Any]) -> str:
    """One column of predictions as CSV text, written to ``path`` if given."""
    text = "\n".join([f"predicted {target}", *(str(v) for v in values)]) + "\n"
    if path is not None:
        path.write_text(text)
    return text
