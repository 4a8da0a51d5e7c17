"""Under EPTR_STRICT=1 a skipped test is a failed test, but for want of files that others publish.

What seeds and no replies warn of is beside the point of most tests.
"""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import settings

collect_ignore = ["typed_user.py"]  # for a type checker, with mistakes on purpose
settings.register_profile("eptr", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("eptr")

ELSEWHERE = ("EPTR_DATA_HOME", "EPTR_REGISTRY")  # data and a schema that others publish: named where they are missing


def lacking():
    """What this machine does not have, and what is therefore not tested."""
    from . import test_r as r
    from .accounting import postgres
    from .browser import browser

    needed = {
        "Java (Spark)": shutil.which("java") or os.environ.get("JAVA_HOME"),
        "PostgreSQL (ledgers of a team)": postgres.available(),
        "Chromium (reports, the site)": browser(),
        "R with reticulate": r.available(),
        "EPTR_DATA_HOME (real data)": os.environ.get("EPTR_DATA_HOME"),
    }
    return [what for what, found in needed.items() if not found]


@pytest.fixture(scope="session")
def dask_client():
    from .rows.clusters import dask_cluster

    with dask_cluster() as client:
        yield client


@pytest.fixture(scope="session")
def spark():
    from .rows.clusters import require_java, spark_session

    require_java()
    with spark_session() as session:
        yield session


@pytest.fixture
def opened(monkeypatch):
    """Budgets that are opened during a test."""
    from eptr.privacy.spending import Spending

    opened, start = [], Spending.__init__

    def opening(self, *arguments, **options):
        opened.append(self)
        start(self, *arguments, **options)

    monkeypatch.setattr(Spending, "__init__", opening)
    return opened


def pytest_collection_modifyitems(items):
    """Fits are tested with seeds, on data that may get no reply, and in forms that are not private."""
    for item in items:
        if {"estimators", "rivals", "every"} & {*item.path.parts} and "warn" not in item.name:
            item.add_marker(pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning"))


def pytest_sessionstart(session):
    """One line before the tests: what will be skipped."""
    writer = session.config.pluginmanager.get_plugin("terminalreporter")
    if writer and not hasattr(session.config, "workerinput") and (missing := lacking()):
        writer.write_line(f"skipped for want of: {', '.join(missing)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    strict = os.environ.get("EPTR_STRICT") == "1" and not any(name in str(report.longrepr) for name in ELSEWHERE)
    if strict and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped under EPTR_STRICT=1: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if os.environ.get("EPTR_STRICT") == "1" and report.outcome == "skipped":
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped under EPTR_STRICT=1"
    return report
