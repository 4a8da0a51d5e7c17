"""R's formulas: every factor is read and admitted here; formulaic sees placeholders alone, on a table without rows.

    outcome ~ a + b:c + d*e - 1 + I(a**2) + log(a) + C(g, Treatment("x")) + poly(a, 3)

formulaic does the algebra of terms and decides which levels a term shows; what a column is, and its range, is computed here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..codebook import Category, Codebook
from ..errors import InputError
from ..estimators.ranges import one_range
from .expression import FUNCTIONS, MOST_TEXT, named_syntax, parse, short
from .terms import Column, Design, Factor, Levels, legendre, levels_of

__all__ = ["Formula", "design", "outcome_of", "read_formula"]
MOST_COLUMNS = 2_000
_MOST_DEGREE = 10
_TOKEN = re.compile(r"\s*(?:(?P<quoted>`[^`]*`)|(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<operator>\*\*|[-+:*/^()~.]))")
NO_FACTOR = (
    "factor() is not needed: a Category is a factor already, so write its name; whole numbers and flags are C(column)."
)
# Transforms that learn from rows, and what to write instead.
_DOTTED = re.compile(r"\s*\.\s*(?P<rest>[^\W\d]\w*)(?P<call>\s*\()?")  # after a name: np.log(, as.factor(, a.b
_PIECES = re.compile(r"v\d+|\d+|\*\*|\S")  # of the right side, with placeholders
LEARNS = (
    dict.fromkeys(
        ("scale", "center", "standardize", "rescale", "zscore"),
        "fits centre and scale columns by themselves: leave it out",
    )
    | dict.fromkeys(
        ("bs", "cr", "cs", "cc", "ns", "te", "basis_spline", "cubic_spline"),
        "write poly(column, 3), or study.smooth with s(column)",
    )
    | {"lag": "rows have no order here: leave it out", "hashed": "declare the levels in the codebook: Category([...])"}
)


@dataclass(frozen=True, slots=True)
class Formula:
    """Both sides, read: the outcome as text, and what is left of the right side when factors are placeholders."""

    outcome: str
    right: str
    factors: tuple[Factor, ...]
    smooths: tuple[tuple[str, ...], ...] = ()


def read_formula(text: Any, book: Codebook, *, smooth: bool = False) -> Formula:
    """Every factor admitted, or a sentence; ``smooth`` admits s(column)."""
    if not isinstance(text, str) or text.count("~") != 1:
        raise InputError("formula must be text such as 'wage ~ age + sex', with one ~.")
    if len(text) > MOST_TEXT:
        raise InputError(f"formula must not be longer than {MOST_TEXT} characters.")
    outcome, right = (side.strip() for side in text.split("~"))
    if not outcome or not right:
        raise InputError("formula must have an outcome before the ~ and terms after it, such as 'wage ~ age + sex'.")
    reader = _Right(book, outcome, smooth)
    terms = reader.read(right)
    if outcome_of(outcome, book).text in {*reader.factors, *(name for smooths in reader.smooths for name in smooths)}:
        raise InputError(f"the outcome {short(outcome)} is also a term of the right side: it would explain itself.")
    return Formula(outcome, terms, tuple(reader.factors.values()), tuple(reader.smooths))


def outcome_of(text: str, book: Codebook) -> Factor:
    """The left side: a number, or the levels of a category."""
    tree, known = named_syntax(text)
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and tree.func.id in ("I", "C")
        and len(tree.args) == 1
    ):
        inner = ast.unparse(tree.args[0])
        return outcome_of(re.sub(r"_quoted\d+_", lambda found: f"`{known.get(found[0], found[0])}`", inner), book)
    if isinstance(tree, ast.Name):
        name = known.get(tree.id, tree.id)
        kind = book.usable(name)
        if isinstance(kind, Category):
            return levels_of(name, book)
    return parse(text, book)


class _Right:
    """The right side, token by token."""

    def __init__(self, book: Codebook, outcome: str, smooth: bool) -> None:
        self.book, self.outcome, self.smooth = book, outcome, smooth
        self.factors: dict[str, Factor] = {}
        self.smooths: list[tuple[str, ...]] = []

    def read(self, text: str) -> str:
        found, place = [], 0
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                if not text[place:].strip():
                    break
                rest = text[place:].lstrip()
                raise InputError(
                    f"{rest[0]!r} is not allowed in a formula, as in {short(rest)}: terms are joined by + - : * / ^ and "
                    "parentheses; put comparisons into I(...), odd names into `backticks`."
                )
            place = token.end()
            if token["name"] and (dotted := _DOTTED.match(text, place)):
                raise InputError(_about_dots(token["name"], dotted["rest"], bool(dotted["call"])))
            if token["name"] and text[place : place + 1] == "(":
                end = _closing(text, place)
                found.append(self._call(token["name"], text[place + 1 : end]))
                place = end + 1
            elif token["name"] or token["quoted"]:
                found.append(self._column(token["name"] or token["quoted"][1:-1]))
            elif token["number"]:
                if int(token["number"][:6]) > 1 and not (found and found[-1] in ("**", "^")):
                    raise InputError("numbers among terms are 0 and 1, for the intercept; constants stand in I(...).")
                if int(token["number"][:6]) > _MOST_DEGREE:
                    raise InputError(f"terms may be crossed at most {_MOST_DEGREE} times.")
                found.append(token["number"])
            elif token["operator"] == ".":
                found.append(self._all())
            else:
                found.append(token["operator"])
        return " ".join(found)

    def _column(self, name: str) -> str:
        if isinstance(self.book.usable(name), Category):
            return self._factor(levels_of(name, self.book))
        return self._factor(parse(f"`{name}`", self.book))

    def _all(self) -> str:
        """Every column that is not in the outcome and may be used."""
        used = set(outcome_of(self.outcome, self.book).columns)
        names = [n for n, kind in self.book.columns.items() if n not in used and not kind.blank and kind.kind != "text"]
        return f"({' + '.join(map(self._column, names))})" if names else "0"

    def _call(self, function: str, inside: str) -> str:
        if function in LEARNS:
            raise InputError(f"{function}() learns from the rows, which would not be private; {LEARNS[function]}.")
        if function == "factor":
            raise InputError(NO_FACTOR)
        if function == "I" or function in FUNCTIONS:
            found = parse(inside if function == "I" else f"{function}({inside})", self.book)
            return self._factor(replace(found, text=f"{function}({_spaced(inside)})", plain=False))
        call, known = named_syntax(f"f({inside})")
        arguments = {"C": self._levels, "poly": self._polynomial, "s": self._smooth}.get(function)
        if arguments is None or not isinstance(call, ast.Call):
            raise InputError(
                f"{function}() is not among what a formula may hold: I, C, poly, s (study.smooth), {', '.join(FUNCTIONS)}."
            )
        columns = [known.get(v.id, v.id) for v in call.args if isinstance(v, ast.Name)]
        return arguments(f"{function}({_spaced(inside)})", columns, call)

    def _levels(self, text: str, columns: list[str], call: ast.Call) -> str:
        """C(column), C(column, Treatment("reference"))."""
        if len(columns) != 1 or not isinstance(call.args[0], ast.Name) or len(call.args) > 2 or call.keywords:
            raise InputError("C takes a column and perhaps its reference: C(region), C(region, Treatment('north')).")
        factor = levels_of(columns[0], self.book, text)
        if len(call.args) == 2:
            factor = _with_reference(factor, call.args[1])
        return self._factor(factor)

    def _polynomial(self, text: str, columns: list[str], call: ast.Call) -> str:
        """poly(column, degree): Legendre's polynomials on the declared range, in [-1, 1] there."""
        degree = [v.value for v in (*call.args[1:], *(k.value for k in call.keywords)) if isinstance(v, ast.Constant)]
        keys = [k.arg for k in call.keywords]
        if len(columns) != 1 or len(degree) != 1 or len(call.args) + len(keys) != 2 or keys not in ([], ["degree"]):
            raise InputError("poly takes a column and a degree: poly(age, 3).")
        if type(degree[0]) is not int or not 1 <= degree[0] <= _MOST_DEGREE:
            raise InputError(f"the degree of poly must be a whole number from 1 to {_MOST_DEGREE}.")
        inner = parse(f"`{columns[0]}`", self.book)
        parts = [legendre(f"{text}[{k}]", inner, k) for k in range(1, degree[0] + 1)]
        return f"({' + '.join(map(self._factor, parts))})"

    def _smooth(self, text: str, columns: list[str], call: ast.Call) -> str:
        if not self.smooth:
            raise InputError("s() is for study.smooth; in other models write poly(column, 3).")
        if not columns or len(columns) != len(call.args) or call.keywords or len(columns) > 2:
            raise InputError("s takes one column, or two: s(age), s(age, wage).")
        for name in columns:
            if not self.book.usable(name).numeric:
                raise InputError(f"s({name}) needs a number; a Category is a term of its own: + {name}.")
        self.smooths.append(tuple(columns))
        return "0"

    def _factor(self, factor: Factor) -> str:
        """The placeholder of a factor; the same factor has the same one."""
        self.factors.setdefault(factor.text, factor)
        return f"v{list(self.factors).index(factor.text)}"


