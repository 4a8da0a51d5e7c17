"""Where a ledger's entries live: one table of entries in SQLite or PostgreSQL, one writer at a time, on disk when it says so."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import EptrError, InputError, LedgerError
from .chain import Entry

__all__ = ["Session", "Store", "open_store"]

# Seconds a charge waits for others before it gives up; nothing is released then.
_PATIENCE = 60


def open_store(url: str) -> Store:
    """Check a ledger URL without touching the database."""
    try:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError:
        raise LedgerError("a ledger needs SQLAlchemy; install it with: pip install 'eptr[ledger]'.") from None
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InputError(
            "the ledger string must look like 'sqlite:///budget.db#study' or 'postgresql:///?service=study#study'."
        ) from None
    if parsed.password is not None or {"password", "sslpassword"} & set(parsed.query):
        raise InputError(
            "a ledger string must not hold a password: it is stored with the model's settings. Use a service file "
            "('postgresql:///?service=NAME'), a password file or the environment (PGPASSWORD)."
        )
    backend = parsed.get_backend_name()
    if backend == "sqlite" and not (parsed.database and parsed.database != ":memory:"):
        raise InputError("a ledger must survive the process: name a file, such as 'sqlite:///budget.db'.")
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"a ledger lives in sqlite:///FILE or postgresql://..., not in {backend!r}.")
    if backend == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return Store(parsed, backend)


class Store:
    """Opens a connection for every transaction: safe across forks and threads, and nothing goes stale."""

    def __init__(self, url: Any, backend: str) -> None:
        self.url, self.backend = url, backend
        self._engines: dict[bool, Any] = {}

    def prepare(self) -> None:
        """Create the tables if they are missing (and, for SQLite, the file)."""
        with self._connection(create=True) as connection:
            self._begin(connection, write=True)
            for statement in _TABLES:
                connection.exec_driver_sql(statement)
            connection.exec_driver_sql("COMMIT")

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Session]:
        """All or nothing. On leaving without an exception a write is on disk."""
        with self._connection(write=write) as connection:
            self._begin(connection, write=write)
            try:
                yield Session(connection, self.backend)
            except BaseException:
                with suppress(Exception):  # a lost or full database has rolled back already
                    connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    def _begin(self, connection: Any, *, write: bool) -> None:
        if self.backend == "sqlite":
            # IMMEDIATE: a writer waits at the door instead of failing when it comes to write.
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
        else:
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_PATIENCE}s'")

    @contextmanager
    def _connection(self, create: bool = False, write: bool = True) -> Iterator[Any]:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._engine(create).connect() as connection:
                if self.backend == "sqlite":
                    # EXTRA also syncs the folder after the journal is gone: a committed charge survives a power cut.
                    connection.exec_driver_sql("PRAGMA synchronous = EXTRA")
                yield connection
        except EptrError:
            raise
        except ModuleNotFoundError:
            raise LedgerError("PostgreSQL needs psycopg; install it with: pip install 'eptr[postgres]'.") from None
        except (SQLAlchemyError, OSError) as error:
            if self.backend == "sqlite" and not create and not os.path.exists(self.url.database):
                raise LedgerError(
                    f"the ledger file {self.url.database} does not exist; check --ledger sqlite:///FILE, or create it: "
                    "eptr ledger create."
                ) from None
            after = " Nothing was released; at worst a charge was recorded without a release." if write else ""
            raise LedgerError(f"the ledger could not be used: {_reason(error)}.{after}") from None

    def _engine(self, create: bool) -> Any:
        """Engines hold no connection between transactions, so they may be kept, also across a fork."""
        if create not in self._engines:
            self._engines[create] = self._new_engine(create)
        return self._engines[create]

    def _new_engine(self, create: bool) -> Any:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        url, options = self.url, {"connect_timeout": _PATIENCE, "client_encoding": "utf8"}
        if self.backend == "sqlite":
            path = Path(self.url.database).absolute()
            # A mistyped path must not become an empty ledger: only `create` makes a file.
            url = url.set(database=f"file:{quote(str(path))}", query={"mode": "rwc" if create else "rw", "uri": "true"})
            options = {"timeout": _PATIENCE}
        return create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=options)


class Session:
    """The statements a ledger needs, inside one transaction."""

    def __init__(self, connection: Any, backend: str) -> None:
        self.connection, self.backend = connection, backend

    def add_dataset(self, name: str) -> bool:
        """False if it exists."""
        found = self._run("SELECT 1 FROM eptr_dataset WHERE name = :name", name=name).first()
        if found is None:
            self._run("INSERT INTO eptr_dataset (name) VALUES (:name)", name=name)
        return found is None

    def lock(self, name: str) -> None:
        """Wait for other writers of this dataset (SQLite already waited at BEGIN)."""
        if self.backend == "postgresql":
            self._run("SELECT name FROM eptr_dataset WHERE name = :name FOR UPDATE", name=name)

    def datasets(self) -> list[str]:
        return [row.name for row in self._run("SELECT name FROM eptr_dataset ORDER BY name")]

    def append(self, entry: Entry) -> None:
        row = entry.to_dict() | {"content": json.dumps(entry.content), "totals": json.dumps(entry.totals)}
        names = ", ".join(row)
        self._run(f"INSERT INTO eptr_entry ({names}) VALUES ({', '.join(':' + n for n in row)})", **row)

    def entries(self, dataset: str) -> list[Entry]:
        return self._entries("ORDER BY number", dataset)

    def ends(self, dataset: str) -> list[Entry]:
        """The first and the last entry (one and the same if there is only one), or nothing."""
        last = "(SELECT max(number) FROM eptr_entry WHERE dataset = :dataset)"
        return self._entries(f"AND (number = 0 OR number = {last}) ORDER BY number", dataset)

    def count(self, dataset: str, kind: str) -> int:
        """How many entries of a kind there are."""
        found = self._run(
            "SELECT count(*) FROM eptr_entry WHERE dataset = :dataset AND kind = :kind", dataset=dataset, kind=kind
        )
        return int(found.scalar_one())

    def _entries(self, rest: str, dataset: str) -> list[Entry]:
        rows = self._run(
            f"SELECT {', '.join(Entry.__slots__)} FROM eptr_entry WHERE dataset = :dataset {rest}", dataset=dataset
        )
        try:
            return [_entry(row._mapping) for row in rows]
        except (ValueError, TypeError, KeyError):
            raise LedgerError(
                f"the ledger of {dataset!r} holds an entry that cannot be read; it was changed."
            ) from None

    def _run(self, statement: str, **values: Any) -> Any:
        from sqlalchemy import text

        return self.connection.execute(text(statement), values)


_TABLES = (
    "CREATE TABLE IF NOT EXISTS eptr_dataset (name TEXT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS eptr_entry (dataset TEXT NOT NULL REFERENCES eptr_dataset (name), number INTEGER NOT NULL, "
    "time TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, "
    "totals TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (dataset, number))",
)


def _entry(row: Any) -> Entry:
    return Entry(
        **{k: row[k] for k in ("dataset", "number", "who", "what", "kind", "previous", "hash")},
        time=datetime.fromisoformat(row["time"]),
        content=json.loads(row["content"]),
        totals=json.loads(row["totals"]),
    )


def _reason(error: Exception) -> str:
    """The database's own words, without the statement and its parameters."""
    text = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    if "unable to open database file" in text:
        return "its file or folder cannot be opened; check --ledger sqlite:///FILE"
    return text.rstrip(".")
