"""Which test executes which statement, and so which tests a mutant has to fear, the likeliest first."""

from __future__ import annotations

import ast
import functools
import hashlib
import pickle
import time
import types
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from .carriers import ROOT, Carrier
from .forks import parallel
from .live import Name, changed, exchange, forget_caches, functions
from .operators import Mutant
from .trials import Plan, Session, remembered

MEMORY = ROOT / "build" / "mutants"  # what was learnt of a file of tests, until that file changes
PATIENCE, SLOW = 0.5, 2.0  # seconds: what a test executes it executes at once, and it counts as slow if it goes on
ALIKE = 3  # of a test with many parameters, as many are tried before other tests are

Seen = dict[str, tuple[float, frozenset[tuple[str, str]]]]  # seconds of each test, and the statements it executes


@functools.cache
def marked(path: Path) -> dict[Name, types.CodeType]:
    """The code of a file's functions, every statement of which tells that it is executed."""
    carrier = Carrier(path)

    def telling(statement: ast.stmt) -> ast.stmt:
        call = ast.Call(ast.Name("_executed_", ast.Load()), [ast.Constant(carrier.place(statement))], [])
        return ast.copy_location(ast.Expr(call), statement)

    for node in list(ast.walk(carrier.tree)):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and carrier.function(block[0]):
                start = int(isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None)
                told = [one for statement in block[start:] for one in (telling(statement), statement)]
                setattr(node, name, [*block[:start], *told])
    return changed(path, ast.fix_missing_locations(carrier.tree))


def learn(session: Session, tests: list[str], paths: list[Path]) -> Seen | str:
    """What each test executes, or which of them fails. In a child: its functions are marked from now on."""
    executed: set[tuple[str, str]] = set()
    for path in paths:
        for function in functions()[str(path)]:
            function.__globals__["_executed_"] = lambda text, file=str(path): executed.add((file, text))
        exchange(path, marked(path))
    seen: Seen = {}
    cut = False  # what a test that was cut short has left behind may disturb later ones
    for test in tests:
        forget_caches()
        executed.clear()
        start, fault = time.process_time(), session.run([(test, PATIENCE)])
        seconds = time.process_time() - start
        cut |= session.late
        if fault and not cut:
            return fault
        seen[test] = SLOW if fault else seconds, frozenset(executed)
        session.by = ""
    return seen


def learnt(session: Session, paths: list[Path], until: float) -> Iterator[Seen]:
    """What every file of tests executes: from memory, or tried now."""
    tests: dict[str, list[str]] = defaultdict(list)
    for test in session.items:
        tests[test.partition("::")[0]].append(test)
    place = {
        f: MEMORY / f"{hashlib.sha256(f.encode() + (ROOT / f).read_bytes()).hexdigest()[:16]}.pickle" for f in tests
    }
    MEMORY.mkdir(parents=True, exist_ok=True)
    for path in paths:
        marked(path)  # once for all children
    unknown = ((f, learn, session, tests[f], paths) for f in tests if not place[f].exists())
    for file, answer in parallel(unknown, 3600.0, until):
        if not isinstance(answer, dict):
            pytest.exit(f"{answer or file} fails without any mutant")
        place[file].write_bytes(pickle.dumps(answer))
        print(f"{file}: {sum(seconds for seconds, _ in answer.values()):.0f} s", flush=True)
    for file in tests:
        if not place[file].exists():
            pytest.exit("out of time; what was learnt so far is remembered")
        yield pickle.loads(place[file].read_bytes())


class Guards:
    """Who executes what, how long it takes, and who noticed what so far."""

    def __init__(self, session: Session, paths: list[Path], until: float) -> None:
        self.time: dict[str, float] = {}
        self.enter: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.noticed: dict[Path, Counter[str]] = defaultdict(Counter)
        self.kinds: Counter[str] = Counter()
        for seen in learnt(session, paths, until):
            for test, (seconds, executed) in seen.items():
                self.time[test] = seconds
                for place in {*executed, *((file, "") for file, _ in executed)}:
                    self.enter[place].append(test)

    def plan(self, mutant: Mutant, seconds: float) -> Plan:
        """Tests that execute the statement: those that noticed neighbours or are named as its file, a few of each kind, the rest.

        Among them those first that are quick, and quick for how often they noticed anything.
        """
        before, alike, named = self.noticed[mutant.path], Counter(), f"test_{mutant.path.stem}.py"

        def rank(test: str) -> tuple[int, float]:
            kind = test.partition("[")[0]
            alike[kind] += 1
            often, near = before[test], alike[kind] <= ALIKE and named in kind
            seconds = self.time[test] / (often or 1 + self.kinds[kind])
            return 0 if often or near else 1 + alike[kind] // (ALIKE + 1), seconds

        plan, spent, file = [], 0.0, str(mutant.path)
        # Of a statement that is newer than what was learnt, all tests that execute its file.
        entering = self.enter.get((file, mutant.place)) or self.enter[file, ""]
        for test in sorted(sorted(entering, key=self.time.__getitem__), key=rank):
            if spent + self.time[test] < seconds:
                spent += self.time[test]
                plan.append((test, 5.0 + 5.0 * self.time[test]))
        return plan

    def notice(self, mutant: Mutant, by: str) -> None:
        test = remembered(by)[0]
        self.noticed[mutant.path][test] += 1
        self.kinds[test.partition("[")[0]] += 1
