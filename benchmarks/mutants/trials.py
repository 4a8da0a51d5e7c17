"""Tests in children of one warm process, with marked or weakened modules in memory: what they enter, what they notice."""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import importlib.util
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from .carriers import ROOT, Carrier, first_line
from .operators import Mutant

# Tests that guard the guarantee. Clusters run in other processes, where no mutant is; scikit-learn's checks are not about it.
ROOMS = ("privacy", "accounting", "rows", "estimators", "rivals", "audit", "every")
ELSEWHERE = ("sklearn", "dask", "spark", "everywhere", "engines")
# What tests import beside our own package, which a child imports with its mutant in it.
HEAVY = ("dp_accounting.pld.privacy_loss_distribution", "hypothesis", "mpmath", "opendp.measurements", "pandas")
HEAVY += ("scipy.stats", "sklearn.utils.estimator_checks", "sqlalchemy", "pyarrow.dataset", "array_api_strict")
LIMIT = 60.0  # seconds of tests for one mutant
WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def warm() -> None:
    """Import what is heavy, once for all children."""
    for name in HEAVY:
        importlib.import_module(name)
    assert "eptr" not in sys.modules


def forked(work, *arguments):
    """Start ``work`` in a child; returns its pid and the pipe its pickled answer comes through."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    os.close(reading)
    os.setsid()
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    try:
        answer = work(*arguments)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def pytest_run(files: list[str], plugin: object) -> int:
    os.chdir(ROOT)
    options = ["-q", "-x", "-p", "no:cacheprovider", "-n", "0", "-p", "no:faulthandler", "-o", "addopts="]
    options += ["-m", "not slow", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, *files], plugins=[plugin]))


class Learning:
    """Which functions of the carriers each test enters, and how long it takes."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[float, set[tuple[str, str]]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        _forget_caches()
        ENTERED.clear()
        start = time.perf_counter()
        outcome = yield
        self.seen[item.nodeid] = time.perf_counter() - start, set(ENTERED)
        return outcome