def design(formula: Formula) -> Design:
    """The columns of the right side, from a table without rows."""
    try:
        import pandas
        from formulaic import Formula as Algebra
    except ModuleNotFoundError:
        raise InputError("formulas need formulaic and pandas; install them with: pip install 'eptr[study]'.") from None
    levels = {f"v{k}": f for k, f in enumerate(formula.factors)}
    empty = {
        name: pandas.Categorical([], categories=range(len(f.names)))
        if isinstance(f, Levels)
        else pandas.Series(dtype=float)
        for name, f in levels.items()
    }
    try:
        spec = Algebra(formula.right).get_model_matrix(pandas.DataFrame(empty), context={}).model_spec
        learned, structure = spec.transform_state, spec.structure
    except Exception:  # of another library, about placeholders alone
        raise InputError(f"the right side is not a sum of terms; {_misplaced(formula)}.") from None
    if learned:
        raise InputError("the formula would learn from the rows; this is a fault of eptr, please report it.")
    columns = [column for term in structure for scoped in term.scoped_terms for column in _columns(scoped, levels)]
    named = tuple(column for column in columns if column.parts)
    for column in named:
        one_range(
            f"the range of {column.name}, which follows from the codebook,", (column.range.low, column.range.high)
        )
    if len(named) > MOST_COLUMNS:
        raise InputError(f"the formula has {len(named)} columns; at most {MOST_COLUMNS} are fitted.")
    if not named:
        raise InputError("formula must have a term after the ~ besides the intercept; study.mean gives a mean alone.")
    return Design(named, len(named) < len(columns))


