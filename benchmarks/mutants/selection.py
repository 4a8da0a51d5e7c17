"""Which mutants: all of a file, one or two of every line, or the most dangerous."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

from .carriers import SOURCE
from .operators import Mutant, mutants_of

KNOWN = Path(__file__).with_name("known.toml")
DECISIONS = ("statement", "rung", "comparison", "branch")
RANK = {name: k for k, name in enumerate((*DECISIONS, "result", "constant", "bound", "factor"))}


@functools.cache
def known(kind: str) -> list[dict[str, str]]:
    """Mutants that were given a place of their own."""
    return list(tomllib.loads(KNOWN.read_text())[kind])


def dangerous(path: Path) -> list[Mutant]:
    """Those of one file that `make test` runs; an error if a line is not there any more."""
    found, file = [], str(path.relative_to(SOURCE))
    for one in (one for one in known("dangerous") if one["file"] == file):
        fitting = [m for m in mutants_of(path) if m.text.startswith(one["line"]) and m.change == one["change"]]
        if not fitting:
            raise LookupError(f"{file} has no line {one['line']!r} with {one['change']!r} now: name its successor.")
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
    return {(one["file"], one["line"], one["change"]): one["why"] for one in known("equivalent")}
