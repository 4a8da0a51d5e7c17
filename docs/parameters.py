"""Parameters that many functions share, described wherever they are used: a reference sends nobody elsewhere."""

from __future__ import annotations

import inspect
import re
from typing import Any

from numpydoc.docscrape import NumpyDocString

SHARED = {
    "epsilon": "float\n    The guarantee, for the whole answer; smaller is more private.",
    "delta": "float\n    The other half of the guarantee: far below 1/n.",
    "level": "float\n    How often intervals hold, each by itself.",
    "x": "array, list, series, table, path of Parquet files, or what Arrow, Dask or Spark have\n    The rows.",
    "q": "float or sequence of floats\n    Levels between 0 and 1.",
    "bounds": "(low, high), one pair per column, or {name: (low, high)}, which chooses columns\n"
    "    From what is known before seeing the data; values beyond are moved to them.",
    "by": "column of labels or its name, optional\n    By group, all in one release; the sizes of groups are private.",
    "levels": "list\n    The groups; required with ``by``: levels that are found in the data would tell which ones occur.",
    "step": "float, optional\n    Values are known to be multiples of it, such as 1 for whole numbers.",
    "neighbours": '{"replace-one", "zero-out"}\n    What must stay hidden: that one row is replaced by any other, or that it is '
    "dropped with the number of rows kept, a weaker promise at equal epsilon with less noise. Not every method has both.",
    "rows_per_person": "int, default 1\n    Rows one person may own; every sensitivity grows by this factor.",
    "invalid": '{"raise", "drop"}\n    What to do with rows that are not finite, or whose label is not declared: refuse, '
    "which is an answer that a ledger counts, or give them no weight, inside the guarantee.",
    "ledger": 'str or eptr.Ledger, optional\n    ``"sqlite:///budget.db#study"``: charged once, after the rows were checked and '
    "before noise is drawn.",
    "random_state": "None or seed\n    A seed makes the answer reproducible and **not private**.",
    "return_X_y": "bool\n    Return ``(data, target)`` instead of a Bunch.",
    "as_frame": "bool\n    Return a data frame and a series of pandas.",
}
KEYWORDS = ("neighbours", "rows_per_person", "invalid", "ledger", "random_state")  # of ``**shared`` in eptr.stats
ELSEWHERE = re.compile(
    r"^(\w+(?:, \w+)*)\n    As in (?:the estimators: docs/stats\.md|:(?:class|func):`[\w.]+`)\. ?(.*)$",
    flags=re.MULTILINE,
)


def entry(name: str) -> str:
    """A parameter in numpydoc's form."""
    return f"{name} : {SHARED[name]}"


def described(doc: str) -> set[str]:
    """The parameters and attributes that a docstring describes."""
    parsed = NumpyDocString(doc)
    sections = (*parsed["Parameters"], *parsed["Attributes"])
    return {name.strip(" *") for one in sections for name in one.name.split(",")}


def wanted(thing: Any) -> list[str]:
    """The parameters that somebody may pass, in order."""
    names: list[str] = []
    if isinstance(thing, type) and issubclass(thing, Exception):
        return names
    for name, parameter in inspect.signature(thing).parameters.items():
        shared = name == "shared" and parameter.kind is parameter.VAR_KEYWORD
        names += KEYWORDS if shared else [name]
    return [name for name in names if name not in ("_", "args", "kwargs")]


def complete(thing: Any, doc: str) -> str:
    """A docstring that sends nobody elsewhere: what it leaves to another one, or leaves out, said in place."""

    def here(match: re.Match[str]) -> str:
        names, more = match[1].split(", "), match[2]
        return "\n".join(map(entry, names)) + (f" {more}" if more else "")

    doc = ELSEWHERE.sub(here, doc)
    left = [name for name in wanted(thing) if name in SHARED and name not in described(doc)]
    if not left:
        return doc
    new = "\n".join(map(entry, left))
    heading = re.search(r"^Parameters\n-+\n", doc, flags=re.MULTILINE)
    if heading:
        end = re.compile(r"\n\n(?=\w[^\n]*\n---)|\Z").search(doc, heading.end())
        return f"{doc[: end.start()].rstrip()}\n{new}\n{doc[end.start() :]}"
    place = re.compile(r"\n\n(?=\w[^\n]*\n---)|\Z").search(doc).start()
    return f"{doc[:place].rstrip()}\n\nParameters\n----------\n{new}\n{doc[place:]}"
