"""Tests are collected once; a mutant is a fork of that process in which some functions have other code.

What stands outside functions (a share, a margin, a default) has been copied by then: the fork of such a mutant imports the
package and the tests anew.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import resource
import signal
import tempfile
from collections.abc import Callable

import pytest

from .carriers import ROOT, Carrier
from .live import changed, exchange, functions, import_anew
from .operators import Mutant

# Tests that guard the guarantee. Clusters run in other processes, where no mutant is; the rest is about other things.
ROOMS = ("privacy", "accounting", "codebook", "rows", "estimators", "rivals", "stats", "study", "every")
ROOMS += ("test_adapter.py", "test_statement.py", "test_verify.py")
ELSEWHERE = ("dask", "spark", "everywhere", "engines", "sklearn", "inference", "publication")
LIMIT = 8.0  # seconds of tests for one mutant
LATE = " (out of time)"

Plan = list[tuple[str, float]]  # tests and the seconds that they may take


def guards() -> list[str]:
    """The files of tests."""
    places = [ROOT / "tests" / room for room in ROOMS]
    files = [f for p in places for f in ([p] if p.suffix else sorted(p.rglob("test_*.py")))]
    return [str(f.relative_to(ROOT)) for f in files if f.stem.removeprefix("test_") not in ELSEWHERE]


class OutOfTime(pytest.fail.Exception):
    """A test that ends without its mutant does not end with it. An outcome: no code of ours catches it, pytest does."""


class Session:
    """Collected tests, what is done with them, and the first that failed."""

    def __init__(self, work: Callable[[Session], object]) -> None:
        self.work, self.answer, self.by = work, None, ""

    def pytest_runtestloop(self, session):
        self.items = {item.nodeid: item for item in session.items if "postgresql" not in item.nodeid}  # a server each
        functions()  # found once for all children
        gc.freeze()
        self.answer = self.work(self)
        return True

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.by:
            self.by = report.nodeid

    def pytest_collectreport(self, report):
        if report.failed and not self.by:
            self.by = f"{report.nodeid} (import)"

    def run(self, tests: Plan) -> str:
        """The first test that fails or takes more than its seconds; "" if none does.

        Seconds are of the processor's time: a busy machine must not pass for a test that notices.
        """
        signal.signal(signal.SIGPROF, self._stop)
        for name, seconds in tests:
            if name in self.items and not self.by:
                item, self.late = self.items[name], False
                signal.setitimer(signal.ITIMER_PROF, seconds)
                with contextlib.suppress(OutOfTime):  # between two phases of the test, or just after it
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    signal.setitimer(signal.ITIMER_PROF, 0.0)
                self.by = name + LATE if self.late else self.by
        return self.by

    def _stop(self, signum, frame):
        self.late = True
        raise OutOfTime


def with_tests(files: list[str], work: Callable[[Session], object]) -> Session:
    """Collect files of tests and do ``work`` with them."""
    os.chdir(ROOT)
    options = ["-q", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=no"]
    options += ["-o", "addopts=", "--no-summary", "--tb=native", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    session = Session(work)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        code = int(pytest.main([*options, *files], plugins=[session]))
    session.by = session.by or ("" if code in (0, 5) else f"{files[0]} (error {code})")
    return session


def remembered(by: str) -> tuple[str, float]:
    """The test, or the file of tests, that noticed a mutant, and the seconds it may take."""
    return re.sub(r" \((import|error \d+|out of time)\)$", "", by), LIMIT if by.endswith(LATE) else 4.0 * LIMIT


def trial(session: Session, mutant: Mutant, plan: Plan) -> str:
    """The first test of the plan that notices; "" if none does. In a child: the process is the mutant's from now on."""
    # A loop that never ends must not eat the machine.
    resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (int(10 * LIMIT), int(10 * LIMIT)))
    if exchange(mutant.path, changed(mutant.path, mutant.tree())):
        return session.run(plan)
    import_anew(Carrier(mutant.path).module, mutant.path, mutant.tree())
    files = dict.fromkeys(test.partition("::")[0] for test, _ in plan)
    return next(filter(None, (with_tests([file], lambda anew: anew.run(plan)).by for file in files)), "")
