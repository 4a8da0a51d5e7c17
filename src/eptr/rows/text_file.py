"""CSV files, gzipped or not, as columns of text by name. Messages name columns, never values."""

from __future__ import annotations

import csv
import gzip
import sys
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["csv_names", "is_csv", "read_csv"]


def is_csv(path: Path) -> bool:
    """By its name alone."""
    return path.name.lower().removesuffix(".gz").endswith((".csv", ".txt"))


def read_csv(path: Path) -> dict[str, NDArray[Any]]:
    """Columns of a CSV file by name, as text."""
    header, *rows = _lines(path) or [[]]
    # An empty line is no row, unless rows have but one cell, which is empty then.
    rows = [row for row in rows if row] if len(header) > 1 else [row or [""] for row in rows]
    if not header or not rows:
        raise InputError(f"{path.name} is empty; it must have a line of column names and at least one row.")
    if len(set(header)) != len(header):
        raise InputError(f"{path.name} has two columns of the same name.")
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path.name} has rows with more or fewer than {len(header)} values.")
    return {name: np.array(column, dtype=object) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


def csv_names(path: Path) -> list[str]:
    """The first line, which somebody has said holds names."""
    (header,) = _lines(path, 1) or [[]]
    if not header or len(set(header)) != len(header):
        raise InputError(f"{path.name} must have a first line of different column names.")
    return header


def _lines(path: Path, most: int | None = None) -> list[list[str]]:
    if not is_csv(path):
        raise InputError(f"{path.name} must end in .csv or .parquet; .csv.gz is read, too.")
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    try:
        # A byte that is no UTF-8 spoils its own cell alone, and so does a cell of any length.
        csv.field_size_limit(sys.maxsize)
        with (gzip.open if path.suffix.lower() == ".gz" else open)(
            path, "rt", newline="", encoding="utf-8-sig", errors="surrogateescape"
        ) as file:
            return list(islice(csv.reader(file, strict=True, skipinitialspace=True), most))
    except csv.Error:
        fault = f"{path.name} is not a CSV file: a quotation mark is not closed, or stands where none may."
    except (EOFError, gzip.BadGzipFile, zlib.error):
        fault = f"{path.name} is not a complete gzip file."
    raise InputError(fault)  # outside the handler, whose context holds what was read
