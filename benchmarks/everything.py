"""Every table of results/, with what made it and how long it took: `make results`, under three hours on two cores.

Commands that use one core run two at a time, those that use both one after the other, and those that measure time alone, at
the end. What the code behind a command has finished already is left out, so an interrupted run goes on, and a change of one
folder costs the commands that read it; `make results ONLY="bench-stats compare"` runs some anyway. A command that fails is
noted, and the next one runs. results/versions.csv has a line for each, and results/README.md is told what has changed since.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import os
import platform
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import version

from .figures import main as write_figures
from .pictures import main as draw_pictures
from .tables import RESULTS, ROOT

LINEAR, SMOOTH = ("estimators/*.py", "estimators/linear"), ("estimators/*.py", "estimators/additive")
# Command: the folders of src/eptr whose code decides what it prints. Real data need EPTR_DATA_HOME.
ONE_CORE = {
    "bench-smooth": (*SMOOTH, "estimators/kernel", "rivals"),
    "bench-study": ("study", *LINEAR),
    "bench-sensitivity": ("estimators",),
}
BOTH_CORES = {
    "bench-ranges": (*LINEAR, "stats"),
    "bench-mixed": LINEAR,
    "bench-monotone": (*LINEAR, "estimators/logistic", "estimators/bayes"),
    "bench-stats": ("stats", "rivals"),
    "bench-quantiles": ("stats", "privacy", "rivals"),
    "bench-suite": (*LINEAR, "rivals"),
    "bench-accuracy": (*LINEAR, "estimators/bayes", "estimators/kernel", "rivals"),
    "bench-coverage": LINEAR,
    "bench-logistic": ("estimators/*.py", "estimators/logistic"),
    "bench-real": (*LINEAR, "estimators/kernel", "rivals"),
    "compare": ("estimators", "rivals"),
    "peers": ("estimators", "rivals"),
    "reproduction": ("estimators", "rivals", "experiments"),
}
ALONE = {
    "bench": ("privacy",),
    "bench-speed": ("rows", "estimators"),
    "bench-scale": ("rows", "estimators"),
    "bench-times": SMOOTH,
}
TARGETS = ONE_CORE | BOTH_CORES | ALONE
APART = ("bench-gpu", "choose-defaults", "mutants", "soak")  # a GPU, choices that are made once, tests of tests
PACKAGES = ("eptr", "numpy", "scipy", "scikit-learn", "opendp")
HEADER = ("command", "day", "seconds", "exit", "commit", "code", "python", *PACKAGES, "cores")
_lock = threading.Lock()


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


@cache
def code(command):
    """What decides a command's numbers, as a short digest: its folders and its benchmarks, docstrings and comments aside."""
    paths = {p for f in TARGETS.get(command, ()) for p in (ROOT / "src/eptr").glob(f if "*" in f else f"{f}/**/*.py")}
    text = "".join(plain(p.read_text()) for p in sorted(paths | benchmarks_of(command)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def benchmarks_of(command):
    """The files of benchmarks/ that a command runs or imports."""
    recipe = re.search(rf"^{command}:.*\n((?:\t.*\n)*)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    left, found = (
        {name.replace(".", "/") for name in re.findall(r"benchmarks\.([\w.]+)", recipe[1] if recipe else "")},
        set(),
    )
    while left:
        path = ROOT / "benchmarks" / f"{left.pop()}.py"
        if path.exists() and path not in found:
            found.add(path)
            folder = path.parent.relative_to(ROOT / "benchmarks")
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.level:
                    at = folder.parent if node.level == 2 else folder
                    left |= {
                        str(at / name) for name in ([node.module] if node.module else [a.name for a in node.names])
                    }
    return found


@cache
def plain(text):
    """A program without its docstrings, comments and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            del node.body[0]
    return ast.dump(tree)


def stamps():
    """The lines of versions.csv by command."""
    path = RESULTS / "versions.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["command"]: row for row in csv.DictReader(file)}


def stamp(command, seconds, exit_code):
    """The line of a command, in place of its older one."""
    words = [
        command,
        time.strftime("%Y-%m-%d"),
        f"{seconds:.0f}",
        exit_code,
        git("rev-parse", "--short", "HEAD"),
        code(command),
    ]
    line = dict(zip(HEADER, [*words, platform.python_version(), *map(version, PACKAGES), os.cpu_count()], strict=True))
    with _lock:
        kept = stamps() | {command: line}
        with (RESULTS / "versions.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, HEADER, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept[name] for name in (*TARGETS, *APART) if name in kept)


def run(command):
    start = time.perf_counter()
    print(f"\n=== make {command}", flush=True)
    exit_code = subprocess.run(["make", command], cwd=ROOT).returncode
    stamp(command, time.perf_counter() - start, exit_code)


def changed(commit, folders):
    """The folders in which code is another than at a commit."""
    paths = git(
        "diff", "--name-only", commit, "--", *(f":(glob)src/eptr/{f}{'' if '*' in f else '/**'}" for f in folders)
    )
    found = set()
    for path in (ROOT / p for p in paths.split() if p.endswith(".py")):
        name = str(path.relative_to(ROOT))
        before, after = git("show", f"{commit}:{name}"), path.read_text() if path.exists() else ""
        if plain(before) != plain(after):
            found.add(os.path.dirname(name).removeprefix("src/eptr/"))
    return sorted(found)


def state(line):
    """A line of the list in results/README.md, its last cell saying when its tables were printed and what changed since."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    files = [p for name in re.findall(r"`([\w*]+(?:\.csv|/))`", cells[0]) for p in RESULTS.glob(name.rstrip("/"))]
    command = (re.findall(r"`make ([a-z-]+)`", cells[2]) or [""])[0]
    if command not in TARGETS or not (commits := {git("log", "-1", "--format=%h", "--", f) for f in files} - {""}):
        return line
    ages = sorted((git("log", "-1", "--format=%ad", "--date=format:%Y-%m-%d", c), c) for c in commits)
    again = stamps().get(command, {}).get("code") == code(command)  # the same numbers, so the file is an older one's
    since = [] if again else sorted({folder for c in commits for folder in changed(c, TARGETS[command])})
    printed = f"{ages[0][0]} ({ages[0][1]}); " + (f"since then changed: {', '.join(since)}" if since else "this code")
    return f"| {' | '.join([*cells[:3], printed])} |"


def tell():
    """results/README.md: of the files as they were committed."""
    page = RESULTS / "README.md"
    page.write_text(
        "\n".join(state(line) if line.startswith("| `") else line for line in page.read_text().splitlines()) + "\n"
    )


def main():
    asked = sys.argv[1:]
    if asked == ["--tell"]:
        return tell()
    if unknown := set(asked) - {*TARGETS, *APART}:
        raise SystemExit(
            f"ONLY names no command of ours: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}."
        )
    done = {name for name, line in stamps().items() if (line["exit"], line["code"]) == ("0", code(name))}
    chosen = asked or [name for name in TARGETS if name not in done]
    with ThreadPoolExecutor(2) as two:
        list(two.map(run, [name for name in chosen if name in ONE_CORE]))
    for name in chosen:
        if name not in ONE_CORE:
            run(name)
    write_figures()
    draw_pictures()
    tell()


if __name__ == "__main__":
    main()