def _misplaced(formula: Formula) -> str:
    """Where two terms, or two operators, stand beside each other."""
    before, text = "", ""
    for token in (*_PIECES.findall(formula.right), ""):
        named = short(formula.factors[int(token[1:])].text) if token[:1] == "v" else repr(token) if token else "the end"
        if before and token != "(" and _joins(before) and token in ("", ":", "*", "/", "^", "**", ")"):
            return f"a term is missing between {text} and {named}"
        if before and not _joins(before) and (token == "(" or token[:1].isalnum()):
            return f"an operator, such as +, is missing between {text} and {named}"
        before, text = token, named
    return "check operators and parentheses"


def _joins(token: str) -> bool:
    """Whether a term must follow."""
    return token == "(" or not (token == ")" or token[0].isalnum())


def _about_dots(before: str, name: str, called: bool) -> str:
    """A prefix of a function, or a name of R's."""
    if called and name == "factor":
        return NO_FACTOR
    if called:
        return f"functions go without a prefix: write {name}(...)."
    return f"a name with a dot goes into backticks: `{before}.{name}`."


def _columns(scoped: Any, levels: Mapping[str, Factor]) -> Iterator[Column]:
    """Products of factors, every level of one with every level of the others; the first level is left out if ``reduced``."""
    choices: list[list[tuple[Factor, int, str]]] = []
    for part in scoped.factors:
        factor = levels[part.factor.expr]
        if isinstance(factor, Levels):
            first, mark = int(part.reduced), "T." if part.reduced else ""
            choices.append(
                [(factor, k, f"{factor.text}[{mark}{factor.names[k]}]") for k in range(first, len(factor.names))]
            )
        else:
            choices.append([(factor, -1, factor.text)])
    for chosen in product(*reversed(choices)):
        parts = chosen[::-1]
        yield Column(":".join(name for *_, name in parts), tuple((factor, k) for factor, k, _ in parts))


def _with_reference(factor: Levels, node: ast.expr) -> Levels:
    value = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
    if isinstance(node, ast.Call) and not node.args and [k.arg for k in node.keywords] == ["reference"]:
        value = node.keywords[0].value
    treated = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Treatment"
    if not treated or not isinstance(value, ast.Constant):
        raise InputError("the second argument of C is its reference: C(region, Treatment('north')).")
    if str(value.value) not in factor.names:
        raise InputError(f"the reference of C({factor.column}) is not a level that the codebook declares.")
    first = factor.names.index(str(value.value))
    order = [first, *(k for k in range(len(factor.names)) if k != first)]
    return replace(factor, names=tuple(factor.names[k] for k in order), codes=tuple(factor.codes[k] for k in order))


def _closing(text: str, start: int) -> int:
    """Where the parenthesis at ``start`` is closed; quotes and backticks are skipped."""
    depth, quote = 0, ""
    for place in range(start, len(text)):
        char = text[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return place
    raise InputError("the formula has a parenthesis or a quotation mark that is not closed.")


def _spaced(text: str) -> str:
    """As Python would write it, so that two ways of writing a factor are one."""
    tree, names = named_syntax(f"f({text})")
    plain = ast.unparse(tree)[2:-1]
    for alias, name in names.items():
        plain = plain.replace(alias, name)
    return plain
