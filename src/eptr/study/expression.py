"""Expressions of columns that a formula may hold: parsed by us, admitted from a list, never evaluated as Python.

    number: a column, a constant, + - * / ** (or ^, as in R), log, log2, log10, log1p, sqrt, exp, abs
    truth:  number < number (and <= > >= == !=), column == "level", column in ["a", "b"], and, or, not

Values are computed row by row; ranges follow from those of the columns.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codebook import Category, Codebook, Date, Flag
from ..codebook.kinds import day_of
from ..errors import InputError
from ..rows.ingest import label
from .interval import Interval

__all__ = ["FUNCTIONS", "Expression", "named_syntax", "parse", "short"]

Array = NDArray[np.float64]
MOST_TEXT, MOST_DEPTH = 2_000, 100
_CARET = re.compile(r"""("[^"]*"|'[^']*')|\^""")  # R's power, outside of levels
_ASSIGNED = re.compile(r"(?<![=<>!])=(?!=)")
# Texts as they are, names in backticks, and other names.
_NAMES = re.compile(r"""'[^']*'|"[^"]*"|`([^`]*)`|([^\W\d]\w*)""")
_COMPARE = {
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}  # fmt: skip
# Name: how an array is mapped, and how a range is.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Interval], Interval]]] = {
    "log": (np.log, lambda x: x.log("log", math.log)),
    "log2": (np.log2, lambda x: x.log("log2", math.log2)),
    "log10": (np.log10, lambda x: x.log("log10", math.log10)),
    "log1p": (np.log1p, lambda x: x.log("log1p", math.log1p, -1.0)),
    "sqrt": (np.sqrt, Interval.sqrt),
    "exp": (np.exp, Interval.exp),
    "abs": (np.abs, Interval.abs),
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A number, or a truth value as 0 or 1, for every row; NaN if a column that it needs is missing there."""

    text: str
    columns: tuple[str, ...]
    range: Interval
    truth: bool
    evaluate: Callable[[Mapping[str, Any]], Any]
    plain: bool = False  # a column as it is: what lies beyond its range is for the estimator to see and to count

    def values(self, read: Mapping[str, Any]) -> Array:
        """From columns that a codebook has read; at the edge of the range if rounding leads beyond. proof: clip"""
        with np.errstate(all="ignore"):  # a warning would depend on private values
            found = np.asarray(self.evaluate(read), dtype=float)
            return found if self.plain else np.clip(found, self.range.low, self.range.high)


def _unquote(text: str, names: dict[str, str]) -> str:
    """The text with every name in backticks replaced by an identifier, which ``names`` then knows.

    So are names that Python would read as others, "ﬁ" as "fi", and those that look like our identifiers.
    """

    def alias(found: re.Match[str]) -> str:
        name = found[1] if found[1] is not None else found[2]
        odd = name is not None and (unicodedata.normalize("NFKC", name) != name or name.startswith("_quoted"))
        if found[1] is None and not odd:
            return found[0]
        return names.setdefault(name, f"_quoted{len(names)}_")

    return _NAMES.sub(alias, text)


def parse(text: str, book: Codebook) -> Expression:
    """The expression, or a sentence about what is not admitted."""
    tree, names = named_syntax(text)
    return _Reader(book, names).expression(text.strip(), tree)


def _some(levels: tuple[str, ...]) -> str:
    """The first few declared levels, for a sentence."""
    return ", ".join(map(repr, levels[:5])) + (f" and {len(levels) - 5} more" if len(levels) > 5 else "")


def named_syntax(text: str) -> tuple[ast.expr, dict[str, str]]:
    """A text with names in backticks as Python reads it, and the names that identifiers of ours stand for there."""
    names: dict[str, str] = {}
    tree = _syntax(_unquote(text, names))
    return tree, {alias: name for name, alias in names.items()}


def _syntax(text: str) -> ast.expr:
    """Python's reading of a text, which is data here; R's ^ is a power, and binds as one."""
    if len(text) > MOST_TEXT:
        raise InputError(f"a formula must not be longer than {MOST_TEXT} characters.")
    try:
        tree = ast.parse(_CARET.sub(lambda found: found[1] or "**", text.strip()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        equal = " (equality is written ==)" if _ASSIGNED.search(text) else ""
        raise InputError(
            f"{short(text)} is not an expression; check parentheses and operators{equal}, and put odd names into `backticks`."
        ) from None
    nodes: list[ast.AST] = [tree]
    for _ in range(MOST_DEPTH):  # whoever walks the tree calls itself as often
        nodes = [child for node in nodes for child in ast.iter_child_nodes(node)]
    if nodes:
        raise InputError(f"the formula is nested too deeply; {MOST_DEPTH} operators within each other are the most.")
    return tree


class _Reader:
    """One walk over a tree; what is not named here is refused."""

    def __init__(self, book: Codebook, aliases: Mapping[str, str]) -> None:
        self.book, self.aliases, self.columns = book, aliases, dict[str, None]()

    def expression(self, text: str, tree: ast.expr) -> Expression:
        range_, evaluate = self._number(tree)
        used = tuple(self.columns)
        if not used:
            raise InputError(f"{short(text)} holds no column.")
        if isinstance(tree, ast.Name):
            (name,) = used
            return Expression(name, used, range_, False, lambda read: read[name], plain=True)
        return Expression(text, used, range_, _is_truth(tree), evaluate)

    def _number(self, node: ast.expr) -> tuple[Interval, Callable[[Any], Any]]:
        if isinstance(node, ast.Constant):
            value = _constant(node)
            return Interval(value, value), lambda read: value
        if _is_truth(node):
            return Interval(0.0, 1.0), self._truth(node)
        if isinstance(node, ast.Name):
            return self._column(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner, evaluate = self._number(node.operand)
            if isinstance(node.op, ast.UAdd):
                return inner, evaluate
            return Interval(-inner.high, -inner.low), lambda read: -evaluate(read)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self._power(node)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            operate = _OPERATORS[type(node.op)]
            (left, one), (right, two) = self._number(node.left), self._number(node.right)
            return operate(left, right), lambda read: operate(one(read), two(read))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in (*FUNCTIONS, "I"):
            if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
                raise InputError(f"{node.func.id} takes one expression: {node.func.id}(column).")
            inner, evaluate = self._number(node.args[0])
            if node.func.id == "I":
                return inner, evaluate
            mapped, ranged = FUNCTIONS[node.func.id]
            return ranged(inner), lambda read: mapped(evaluate(read))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            raise InputError(f"functions go without a prefix: write {node.func.attr}(...).")
        raise InputError(
            f"the formula may hold columns, numbers, + - * / ** ^, comparisons and {', '.join(FUNCTIONS)}, and no {_named(node)}."
        )

    def _power(self, node: ast.BinOp) -> tuple[Interval, Callable[[Any], Any]]:
        if not isinstance(node.right, ast.Constant):
            raise InputError("a power must be a number from 0 to 16, such as age ** 2; write 1/age for others.")
        power, (inner, evaluate) = _constant(node.right), self._number(node.left)
        if power == int(power):  # products, which round the same everywhere
            return inner**power, lambda read: _whole_power(evaluate(read), int(power))
        return inner**power, lambda read: np.power(evaluate(read), power)

    def _column(self, identifier: str) -> tuple[Interval, Callable[[Any], Any]]:
        name = self._named(identifier)
        kind = self.book.usable(name)
        if not kind.numeric:
            raise InputError(
                f"{name!r} is a Category, not a number; write it as a term of its own, or {name} == 'level'."
            )
        low, high = kind.range
        return Interval(low, high), lambda read: np.clip(read[name], low, high)

    def _named(self, identifier: str) -> str:
        name = self.aliases.get(identifier, identifier)
        self.book.usable(name)
        self.columns[name] = None
        return name

    def _truth(self, node: ast.expr) -> Callable[[Any], Any]:
        """1, 0, or NaN where a column is missing."""
        if isinstance(node, ast.BoolOp):
            parts = [self._truth(value) for value in node.values]
            join = np.minimum if isinstance(node.op, ast.And) else np.maximum  # both pass NaN on
            return lambda read: reduce(join, [part(read) for part in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._truth(node.operand)
            return lambda read: 1.0 - inner(read)
        if isinstance(node, ast.Name) and isinstance(self.book.columns.get(self._called(node)), Flag):
            return self._column(node.id)[1]
        if not isinstance(node, ast.Compare):
            raise InputError("a condition compares columns, such as age >= 65 or sex == 'F', joined by and, or, not.")
        sides = [node.left, *node.comparators]
        pairs = zip(sides[:-1], node.ops, sides[1:], strict=True)
        links = [self._comparison(left, op, right) for left, op, right in pairs]
        return lambda read: reduce(np.minimum, [link(read) for link in links])

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Callable[[Any], Any]:
        found = self._of_levels(left, op, right)
        if found is not None:
            return found
        if type(op) not in _COMPARE:
            raise InputError(
                "a condition may use < <= > >= == != between numbers, and == != in between a column and levels."
            )
        compare = _COMPARE[type(op)]
        (_, one), (_, two) = self._number(self._day(left, right)), self._number(self._day(right, left))

        def compared(read: Any) -> Any:
            a, b = one(read), two(read)
            return np.where(np.isnan(a) | np.isnan(b), np.nan, compare(a, b))

        return compared

    def _called(self, node: ast.expr) -> str:
        return self.aliases.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def _day(self, node: ast.expr, other: ast.expr) -> ast.expr:
        """A day in quotation marks beside a column of dates, or yes or no as a Flag writes them, as a number."""
        flag = self.book.columns.get(self._called(other))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and isinstance(flag, Flag):
            written = [label(flag.no), label(flag.yes)]
            if label(node.value) not in written:
                raise InputError(
                    f"{self._called(other)!r} is a Flag, which is not written so; it is a condition by itself."
                )
            return ast.Constant(written.index(label(node.value)))
        if isinstance(node, ast.Constant) and isinstance(self.book.columns.get(self._called(other)), Date):
            day = day_of(node.value)
            if isinstance(node.value, str) and not math.isfinite(day):
                raise InputError(f"{self._called(other)!r} is a Date: compare it with a day, such as '2000-12-31'.")
            return ast.Constant(day) if math.isfinite(day) else node
        return node

    def _of_levels(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Callable[[Any], Any] | None:
        """A column of categories and levels of it."""
        name = self._called(left)
        kind = self.book.columns.get(name)
        if not isinstance(kind, Category):
            return None
        listed = (
            right.elts if isinstance(right, (ast.List, ast.Tuple)) and isinstance(op, (ast.In, ast.NotIn)) else [right]
        )
        if not isinstance(op, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) or not all(
            isinstance(v, ast.Constant) for v in listed
        ):
            raise InputError(
                f"{name!r} is a Category: compare it with levels, {name} == 'level' or {name} in ['a', 'b']."
            )
        keys = [label(level) for level in kind.levels]
        extra = {text: k for k, text in enumerate(kind.shown) if k >= len(keys)}
        codes = []
        for value in (v.value for v in listed):  # type: ignore[attr-defined]
            place = keys.index(label(value)) if label(value) in keys else extra.get(value)
            if place is None:
                raise InputError(
                    f"a condition compares {name!r} with a level that the codebook does not declare; it has {_some(kind.shown)}."
                )
            codes.append(place)
        self.columns[name] = None
        wanted = isinstance(op, (ast.Eq, ast.In))
        return lambda read: np.where(read[name] < 0, np.nan, np.isin(read[name], codes) == wanted)


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def _whole_power(value: Any, power: int) -> Any:
    found = np.ones_like(value)
    for _ in range(power):
        found = found * value
    return found


def _constant(node: ast.Constant) -> float:
    try:
        value = float(node.value) if type(node.value) in (int, float) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        value = math.inf
    if not abs(value) <= 1e100:
        raise InputError(
            "constants in a formula must be numbers of at most 1e100; levels stand in comparisons with a Category."
        )
    return value


def _is_truth(node: ast.AST) -> bool:
    """A condition; 1 and 0 among numbers."""
    return isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return f"{short(ast.unparse(node.func))}()"
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return _OTHERS.get(type(node.op), type(node.op).__name__)
    words = {
        "Attribute": "dots in names (write `a.b` in backticks)", "Subscript": "brackets", "Lambda": "lambda",
        "ListComp": "loops", "GeneratorExp": "loops", "IfExp": "if", "JoinedStr": "texts", "List": "lists", "Tuple": "lists",
    }  # fmt: skip
    return words.get(type(node).__name__, type(node).__name__)


_OTHERS: dict[type[ast.AST], str] = {
    ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@", ast.BitAnd: "& (write and)", ast.BitOr: "| (write or)",
    ast.LShift: "<<", ast.RShift: ">>", ast.Invert: "~ (write not)",
}  # fmt: skip


def short(text: str) -> str:
    """A part of a formula, which is public, without flooding the message."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
