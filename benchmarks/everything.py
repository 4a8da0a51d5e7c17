"""Every table of results/, one command after the other, with what made it and how long it took: `make results`.

`make results ONLY="bench-stats compare"` runs some; QUICK=1 shortens simulations. A command that fails is noted, and the
next one runs. results/versions.csv has a line for each.
"""

from __future__ import annotations

import csv
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version

from .pictures import main as draw_pictures
from .tables import RESULTS, ROOT

# Short ones first; those with real data need EPTR_DATA_HOME.
TARGETS = (
    "bench",
    "bench-sensitivity",
    "bench-study",
    "bench-speed",
    "bench-scale",
    "bench-stats",
    "bench-quantiles",
    "bench-accuracy",
    "bench-coverage",
    "bench-logistic",
    "bench-smooth",
    "bench-suite",
    "bench-real",
    "compare",
    "peers",
    "reproduction",
)
APART = ("bench-gpu", "choose-defaults", "mutants", "soak")  # a GPU, choices that are made once, tests of tests
PACKAGES = ("eptr", "numpy", "scipy", "scikit-learn", "opendp")
HEADER = ("command", "day", "seconds", "exit", "commit", "python", *PACKAGES, "cores")


def stamp(command, seconds, code):
    """The line of a command, in place of its older one."""
    path = RESULTS / "versions.csv"
    kept = {}
    if path.exists():
        with path.open(newline="") as file:
            kept = {row["command"]: row for row in csv.DictReader(file)}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    words = [command, time.strftime("%Y-%m-%d"), f"{seconds:.0f}", code, commit.strip(), platform.python_version()]
    kept[command] = dict(zip(HEADER, [*words, *map(version, PACKAGES), os.cpu_count()], strict=True))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[name] for name in (*TARGETS, *APART) if name in kept)


def main():
    for command in sys.argv[1:] or TARGETS:
        start = time.perf_counter()
        print(f"\n=== make {command}", flush=True)
        code = subprocess.run(["make", command], cwd=ROOT).returncode
        stamp(command, time.perf_counter() - start, code)
    draw_pictures()


if __name__ == "__main__":
    main()
