"""Arrays and frames in memory, read in cache-sized blocks on all cores; arrays of other libraries stay where they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array

from ..errors import DomainError, InputError, no_column
from .engine import Engine, Partial, Pass
from .ingest import frame_columns, matrix, numbers
from .labels import Labels, cell_codes, distinct
from .namespace import like, namespace
from .pool import THREADS, each
from .task import Model, Task

__all__ = ["CACHE_NUMBERS", "MemoryRows", "block_rows", "claims", "column", "open", "predict", "unquoted"]

# Numbers per block: rows are so many that waiting for the interpreter lock, after every short loop over one number a row, takes
# little of the time, and few arrays are alive at once; smaller ones where tables are read; a device runs its own threads.
CACHE_NUMBERS = 40_000
_BLOCK_NUMBERS = 640_000
_DEVICE_NUMBERS = 20_000_000
# What tells scikit-learn's messages, some of which go on to print data, and what to say instead; {} is what it says.
_FIXES = {
    "could not convert": "X and y must hold numbers only; encode text columns with eptr.PublicEncoder.",
    "got 1D array": "X must be a table, got a 1-D array. Reshape your data: X.reshape(-1, 1) for one column.",
    "got scalar array": "X must be a table, got a single number. Reshape your data: X.reshape(1, -1) for one row.",
    "do not have a common DType": "X must hold numbers only; turn dates into numbers first.",
    "inhomogeneous": "X must be a table, with as many numbers in every row.",
    "Sparse data": "X must not be sparse, for zeros are values, too: pass X.toarray().",
    "Found array with dim": "X must be a table of rows and columns. {}",
    "Found array with 0": "X must have at least one row and one column. {}",
    "float() argument": (
        "X must be a table: an array, a list of rows, a data frame, a Parquet path, or what Arrow, Dask or Spark have; of "
        "other things make one first, such as pandas.DataFrame(X)."
    ),
}


def claims(X: Any) -> bool:
    """Whatever no other engine reads is an array, or can be made one."""
    return True


def open(X: Any, y: Any, task: Task) -> MemoryRows:
    """A checked matrix, each cell read by itself, and a column of as many targets."""
    if task.levels is not None:
        return _crossed(X, task)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InputError("X must be a table that is there, got one yet to be computed: pass X.collect().")
    if isinstance(y, str):
        X, y = _split(X, y)
    if task.columns is not None and hasattr(X, "columns"):
        X = X[task.chosen(X.columns)]
    if isinstance(X, np.ndarray) and X.dtype.kind == "c" and not task.drop_invalid:
        raise DomainError("X must be real. Complex data not supported: pass real and imaginary parts as columns.")
    ready = matrix(X)
    x = unquoted(
        check_array,
        X if ready is None else ready,
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        input_name="X",
    )
    names = [] if ready is None else list(getattr(X, "columns", []))
    if len({isinstance(name, str) for name in names}) > 1:
        raise InputError("X must have column names that are strings, all of them or none.")
    classes = None
    if y is not None:
        y = _of_length(y, len(x))
        classes = task.label_set(lambda: distinct(y))
        y = numbers(y) if classes is None else Labels(classes).codes(y)
    rows = MemoryRows(x, y, classes, drop_invalid=task.drop_invalid)
    rows.names = names if names and isinstance(names[0], str) else None
    return rows


def _crossed(X: Any, task: Task) -> MemoryRows:
    """Columns of labels by name, each read by itself, as the cells of their table."""
    names, labels = task.crossed(getattr(X, "columns", X))
    columns = [column.compute() if hasattr(column, "compute") else column for column in (X[name] for name in names)]
    if len({len(column) for column in columns}) > 1 or not len(columns[0]):
        raise InputError("columns must have one value per row, the same number of rows, and at least one.")
    cells = cell_codes([axis.codes(column) for axis, column in zip(labels, columns, strict=True)], labels)
    return MemoryRows(np.zeros((len(cells), 1)), cells, task.label_set(list), drop_invalid=task.drop_invalid)


def predict(X: Any, model: Model) -> Any:
    """Predictions for an array, or a frame with columns to spare (the target, an id), which are left out."""
    names, columns = model.names, getattr(X, "columns", None)
    if names is not None and columns is not None and len(columns) > len(names) and set(names) <= set(columns):
        X = X[names]
    return model.function(np.ascontiguousarray(model.check(X)))


def column(X: Any, name: str) -> Any:
    """A column of a frame."""
    return np.asarray(_split(X, name)[1])


def _split(X: Any, name: str) -> tuple[Any, Any]:
    """The features of a frame, and its target."""
    if not hasattr(X, "columns"):
        raise InputError(f"y={name!r} names a column, so X must be a table with named columns.")
    if len(set(X.columns)) != len(X.columns):
        raise InputError("X must have columns of different names.")
    if name not in list(X.columns):
        raise InputError(no_column(f"y={name!r}", len(X.columns)))
    return X[[c for c in X.columns if c != name]], X[name]


def _of_length(y: Any, n: int) -> Any:
    """A column of ``n`` targets, not yet read."""
    if hasattr(y, "__array__") and not hasattr(y, "__len__"):
        y = np.asarray(y)
    sized = hasattr(y, "__len__") and not isinstance(y, (bytes, dict)) and getattr(y, "shape", None) != ()
    shape: tuple[int, ...] = tuple(getattr(y, "shape", (len(y),))) if sized else ()
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel(), or one column of the frame.",
            DataConversionWarning,
            stacklevel=8,
        )
        y, shape = frame_columns(y)[0] if hasattr(y, "columns") else y[:, 0], shape[:1]
    if shape != (n,):
        raise InputError(f"y (or by) must have one value per row of X, shape ({n},), got shape {shape}.")
    return y


def unquoted(check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """A check of scikit-learn's, without its habit of quoting the offending rows."""
    try:
        return check(*arguments, **options)
    except (TypeError, ValueError) as error:
        text = str(error)
        fix = next((fix.replace("{}", text) for sign, fix in _FIXES.items() if sign in text), None)
        if fix is None:
            raise
    # Raised outside the handler, so that the original text is not even in the context.
    raise InputError(fix)


