"""make mutants: weaken every line that carries the guarantee, one at a time, and see whether a test notices.

A constant times .98, a factor dropped, a comparison flipped, a mask, clip, check or charge removed, a branch or a rung
taken for another. Mutants come from the syntax tree of whatever file carries the guarantee today, so a new estimator
brings its own. Which tests enter which function is learnt from one run of the tests; a mutant runs those, those that
noticed its neighbours first and then the quickest, and stops at the first failure. Survivors are printed; those that
nobody could notice are listed in `equivalents.toml`, each with the reason.

Why no tool from the shelf: mutmut 3 leaves out what stands outside functions, which is where shares and margins are, and
takes no operators of ours; cosmic-ray does, but writes every mutant to disk and starts Python, scikit-learn and OpenDP
anew for it. Here a warm process is forked, and the mutant exists in the child's memory alone.

Margins for rounding (1e-12, 2^-52, one step to the next float) are proven, not measured, and left alone here.
"""

from __future__ import annotations

import argparse
import ast
import copy
import csv
import functools
import importlib.machinery
import importlib.util
import os
import pickle
import resource
import signal
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "eptr"
RESULTS = ROOT / "results" / "mutants.csv"
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
# Tests that guard the guarantee. Clusters run in other processes, where no mutant is; scikit-learn's checks are not about it.
ROOMS = (
    "privacy",
    "accounting",
    "test_parts.py",
    "test_budget_of_fits.py",
    "test_adapter.py",
    "rows",
    "estimators",
    "rivals",
    "audit",
)
ELSEWHERE = (
    "test_sklearn",
    "test_dask",
    "test_spark",
    "test_everywhere",
    "test_engines",
    "test_self_audit",
    "test_audit",
)
LIMIT = 60.0  # seconds of tests for one mutant


# Where the guarantee is carried.

WHOLE = ("privacy", "accounting", "rows")  # rooms whose proven files are carriers from the first line to the last
VERBS = {"charge", "check", "_unit", "_open"}  # whoever defines one of these stands between rows and noise
SPENDS = {"noisy", "sums", "draw", "laplace", "laplace_blocks", "test", "test_at_rung", "within", "share", "scale"}
EXACT = {"sum_grid", "product_grid", "toward_zero", "shrink_factors", "project", "Cost", "replace"}
SILENT = {"__repr__", "__str__", "to_json", "to_dict", "__hash__", "planned_noise"}  # what only tells or plans


@functools.cache
def contributions() -> set[str]:
    """Names of the sets that a row function may stay inside."""
    tree = ast.parse((SOURCE / "privacy" / "contribution.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def carriers() -> list[Path]:
    """Files that have their proof beside them, the room of the mathematics, and whoever checks, charges or opens a budget."""
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.with_suffix(".md").exists() or _stands_between(path)]


def _stands_between(path: Path) -> bool:
    defined = {n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)}
    return path.parent.name == "privacy" or bool(defined & VERBS)


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


