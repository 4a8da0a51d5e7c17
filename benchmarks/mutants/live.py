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

Name = tuple[str, int]  # of code: qualified, and its first line


@functools.cache
def functions() -> dict[str, list[types.FunctionType]]:
    """Every function there is, by the file of its code."""
    found = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType):
            found[one.__code__.co_filename].append(one)
    return found


def changed(path: Path, tree: ast.Module) -> dict[Name, types.CodeType]:
    """The code of functions that are not the same in a changed tree of the file."""
    old, new = (_codes(compile(source, str(path), "exec")) for source in (path.read_text(), tree))
    return {name: code for name, code in new.items() if code != old.get(name)}


def exchange(path: Path, codes: dict[Name, types.CodeType]) -> bool:
    """Give the file's live functions other code; False if there are none that could take it."""
    done = False
    for function in functions()[str(path)]:
        code = codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None:
            if code.co_freevars != function.__code__.co_freevars:
                return False
            function.__code__, done = code, True
    forget_caches()
    return done


def _codes(module: types.CodeType) -> dict[Name, types.CodeType]:
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
