"""How much there is to read: statements by room, and what one fit calls. Run: python -m benchmarks.size [folder]"""

from __future__ import annotations

import ast
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import eptr

from .tables import show

HERE = Path(eptr.__file__).parent
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def statements(path: Path) -> int:
    """Of a file, docstrings aside."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    docstrings = sum(isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node) is not None for node in nodes)
    return sum(isinstance(node, ast.stmt) for node in nodes) - docstrings


def rooms(source: Path) -> dict[str, tuple[int, int]]:
    """Statements, and lines of the longest file."""
    counts, longest = Counter(), Counter()
    for path in source.rglob("*.py"):
        parts = path.relative_to(source).parts
        room = parts[0] if len(parts) > 1 else "(files of no room)"
        counts[room] += statements(path)
        longest[room] = max(longest[room], len(path.read_text().splitlines()))
    return {room: (counts[room], longest[room]) for room in sorted(counts)}


def called(run) -> tuple[int, int]:
    """Functions of ours, and files that they are in, that a call runs."""
    seen = set()

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HERE)) and code.co_name[0] != "<":
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(seen), len({file for file, _ in seen})


def main():
    found = rooms(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
    rows = [[room, *numbers] for room, numbers in found.items()]
    total = ["all", sum(count for count, _ in found.values()), max(lines for _, lines in found.values())]
    show("Statements", ["room", "statements", "longest file"], [*rows, total])
    X = np.random.default_rng(0).normal(size=(2_000, 3))
    models = [eptr.LinearRegression(x_bound=3.0, y_bound=3.0), eptr.LinearRegression(x_range=(-3, 3), y_range=(-3, 3))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            model.fit(X, X[:, 0])  # what is loaded on first use is loaded
        fits = [
            ["bounds", *called(lambda: models[0].fit(X, X[:, 0]))],
            ["ranges", *called(lambda: models[1].fit(X, X[:, 0]))],
        ]
    show("One fit of LinearRegression()", ["by", "functions", "files"], fits)


if __name__ == "__main__":
    main()
