"""What weakening means: each operator gives what could stand in the place of a node."""

from __future__ import annotations

import ast
import copy
import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .carriers import SOURCE, Carrier, called

OPPOSITE = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
BOUNDS = {"min", "max", "minimum", "maximum"}  # of which each argument could stand alone
WRAPPERS = {"clip", "at_most", "where", "zero_unless", "toward_zero", "whole", "abs", "sqrt", "into_ball"}
ROUNDS = {"floor": "ceil", "ceil": "floor"}


def _margin(node: ast.AST) -> bool:
    """Whether something tiny stands in the node: a margin for rounding, such as 1e-12, 2.0**-52 or Fraction(1, 10**14)."""
    numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, float)]
    powers = [n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    words = ("SLACK", "MARGIN", "TOLERANCE", "ERROR", "ARITHMETIC", "KEPT", "_UNIT")
    named = any(word in name for name in names for word in words)
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
    if isinstance(node, ast.IfExp) and not isinstance(getattr(node.body, "value", None), str):
        yield from (node.body, node.orelse)
    if isinstance(node, ast.BoolOp):
        yield from node.values


def bound(node: ast.AST) -> Iterator[ast.AST]:
    """A clip, a mask, a bound or a root less; a rounding the other way."""
    if not isinstance(node, ast.Call) or _margin(node):
        return
    name = called(node)
    if name in BOUNDS and len(node.args) > 1:
        yield from (a for a in node.args if not isinstance(a, ast.Starred))
    elif name in WRAPPERS and node.args:
        yield node.args[1 if name in ("where", "zero_unless") else 0]
    elif name in ROUNDS and isinstance(node.func, ast.Attribute):
        yield ast.Call(ast.Attribute(node.func.value, ROUNDS[name], ast.Load()), node.args, node.keywords)


def statement(node: ast.AST) -> Iterator[ast.AST]:
    """A check, a charge, a mask less: a call for its effect, a refusal, a value that is adjusted."""
    call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    refusal = isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Raise, ast.Assign))
    again = isinstance(node, ast.Assign) and {
        n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)
    } & {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    if call or refusal or again or (isinstance(node, ast.AugAssign) and not _margin(node.value)):
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
    place: str
    operator: str
    node: int
    choice: int
    change: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it even if the file or the line moves."""
        return self.file, self.text, self.change

    @property
    def file(self) -> str:
        return str(self.path.relative_to(SOURCE))

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


@functools.cache
def mutants_of(path: Path) -> list[Mutant]:
    """All of one file, in the order of its lines."""
    carrier, found, alike = Carrier(path), [], Counter()
    for index, node in enumerate(ast.walk(carrier.tree)):
        for operator in OPERATORS if carrier.carries(node) else ():
            for choice, new in enumerate(operator(node)):
                before, after = (" ".join(ast.unparse(n).split()) for n in (node, new))
                place = node.body[-1] if operator is result else node
                if operator is result:
                    before, after = f"{node.name}()", f"0.98 * {node.name}()"
                text, change = carrier.lines[place.lineno - 1].strip(), f"{before} -> {after}"
                alike[text, change] += 1
                change += f" ({alike[text, change]})" if alike[text, change] > 1 else ""
                where = carrier.place(place)
                found.append(Mutant(path, place.lineno, text, where, operator.__name__, index, choice, change))
    return sorted(found, key=lambda m: (m.line, m.node, m.choice))
