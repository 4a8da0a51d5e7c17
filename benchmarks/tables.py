"""Printing and saving of benchmark tables."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "results"


def show(title, header, rows, name=None):
    """Print a table; with ``name`` also save results/NAME.csv."""
    text = [[f"{c:.4g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in text)) for i, h in enumerate(header)]
    print(f"\n{title}")
    print("  ".join(h.rjust(w) for h, w in zip(header, widths, strict=True)))
    for r in text:
        print("  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)))
    if name:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *text])


def progress(items, label):
    """Count through ``items`` on standard error."""
    items = list(items)
    for i, item in enumerate(items):
        if sys.stderr.isatty():
            print(
                f"\r{label} {i + 1}/{len(items)}", end="\n" if i + 1 == len(items) else "", file=sys.stderr, flush=True
            )
        yield item
