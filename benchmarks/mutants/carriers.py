"""Where the guarantee is carried: which files, and which of their statements."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "eptr"
WHOLE = ("privacy", "accounting", "rows")  # rooms whose proven files are carriers from the first line to the last
# Files without a proof of their own that stand between rows and noise, or between a release and its charge.
SEAMS = ("accounting/account.py", "accounting/ledger.py", "accounting/reservation.py", "accounting/terms.py")
SEAMS += ("estimators/base.py", "rivals/base.py", "privacy/unit.py", "rows/engine.py", "study/journal.py")
SPENDS = {"noisy", "sums", "draw", "laplace", "laplace_blocks", "test", "test_at_rung", "within", "share"}
EXACT = {"sum_grid", "product_grid", "toward_zero", "shrink_factors", "project", "Cost"}
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Delete)
DATA = {"rows", "spending", "asked", "bounds"}  # what a formula knows nothing of
PLANS = {"scale", "laplace_scale"}  # what says how much noise there will be
# What only tells or plans.
SILENT = {"__repr__", "__str__", "__hash__", "__dir__", "__init_subclass__", "__sklearn_tags__", "to_json", "to_dict"}
SILENT |= {"plan", "_planned", "planned_noise", "_record", "_bought", "facts", "_facts", "_table"}
SILENT |= {"lines", "elsewhere", "_word"}


@functools.cache
def contributions() -> set[str]:
    """Names of the sets that a row function may stay inside."""
    tree = ast.parse((SOURCE / "privacy" / "contribution.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def carriers() -> list[Path]:
    """Files that have their proof beside them, and the seams between them."""
    proven = (path for path in SOURCE.rglob("*.py") if path.with_suffix(".md").exists())
    return sorted({*proven, *(SOURCE / seam for seam in SEAMS)} - {SOURCE / "privacy" / "facts.py"})  # which only tells


def called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _calls(node: ast.AST) -> set[str]:
    return {called(call) for call in ast.walk(node) if isinstance(call, ast.Call)}


@functools.cache
def _draws(node: ast.AST) -> bool:
    """Of a statement that spends, what is spent carries; what is done with a number that has its noise is nobody's risk."""
    return isinstance(node, SIMPLE) and bool(_calls(node) & SPENDS)


@functools.cache
def _held(home: ast.AST) -> set[str]:
    """What the object of a method has."""
    found = (n for n in ast.walk(home) if isinstance(n, ast.Attribute)) if isinstance(home, ast.ClassDef) else ()
    return {n.attr for n in found if isinstance(n.value, ast.Name) and n.value.id == "self"}


class Carrier:
    """One file: its tree, and which statements carry the guarantee."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, path.read_text()
        self.lines, self.tree = self.text.splitlines(), ast.parse(self.text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.speaks = functools.cache(self._speaks_of_it)
        proof = path.with_suffix(".md")
        self.whole = path.relative_to(SOURCE).parts[0] in WHOLE or not proof.exists()
        accuracy = proof.read_text().partition("## What is estimated")[2] if proof.exists() else ""
        self.estimated = set(re.findall(r"^### \[([a-z-]+)\]", accuracy, re.MULTILINE))

    @property
    def module(self) -> str:
        return ".".join(("eptr", *self.path.relative_to(SOURCE).with_suffix("").parts))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node, what holds it, what holds that."""
        while node is not None:
            yield node
            node = self.parents.get(node)

    def function(self, node: ast.AST) -> ast.AST | None:
        """The innermost function whose code a node is in; None outside of all."""
        for inner, outer in itertools.pairwise(self.above(node)):
            if isinstance(outer, (ast.FunctionDef, ast.Lambda)) and inner is not outer.args:
                return outer
        return None

    def place(self, node: ast.AST) -> str:
        """The first line of the statement that a node is in; "" outside of functions."""
        statement = next((n for n in self.above(node) if isinstance(n, ast.stmt)), None)
        return self.lines[statement.lineno - 1].strip() if statement and self.function(statement) else ""

    def carries(self, node: ast.AST) -> bool:
        """Whether a weakened node weakens the guarantee, as far as the text can tell."""
        chain = list(self.above(node))
        for inner, outer in itertools.pairwise(chain):
            if isinstance(inner, (ast.Raise, ast.JoinedStr, ast.Assert)) or getattr(outer, "annotation", None) is inner:
                return False
            if isinstance(outer, (ast.FunctionDef)) and (inner is outer.returns or outer.name in SILENT):
                return False
            if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Pow) and isinstance(inner, ast.Constant):
                return False  # 2.0**-52, x**2: units and degrees
            if isinstance(outer, ast.ClassDef) and any(called(base) == "Protocol" for base in outer.bases):
                return False
        if self.whole:
            return True
        drawn = any(isinstance(outer, ast.Call) and called(outer) in SPENDS for outer in chain[1:])
        return any(self.speaks(above) or (drawn and _draws(above)) for above in chain)

    def _speaks_of_it(self, node: ast.AST) -> bool:
        """A row function, a formula with a proof, or a statement that names a proof, a contribution or an exact sum."""
        if isinstance(node, ast.FunctionDef):
            given = {a.arg for a in node.args.args}
            used = {getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node)} | _held(self.parents[node])
            return "keep" in given or (not (given | used) & DATA and self._proves(ast.get_docstring(node) or ""))
        if not isinstance(node, SIMPLE) or _draws(node):
            return False
        above = self.lines[node.lineno - 2].strip() if node.lineno > 1 else ""
        own = self.lines[node.lineno - 1 : node.end_lineno]
        comments = "".join(line.partition("#")[2] for line in [above if above.startswith("#") else "", *own])
        calls = _calls(node)
        return self._proves(comments) or bool(calls & (contributions() | EXACT) and not calls & PLANS)

    def _proves(self, text: str) -> bool:
        """Whether a proof is named that is about privacy."""
        return bool({*re.findall(r"proof: ([a-z-]+)", text)} - self.estimated)
