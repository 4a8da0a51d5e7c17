"""A ledger on SQLite and one on a real PostgreSQL server."""

from __future__ import annotations

import uuid

import pytest

from eptr import Ledger

from . import postgres


@pytest.fixture(scope="session")
def team_server():
    if not postgres.available():
        pytest.skip("PostgreSQL's initdb and pg_ctl are not installed; install the server package of your system")
    with postgres.server() as (url, control):
        yield url, control


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """The URL of a ledger of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/budget.db"
    return request.getfixturevalue("team_server")[0]


@pytest.fixture
def name():
    """A dataset nobody else uses: the PostgreSQL server is shared by all tests of a process."""
    return f"study-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def study(place, name):
    ledger = Ledger(place)
    ledger.create(name, epsilon=3.0, delta=1e-5)
    return ledger.account(name)


@pytest.fixture
def file(tmp_path):
    """A ledger in a file, for what only files can suffer."""
    path = tmp_path / "budget.db"
    Ledger(f"sqlite:///{path}").create("study", epsilon=3.0, delta=1e-5)
    return path