class Carrier:
    """One file: its tree, and which statements carry the guarantee."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, path.read_text()
        self.lines, self.tree = self.text.splitlines(), ast.parse(self.text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.whole = path.relative_to(SOURCE).parts[0] in WHOLE or not path.with_suffix(".md").exists()

    @property
    def module(self) -> str:
        return ".".join(("eptr", *self.path.relative_to(SOURCE).with_suffix("").parts))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node, what holds it, what holds that."""
        while node is not None:
            yield node
            node = self.parents.get(node)

    def function(self, node: ast.AST) -> str:
        """Where the code of a node is: the innermost function, by name and line; "" outside of all."""
        chain = list(self.above(node))
        for inner, outer in zip(chain, chain[1:], strict=False):
            if isinstance(outer, (ast.FunctionDef, ast.Lambda)) and inner is not outer.args:
                return f"{getattr(outer, 'name', '<lambda>')}:{_first_line(outer)}"
        return ""

    def carries(self, node: ast.AST) -> bool:
        """Whether a weakened node weakens the guarantee, as far as the text can tell."""
        chain = list(self.above(node))
        for inner, outer in zip(chain, chain[1:], strict=False):
            if isinstance(inner, (ast.Raise, ast.JoinedStr, ast.Assert)) or getattr(outer, "annotation", None) is inner:
                return False
            if isinstance(outer, (ast.FunctionDef)) and (inner is outer.returns or outer.name in SILENT):
                return False
            if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Pow) and isinstance(inner, ast.Constant):
                return False  # 2.0**-52, x**2: units and degrees
            if isinstance(outer, ast.ClassDef) and any(_called(base) == "Protocol" for base in outer.bases):
                return False
        return self.whole or any(self._speaks_of_it(above) for above in chain)

    def _speaks_of_it(self, node: ast.AST) -> bool:
        """A row function, one that names its proof, or a statement that names a contribution, a share, an exact sum."""
        if isinstance(node, ast.FunctionDef):
            return "keep" in {a.arg for a in node.args.args} or "proof:" in (ast.get_docstring(node) or "")
        if not isinstance(node, ast.stmt) or isinstance(node, (ast.ClassDef, ast.If, ast.For, ast.With)):
            return False
        comments = "".join(line.partition("#")[2] for line in self.lines[max(0, node.lineno - 2) : node.end_lineno])
        calls = {_called(call) for call in ast.walk(node) if isinstance(call, ast.Call)}
        names = [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
        shares = any("SHARE" in name for name in names)
        return "proof:" in comments or bool(calls & (contributions() | SPENDS | EXACT)) or shares


def _first_line(node: ast.AST) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


# What weakening means. Each operator gives what could stand in place of a node.

OPPOSITE = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
BOUNDS = {"min", "max", "minimum", "maximum"}  # of which each argument could stand alone
WRAPPERS = {"clip", "where", "toward_zero", "whole", "abs", "sqrt", "into_ball"}
ROUNDS = {"floor": "ceil", "ceil": "floor"}


def _margin(node: ast.AST) -> bool:
    """Whether something tiny stands in the node: a margin for rounding, such as 1e-12, 2.0**-52 or Fraction(1, 10**14)."""
    numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, float)]
    powers = [n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    named = any(word in name for name in names for word in ("SLACK", "MARGIN", "TOLERANCE", "ERROR", "KEPT", "_UNIT"))
    return (
        named
        or any(0.0 < abs(x) < 1e-6 for x in numbers)
        or any(
            isinstance(n.left, ast.Constant) and (isinstance(n.right, ast.UnaryOp) or n.left.value == 10)
            for n in powers
        )
    )


def constant(node: ast.AST) -> Iterator[ast.AST]:
    """A number times .98."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and 1e-6 < abs(node.value) < 1e6:
        yield ast.Constant(0.98 * node.value)


def factor(node: ast.AST) -> Iterator[ast.AST]:
    """A factor, a divisor or a term less."""
    text = isinstance(node, ast.BinOp) and any(
        isinstance(getattr(n, "value", None), str) for n in (node.left, node.right)
    )
    kinds = (ast.Mult, ast.Div, ast.Add, ast.Sub)
    if isinstance(node, ast.BinOp) and isinstance(node.op, kinds) and not text and not _margin(node):
        yield node.left
        if isinstance(node.op, ast.Mult):
            yield node.right


def comparison(node: ast.AST) -> Iterator[ast.AST]:
    """The opposite."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        yield ast.Compare(node.left, [OPPOSITE[type(node.ops[0])]()], node.comparators)


def branch(node: ast.AST) -> Iterator[ast.AST]:
    """One side of a choice, whatever the condition says."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    if isinstance(node, ast.BoolOp):
        yield from node.values


def bound(node: ast.AST) -> Iterator[ast.AST]:
    """A clip, a mask, a bound or a root less; a rounding the other way."""
    if not isinstance(node, ast.Call) or _margin(node):
        return
    name = _called(node)
    if name in BOUNDS and len(node.args) > 1:
        yield from (a for a in node.args if not isinstance(a, ast.Starred))
    elif name in WRAPPERS and node.args:
        yield node.args[1 if name == "where" else 0]
    elif name in ROUNDS and isinstance(node.func, ast.Attribute):
        yield ast.Call(ast.Attribute(node.func.value, ROUNDS[name], ast.Load()), node.args, node.keywords)


def statement(node: ast.AST) -> Iterator[ast.AST]:
    """A check, a charge, a mask less: a call for its effect, a refusal, a value that is adjusted."""
    call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    refusal = isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Raise, ast.Assign))
    again = isinstance(node, ast.Assign) and {
        n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)
    } & {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    if call or refusal or again or isinstance(node, ast.AugAssign):
        yield ast.Pass()


def rung(node: ast.AST) -> Iterator[ast.AST]:
    """The next rung."""
    if isinstance(node, ast.Name) and node.id == "rung" and isinstance(node.ctx, ast.Load):
        yield ast.BinOp(node, ast.Add(), ast.Constant(1))


def result(node: ast.AST) -> Iterator[ast.AST]:
    """A number that is handed back, times .98."""
    if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "float":
        for k, last in enumerate(node.body):
            if isinstance(last, ast.Return) and last.value is not None:
                new = copy.copy(node)
                less = ast.BinOp(ast.Constant(0.98), ast.Mult(), last.value)
                new.body = [*node.body[:k], ast.Return(less), *node.body[k + 1 :]]
                yield new


OPERATORS = (constant, factor, comparison, branch, bound, statement, rung, result)


@dataclass(frozen=True)
class Mutant:
    """A file with one weakened node: the ``node``-th of its tree gets the ``choice``-th replacement of an operator."""

    path: Path
    line: int
    text: str
    function: str
    operator: str
    node: int
    choice: int
    change: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it even if the file or the line moves."""
        return self.path.name, self.text, self.change

    def tree(self) -> ast.Module:
        """The weakened file."""
        carrier = Carrier(self.path)
        old = list(ast.walk(carrier.tree))[self.node]
        operator = next(o for o in OPERATORS if o.__name__ == self.operator)
        new = ast.copy_location(copy.deepcopy(list(operator(old))[self.choice]), old)
        parent = carrier.parents[old]
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(v is old for v in value):
                setattr(parent, name, [new if v is old else v for v in value])
        return ast.fix_missing_locations(carrier.tree)


def mutants_of(path: Path) -> list[Mutant]:
    """All of one file, in the order of its lines."""
    carrier, found = Carrier(path), []
    for index, node in enumerate(ast.walk(carrier.tree)):
        for operator in OPERATORS:
            for choice, new in enumerate(operator(node) if carrier.carries(node) else ()):
                old_text, new_text = (" ".join(ast.unparse(n).split()) for n in (node, new))
                if operator is result:
                    old_text, new_text = f"{node.name}()", f"0.98 * {node.name}()"
                text, where = (
                    carrier.lines[node.lineno - 1].strip(),
                    carrier.function(node.body[0] if operator is result else node),
                )
                found.append(
                    Mutant(
                        path, node.lineno, text, where, operator.__name__, index, choice, f"{old_text} -> {new_text}"
                    )
                )
    return sorted(found, key=lambda m: (m.line, m.node, m.choice))


# Running tests in a child of this warm process.


def warm() -> None:
    """Everything a test needs but our own package, which a child imports with its mutant in it."""
    import dp_accounting.pld.privacy_loss_distribution
    import hypothesis
    import mpmath
    import opendp.measurements
    import pandas
    import scipy.stats
    import sklearn.utils.estimator_checks
    import sqlalchemy  # noqa: F401

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
            place = (str(path), f"{getattr(node, 'name', '<lambda>')}:{_first_line(node)}")
            tell = ast.parse(f"__import__('benchmarks.mutants').mutants.ENTERED.add({place!r})", mode="eval").body
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

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 5.0 + 5.0 * self.chosen[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

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
    resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))  # a loop that never ends must not eat the machine
    sys.meta_path.insert(0, Finder({Carrier(mutant.path).module: (mutant.path, mutant.tree())}))
    for file, chosen in plan:
        plugin = Noticing(chosen)
        code = pytest_run([file], plugin)
        if code not in (0, 5):
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
            if answer is None or answer[0] not in (0, 5):
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
    found = [place] if place.suffix else sorted(place.glob("test_*.py"))
    return [p for p in found if p.stem not in ELSEWHERE]


