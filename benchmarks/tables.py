"""Printing and saving of benchmark tables."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
# In a Markdown file, <!-- table NAME --> ... <!-- end --> holds results/NAME.csv as the command that made it wrote it;
# <!-- table NAME: column | column where column = value and column = value --> holds some columns and rows, with two digits,
# or ", as printed" before the end of the mark.
MARKED = re.compile(
    r"(<!-- table ([a-z_]+)(?:: (.+?)(?: where (.+?))?(, as printed)?)? -->\n).*?(<!-- end -->)", flags=re.DOTALL
)


def show(title, header, rows, name=None):
    """Print a table; with ``name`` also save results/NAME.csv."""
    text = [[_text(cell) for cell in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in text)) for i, h in enumerate(header)]
    print(f"\n{title}")
    print("  ".join(h.rjust(w) for h, w in zip(header, widths, strict=True)))
    for r in text:
        print("  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)))
    if name:
        _save(name, header, text)
        publish()


def kept(name, header, row, keys):
    """The rows of results/NAME.csv with this one in the place of one with the same first cells, or at the end; saved."""
    path, told = RESULTS / f"{name}.csv", {}
    if path.exists():
        with path.open(newline="") as file:
            told = {tuple(old[:keys]): old for old in list(csv.reader(file))[1:]}
    text = [_text(cell) for cell in row]
    told[tuple(text[:keys])] = text
    _save(name, header, told.values())
    return list(told.values())


def _save(name, header, text):
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *text])


def documents():
    """Every Markdown file that may show a table."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def with_tables(text):
    """A document with its marked tables as the results have them now."""

    def table(match):
        opening, name, chosen, where, printed, closing = match.groups()
        wanted = [tuple(part.split(" = ")) for part in where.split(" and ")] if where else []
        with (RESULTS / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        columns = chosen.split(" | ") if chosen else list(rows[0])
        lines = [
            [row[c] if chosen is None or printed else _short(row[c]) for c in columns]
            for row in rows
            if all(row[key] == value for key, value in wanted)
        ]
        lines = [columns, ["---"] * len(columns), *lines]
        return opening + "".join(f"| {' | '.join(line)} |\n" for line in lines) + closing

    return MARKED.sub(table, text)


def _text(cell):
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _short(cell):
    """A number as people write it: counts whole, others with two digits and without a leading zero; else as it is."""
    if cell.isdigit():
        return f"{int(cell):,}"
    try:
        value = float(cell)
    except ValueError:
        return cell
    text = f"{value:.2g}"
    if 100.0 <= abs(value) < 1e9:
        return f"{float(text):,.0f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def publish():
    """Write the marked tables of all documents anew."""
    for path in documents():
        before = path.read_text()
        after = with_tables(before)
        if after != before:
            part = path.with_suffix(".part")  # another command may be reading it
            part.write_text(after)
            part.replace(path)


def progress(items, label):
    """Count through ``items`` on standard error."""
    items = list(items)
    for i, item in enumerate(items):
        if sys.stderr.isatty():
            print(
                f"\r{label} {i + 1}/{len(items)}", end="\n" if i + 1 == len(items) else "", file=sys.stderr, flush=True
            )
        yield item
