"""Changed code in a running process: functions get it in place, or the package is imported anew."""

from __future__ import annotations

import ast
import functools
import gc
import importlib.machinery
import importlib.util
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path


@functools.cache
def functions() -> dict[str, list[types.FunctionType]]:
    """Every function there is, by the file of its code."""
    found = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType):
            found[one.__code__.co_filename].append(one)
    return found


def exchange(path: Path, tree: ast.Module) -> bool:
    """Give the file's live functions the code of a changed tree; False if that is not all that changes."""
    old, new = (_codes(compile(source, str(path), "exec")) for source in (path.read_text(), tree))
    changed = False
    for function in functions()[str(path)]:
        name = function.__code__.co_qualname, function.__code__.co_firstlineno
        if name in new and new[name] != old[name]:
            if new[name].co_freevars != function.__code__.co_freevars:
                return False
            function.__code__, changed = new[name], True
    forget_caches()
    return changed


def _codes(module: types.CodeType) -> dict[tuple[str, int], types.CodeType]:
    def walk(code: types.CodeType) -> Iterator[types.CodeType]:
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                yield inner
                yield from walk(inner)

    return {(code.co_qualname, code.co_firstlineno): code for code in walk(module)}


def forget_caches() -> None:
    """What was computed before would keep a test from entering a function."""
    for name, module in list(sys.modules.items()):
        if name.startswith("eptr."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and getattr(value, "__module__", "").startswith("eptr."):
                    value.cache_clear()


def import_anew(module: str, path: Path, tree: ast.Module) -> None:
    """Forget the package and its tests; the next import of the module takes the tree."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("eptr", "tests"):
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder(module, path, tree))


class _Weakened(importlib.machinery.SourceFileLoader):
    """Loads a module from a tree instead of its file."""

    tree: ast.Module

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")


class _Finder:
    def __init__(self, module: str, path: Path, tree: ast.Module) -> None:
        self.module, self.loader = module, _Weakened(module, str(path))
        self.loader.tree = tree

    def find_spec(self, name, path=None, target=None):
        if name == self.module:
            return importlib.util.spec_from_file_location(name, self.loader.path, loader=self.loader)
        return None