def parallel(jobs, limit: float):
    """(name, answer) of each job as it ends, as many at a time as there are cores; None for one that ran out of time.

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
            answer = None
            if over:
                os.killpg(pid, signal.SIGKILL)
            with os.fdopen(pipe, "rb") as stream:
                if not over:
                    try:
                        answer = pickle.load(stream)
                    except EOFError:  # the child died
                        answer = None
            os.waitpid(pid, 0)
            del running[name]
            yield name, answer


def _ready(pipe: int) -> bool:
    import select

    return bool(select.select([pipe], [], [], 0.02)[0])


# Which mutants, and what became of them.

DECISIONS = ("statement", "rung", "comparison", "branch")
RANK = {name: k for k, name in enumerate((*DECISIONS, "result", "constant", "bound", "factor"))}
# The most dangerous, which `make test` runs: file, what its line starts with, change.
DANGEROUS = (
    ("contribution.py", "return 2.0 * self.radius if", "2.0 -> 1.96"),
    ("contribution.py", "return math.sqrt(2.0) if", "2.0 -> 1.96"),
    ("contribution.py", "return math.sqrt(2.0) * square if", "2.0 -> 1.96"),
    ("contribution.py", "return self.reach(unit.relation) * unit.rows", "self.reach(unit.relation) * unit.rows -> self.reach(unit.relation)"),
    ("spending.py", "return self.mu * math.sqrt(share)", "self.mu * math.sqrt(share) -> self.mu"),
    ("spending.py", "if square > self._square", "square > self._square -> square <= self._square"),
    ("spending.py", "self._square, self._drawn = self._square - square", "self._square - square -> self._square"),
    ("spending.py", "self._tests, self._drawn = self._tests - 1", "self._tests - 1 -> self._tests"),
    ("spending.py", "self._rows.check()", "self._rows.check() -> pass"),
    ("spending.py", "self._account.charge(", "self._account.charge(self.cost, private=self.private, what=self._what) -> pass"),
    ("noise.py", "return secrets.randbits(bits) < numerator", "secrets.randbits(bits) < numerator -> secrets.randbits(bits) >= numerator"),
    ("ladder.py", "return 0 if rung < 0 else", "rung -> rung + 1"),
    ("ladder.py", "if self.upward(p, q) > self.delta", "self.upward(p, q) > self.delta -> self.upward(p, q) <= self.delta"),
    ("rung.py", "return min(math.floor(", "math.floor(min(above, float(TOP))) -> math.ceil(min(above, float(TOP)))"),
    ("mechanism.py", "scale = round_up(alpha * plan.noise)", "alpha * plan.noise -> alpha"),
    ("exact.py", "return None if rows.shape[0] == 0", "xp.clip(safe / norms, None, 1.0) -> safe / norms"),
    ("engine.py", "x, y = xp.where(keep", "xp.where(keep, y, xp.zeros_like(y)) -> y"),
    ("engine.py", "x = xp.clip(x, -_LARGEST", "x = xp.clip(x, -_LARGEST, _LARGEST) -> pass"),
    ("quantile.py", "values = values[keep]", "values = values[keep] -> pass"),
    ("filter.py", "squares=self.squares + mu", "self.squares + mu * mu * cost.parts -> self.squares"),
    ("ledger.py", "session.append(entry)", "session.append(entry) -> pass"),
)  # fmt: skip


def dangerous(path: Path) -> list[Mutant]:
    """Those of one file that `make test` runs; an error if a line is not there any more."""
    listed, found = [one for one in DANGEROUS if one[0] == path.name], []
    for _, start, change in listed:
        fitting = [m for m in mutants_of(path) if m.text.startswith(start) and m.change == change] if listed else []
        if not fitting:
            raise LookupError(f"{path.name} has no line {start!r} with {change!r} any more: name its successor.")
        found.append(fitting[0])
    return found


def chosen(path: Path) -> list[Mutant]:
    """Of every line one mutant that changes a size and one that changes a decision, and the most dangerous."""
    found: dict[tuple[int, bool], Mutant] = {}
    for mutant in sorted(mutants_of(path), key=lambda m: (RANK[m.operator], m.node)):
        found.setdefault((mutant.line, mutant.operator in DECISIONS), mutant)
    return sorted({*found.values(), *dangerous(path)}, key=lambda m: (m.line, m.operator, m.node))


def equivalents() -> dict[tuple[str, str, str], str]:
    """Mutants that nobody could notice, by file, line and change; and why."""
    listed = tomllib.loads(EQUIVALENTS.read_text())["equivalent"]
    return {(one["file"], one["line"], one["change"]): one["why"] for one in listed}


def run(mutants: list[Mutant], tests: Tests) -> Iterator[tuple[Mutant, str, float]]:
    """What noticed each mutant, "" for a survivor, and in how many seconds."""
    starts: dict[Mutant, float] = {}

    def job(mutant: Mutant):
        starts[mutant] = time.perf_counter()
        return trial, mutant, tests.plan(mutant)

    for mutant, by in parallel({m: functools.partial(job, m) for m in mutants}, 2.0 * LIMIT):
        by = "out of time or memory" if by is None else by
        if "::" in by and by not in tests.noticed[mutant.path]:
            tests.noticed[mutant.path].append(by)
        yield mutant, by, time.perf_counter() - starts[mutant]


def known_guards() -> dict[tuple[str, str, str], str]:
    """Which test noticed a mutant when all were run."""
    with RESULTS.open(newline="") as file:
        return {(Path(r["file"]).name, r["text"], r["change"]): r["noticed_by"] for r in csv.DictReader(file)}


def run_dangerous() -> int:
    """The most dangerous, each against the one test that noticed it; how many it does not notice any more."""
    guards, jobs = known_guards(), {}
    for mutant in (m for path in carriers() for m in dangerous(path)):
        test = guards.get(mutant.key, "")
        jobs[mutant] = (trial, mutant, [(test.partition("::")[0], {test: 5.0})])
    lost = [mutant for mutant, by in parallel(jobs, LIMIT) if by == ""]
    for mutant in lost:
        print(
            f"not noticed by {guards.get(mutant.key)}: {mutant.path.name}:{mutant.line}  {mutant.change}; run make mutants"
        )
    print(f"{len(jobs) - len(lost)} of {len(jobs)} noticed")
    return len(lost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="files whose path holds this; results are not saved")
    parser.add_argument("--all", action="store_true", help="every replacement of every operator, some 3,000; not saved")
    parser.add_argument(
        "--dangerous", action="store_true", help="the most dangerous alone, against the tests that are known"
    )
    options = parser.parse_args()
    warm()
    if options.dangerous:
        sys.exit(run_dangerous())
    paths = [p for p in carriers() if options.only in str(p.relative_to(SOURCE))]
    known = equivalents()
    mutants = [m for p in paths for m in (mutants_of if options.all else chosen)(p) if m.key not in known]
    print(f"{len(mutants)} mutants of {len(paths)} files; learning which test enters what", flush=True)
    tests, rows = Tests(paths), []
    for mutant, by, seconds in run(mutants, tests):
        place = str(mutant.path.relative_to(SOURCE))
        rows.append([place, mutant.line, mutant.text, mutant.operator, mutant.change, by, f"{seconds:.1f}"])
        if not by:
            print(f"survived: {place}:{mutant.line}  {mutant.operator}: {mutant.change}", flush=True)
    survivors = sum(not row[5] for row in rows)
    print(f"{len(rows) - survivors} of {len(rows)} noticed, {survivors} survived, {len(known)} equivalent")
    if not options.only and not options.all:
        with RESULTS.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *sorted(rows)])
    sys.exit(survivors > 0)


COLUMNS = ["file", "line", "text", "operator", "change", "noticed_by", "seconds"]
WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
if __name__ == "__main__":
    main()
