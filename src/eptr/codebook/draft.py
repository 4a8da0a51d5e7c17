"""Drafts of codebooks: names, and types where a schema declares them; no value is looked at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..rows.arrow import declared_types
from ..rows.database import database_types, is_database
from ..rows.text_file import csv_names, is_csv
from .kinds import ASK_DAYS, ASK_LEVELS, ASK_RANGE, Blank, Category, Flag, Kind, Text

__all__ = ["drafted"]


def drafted(table: Any, header: bool) -> dict[str, Kind]:
    """Every column with what is known of it."""
    if is_database(table):
        return {name: _of_type(kind) for name, kind in database_types(table).items()}
    if isinstance(table, (str, os.PathLike)) and not os.path.isdir(table) and ".parquet" not in Path(table).suffixes:
        if not is_csv(Path(table)):
            raise InputError(
                f"{Path(table).name} must end in .csv, .csv.gz or .parquet; a table of a database is "
                "'sqlite:///people.db#people', 'postgresql:///?service=study#people' or a query, duckdb.sql('from people')."
            )
        if not header:
            raise InputError(
                f"say header=True (--header) if the first line of {Path(table).name} holds names of columns; if it holds "
                "values, a draft would publish them."
            )
        names = csv_names(Path(table))
        if len(names) == 1 and {";", "\t"} & set(names[0]):
            raise InputError(f"the columns of {Path(table).name} must be separated by commas: write it again as such.")
        return {name: Blank() for name in names if name}  # an index that pandas wrote has no name
    root = type(table).__module__.partition(".")[0]
    if isinstance(table, Mapping) or root in ("pandas", "polars", "dask", "dask_expr"):  # types come from the values
        return {str(name): Blank() for name in (table if isinstance(table, Mapping) else table.columns)}
    if root == "pyspark":
        return {f.name: _of_type(f.dataType.simpleString()) for f in table.schema.fields}
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "__arrow_c_stream__") or root == "pyarrow":
        return {name: _of_type(kind) for name, kind in declared_types(table).items()}
    raise InputError("table must have named columns: a data frame, a file, a query, or what Arrow, Dask or Spark have.")


def _of_type(name: str | list[str]) -> Kind:
    """What a declared type says about a column, in the words of Arrow and Spark; a list holds the labels it allows."""
    if not name:
        return Blank()
    if isinstance(name, list):
        return Category(name)
    if name.startswith("bool"):
        return Flag()
    if name.startswith(("string", "large_string", "dictionary", "varchar")):
        return Blank(ASK_LEVELS)
    if name.startswith(("date", "timestamp")):
        return Blank(ASK_DAYS)
    if name.startswith(("int", "uint", "bigint", "smallint", "tinyint", "float", "double", "decimal", "halffloat")):
        return Blank(ASK_RANGE)
    return Text()