class MemoryRows(Engine):
    """A matrix and a target vector, read block by block; nothing is copied as a whole.

    Parameters
    ----------
    x : array of shape (n, p), float64 or float32; of numpy or of any library of the array API standard
    y : array of shape (n,), or None
        A numeric target, or class codes with -1 for an undeclared label.
    classes : array, optional
        What the codes stand for.
    drop_invalid : bool
        Rows with non-finite values or code -1 contribute zero instead of raising.
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        classes: NDArray[Any] | None = None,
        *,
        drop_invalid: bool = False,
        block: int | None = None,
    ) -> None:
        self.x, self.classes, self.drop_invalid = x, classes, drop_invalid
        self.n, self.n_features = x.shape
        xp = namespace(x)
        self._local = xp is np
        if y is None:
            # For numpy one zero that is read n times.
            self.target, self.y = "none", np.broadcast_to(0.0, self.n) if self._local else like(np.zeros(self.n), x)
        else:
            whole = np.issubdtype(y.dtype, np.integer) if self._local else xp.isdtype(y.dtype, "integral")
            self.target, self.y = "labels" if whole else "numbers", y
        numbers = _BLOCK_NUMBERS if self._local else _DEVICE_NUMBERS
        self._block = block or _even_block(self.n, block_rows(self.n_features, numbers))

    def _partials(self, task: Pass) -> Iterable[Partial]:
        parts = iter(self._parts())
        if self.n <= self._block or THREADS == 1 or not self._local:
            return [task(map(self._read, parts))]
        # Each worker takes the next part as soon as it can, and adds up its own: nobody waits for another.
        return each(task, [map(self._read, parts) for _ in range(THREADS)])

    def part(self, index: Any) -> tuple[Any, Any, Any]:
        """Some rows, as a row function would see them: for the few statistics that are not sums."""
        found: list[tuple[Any, Any, Any]] = []
        self.check()

        def keep_them(x: Any, y: Any, keep: Any) -> tuple[Any, ...]:
            found.append((x, y, keep))
            return ()

        task = Pass(keep_them, self.drop_invalid, self.target == "labels", validate=False, cut=True)
        task([(self.x[index], self.y[index])])
        return found[0]

    def _parts(self) -> list[Any]:
        """Which rows a block holds, block by block."""
        return [slice(start, start + self._block) for start in range(0, self.n, self._block)]

    def _read(self, part: Any) -> tuple[Any, Any]:
        return self.x[part, ...], self.y[part]


def block_rows(features: int, numbers: int) -> int:
    """Rows of a block of about ``numbers`` numbers."""
    return max(64, numbers // max(1, features))


def _even_block(n: int, most: int) -> int:
    """Blocks of nearly equal size, as many as there are threads or a multiple of it, of 64 rows or a multiple of it."""
    rounds = -(-n // (most * THREADS))
    return n if n <= most else -(-n // (rounds * THREADS * 64)) * 64
