"""Tables of SQLite and PostgreSQL, named as ledgers are (``sqlite:///people.db#people``): declared types, and rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import EptrError, InputError

__all__ = ["database_columns", "database_types", "is_database", "table_name"]

_FORM = "a table of a database must look like 'sqlite:///people.db#people' or 'postgresql:///?service=study#people'"


def is_database(data: Any) -> bool:
    """Whether ``data`` is the address of a database."""
    return isinstance(data, str) and data.startswith(("sqlite:", "postgresql:", "postgresql+"))


def table_name(url: str) -> str:
    """What stands behind the #, perhaps with a schema: ``clinic.visits``."""
    return url.partition("#")[2]


def database_types(url: str) -> dict[str, str | list[str]]:
    """The declared type of every column in the words of Arrow, "" for none, or the labels that it allows; reads no row."""
    with _connected(url) as (_, declared):
        return {column["name"]: _word(column["type"]) for column in declared}


def database_columns(url: str) -> dict[str, list[Any]]:
    """All rows, column by column, each value by itself: as the database holds it, or as text."""
    with _connected(url) as (connection, declared):
        quoted, words = connection.dialect.identifier_preparer.quote, [_word(column["type"]) for column in declared]
        plain = connection.dialect.name == "sqlite"  # has values of any type in any column
        asked = [
            name if plain or word in ("bool", "int", "double") else f"CAST({name} AS text)"
            for name, word in zip((quoted(column["name"]) for column in declared), words, strict=True)
        ]
        where = ".".join(quoted(part) for part in table_name(url).split("."))
        rows = connection.exec_driver_sql(f"SELECT {', '.join(asked)} FROM {where}").fetchall()
        return {column["name"]: [row[j] for row in rows] for j, column in enumerate(declared)}


@contextmanager
def _connected(url: str) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """A connection that cannot write, and what the schema says about the columns of the table."""
    try:
        from sqlalchemy import create_engine, inspect
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
        from sqlalchemy.pool import NullPool
    except ModuleNotFoundError:
        raise InputError("databases need SQLAlchemy; install it with: pip install 'eptr[ledger]'.") from None
    schema, _, name = table_name(url).rpartition(".")
    try:
        address = make_url(url.partition("#")[0])
        sqlite = address.get_backend_name() == "sqlite"
        if not name or (sqlite and not address.database):
            raise InputError(f"{_FORM}: what follows # is the table.")
        if sqlite:
            path = quote(str(Path(address.database).absolute()))
            address = address.set(database=f"file:{path}", query={"mode": "ro", "uri": "true"})
        else:
            address = address.set(drivername="postgresql+psycopg")
        with create_engine(address, poolclass=NullPool).connect() as connection:
            if sqlite:  # text that is none is read as well as it can be: an error would be about a value
                connection.connection.driver_connection.text_factory = lambda text: text.decode(errors="replace")
            found = inspect(connection)
            if not found.has_table(name, schema=schema or None):
                raise InputError(f"the database has no table {table_name(url)!r}; {_FORM}.")
            if not sqlite:
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            yield connection, found.get_columns(name, schema=schema or None)
    except EptrError:
        raise
    except ModuleNotFoundError:
        raise InputError("PostgreSQL needs psycopg; install it with: pip install 'eptr[postgres]'.") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        kind = f"{_FORM}."
    except (SQLAlchemyError, OSError):
        kind = "the database could not be read: is its file or server there, and may you read the table?"
    else:
        return
    # Raised outside the handlers, so that the original text, which may quote a row, is not even in the context.
    raise InputError(kind)


def _word(kind: Any) -> str | list[str]:
    from sqlalchemy import types

    if isinstance(kind, types.Enum) and kind.enums:
        return list(kind.enums)
    words = {
        types.Boolean: "bool", types.Date: "date", types.DateTime: "timestamp", types.Integer: "int",
        types.Numeric: "double", types.Float: "double", types.String: "string", types.NullType: "",
    }  # fmt: skip
    return next((word for of, word in words.items() if isinstance(kind, of)), "other")