def _forget_caches() -> None:
    """What an earlier test has computed would keep a later one from entering the function."""
    for name, module in list(sys.modules.items()):
        if name.startswith("eptr."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and getattr(value, "__module__", "").startswith("eptr."):
                    value.cache_clear()


ENTERED: set[tuple[str, str]] = set()


def marked(path: Path) -> ast.Module:
    """The file, with every function telling when it is entered."""
    carrier = Carrier(path)
    for node in ast.walk(carrier.tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            place = (str(path), f"{getattr(node, 'name', '<lambda>')}:{first_line(node)}")
            tell = ast.parse(
                f"__import__('sys').modules['benchmarks.mutants.trials'].ENTERED.add({place!r})", mode="eval"
            ).body
            if isinstance(node, ast.Lambda):
                node.body = ast.BoolOp(ast.Or(), [tell, node.body])
            else:
                node.body.insert(ast.get_docstring(node) is not None, ast.Expr(tell))
    return ast.fix_missing_locations(carrier.tree)


def learn(file: str, paths: list[Path]):
    """The exit status of a test file, and what each of its tests enters."""
    sys.meta_path.insert(0, Finder({Carrier(path).module: (path, marked(path)) for path in paths}))
    plugin = Learning()
    return pytest_run([file], plugin), plugin.seen


class OutOfTime(Exception):
    """A test that ends without its mutant does not end with it."""


class Noticing:
    """Runs chosen tests in the given order, each with a limit of time, and remembers the first that fails."""

    def __init__(self, chosen: dict[str, float]) -> None:
        self.chosen, self.by = chosen, ""

    def pytest_collection_modifyitems(self, items):
        order = {name: k for k, name in enumerate(self.chosen)}
        items[:] = sorted((i for i in items if i.nodeid in order), key=lambda i: order[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        def stop(signum, frame):
            raise OutOfTime

        signal.signal(
            signal.SIGPROF, stop
        )  # of the processor's time: a busy machine must not pass for a test that notices
        signal.setitimer(signal.ITIMER_PROF, 5.0 + 5.0 * self.chosen[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.by:
            self.by = report.nodeid

    def pytest_collectreport(self, report):
        if report.failed and not self.by:
            self.by = f"{report.nodeid} (import)"


class Weakened(importlib.machinery.SourceFileLoader):
    """Loads a module from a tree instead of its file."""

    tree: ast.Module

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")


class Finder:
    """Puts trees in the place of files."""

    def __init__(self, trees: dict[str, tuple[Path, ast.Module]]) -> None:
        self.trees = trees

    def find_spec(self, name, path=None, target=None):
        if name not in self.trees:
            return None
        place, tree = self.trees[name]
        loader = Weakened(name, str(place))
        loader.tree = tree
        return importlib.util.spec_from_file_location(name, place, loader=loader)


def trial(mutant: Mutant, plan: list[tuple[str, dict[str, float]]]) -> str:
    """The first test that notices, file by file; "" if none does."""
    # A loop that never ends must not eat the machine.
    resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (int(3 * LIMIT), int(3 * LIMIT)))
    sys.meta_path.insert(0, Finder({Carrier(mutant.path).module: (mutant.path, mutant.tree())}))
    for file, chosen in plan:
        plugin = Noticing(chosen)
        code = pytest_run([file], plugin)
        if code in (1, 2, 3):  # failed, or not even collected; not: no such test
            return plugin.by or f"{file} (error {code})"
    return ""


class Tests:
    """What was learnt about the tests: who enters what, how long it takes, and who noticed what so far."""

    def __init__(self, paths: list[Path]) -> None:
        self.time: dict[str, float] = {}
        self.enter: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.noticed: dict[Path, list[str]] = defaultdict(list)
        files = [str(p.relative_to(ROOT)) for room in ROOMS for p in _test_files(ROOT / "tests" / room)]
        for file, answer in parallel({file: (learn, file, paths) for file in files}, 900.0):
            if not answer or answer[0] not in (0, 5):
                sys.exit(f"{file} fails without any mutant")
            for test, (seconds, entered) in answer[1].items():
                self.time[test] = seconds
                for place in entered:
                    self.enter[place].add(test)
                    self.enter[place[0], ""].add(test)

    def plan(self, mutant: Mutant) -> list[tuple[str, dict[str, float]]]:
        """Tests that enter the function, by file: those that noticed neighbours first, then its own file, then the quickest."""
        before, own = self.noticed[mutant.path][::-1], f"/test_{mutant.path.name}"

        def rank(test: str) -> tuple[int, bool, float]:
            return before.index(test) if test in before else len(before), own not in test, self.time[test]

        files: dict[str, dict[str, float]] = {}
        spent = 0.0
        for test in sorted(self.enter[str(mutant.path), mutant.function], key=rank):
            spent += self.time[test]
            if spent < LIMIT:
                files.setdefault(test.partition("::")[0], {})[test] = self.time[test]
        return list(files.items())


def _test_files(place: Path) -> list[Path]:
    return [p for p in sorted(place.rglob("test_*.py")) if p.stem.removeprefix("test_") not in ELSEWHERE]


def parallel(jobs, limit: float):
    """(name, answer) of each job as it ends, as many at a time as there are cores; None for one that died, "" for one that hangs.

    A job may be given as a function that makes it, so that later ones profit from what earlier ones found.
    """
    waiting, running = dict(jobs), {}
    while waiting or running:
        while waiting and len(running) < WORKERS:
            name = next(iter(waiting))
            job = waiting.pop(name)
            running[name] = *forked(*(job() if callable(job) else job)), time.perf_counter()
        for name, (pid, pipe, start) in list(running.items()):
            over = time.perf_counter() - start > limit
            if not over and not _ready(pipe):
                continue
            answer = "" if over else None
            if over:
                os.killpg(pid, signal.SIGKILL)
            with os.fdopen(pipe, "rb") as stream:
                if not over:
                    with contextlib.suppress(EOFError):  # the child died
                        answer = pickle.load(stream)
            os.waitpid(pid, 0)
            del running[name]
            yield name, answer


def _ready(pipe: int) -> bool:
    return bool(select.select([pipe], [], [], 0.02)[0])
