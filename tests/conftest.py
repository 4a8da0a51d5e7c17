"""Under EPTR_STRICT=1 a skipped test is a failed test: continuous integration must run everything."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("eptr", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("eptr")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if os.environ.get("EPTR_STRICT") == "1" and report.skipped and not hasattr(report, "wasxfail"):
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
