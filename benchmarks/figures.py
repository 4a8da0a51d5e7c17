"""Figures in sentences: `python -m benchmarks.figures` writes them anew, from the tables under results/.

In a document, <!-- figure NAME: column where column = value and column = value -->...<!-- end --> holds one number of
results/NAME.csv with two digits, and of several rows the least and the largest ("3 to 8"). "column over column" is a quotient;
", 3 digits" and ", per cent" before the end of the mark say how it is written.
"""

from __future__ import annotations

import csv
import re

from . import tables

FIGURE = re.compile(
    r"(<!-- figure ([a-z_]+): (.+?)(?: where (.+?))?(?:, (\d) digits)?(, per cent)? -->).*?(<!-- end -->)",
    flags=re.DOTALL,
)


def with_figures(text):
    """A document with its marked figures as the results have them now."""

    def figure(match):
        opening, name, what, where, digits, percent, closing = match.groups()
        above, _, below = what.partition(" over ")
        found = [number(row[above]) / (number(row[below]) if below else 1.0) for row in chosen(name, where)]
        shown = [written(x * (100.0 if percent else 1.0), int(digits or 2)) for x in (min(found), max(found))]
        return opening + " to ".join(dict.fromkeys(shown)) + closing

    return FIGURE.sub(figure, text)


def chosen(name, where):
    """The rows of results/NAME.csv in which column = value, and so on."""
    wanted = [tuple(part.split(" = ")) for part in where.split(" and ")] if where else []
    with (tables.RESULTS / f"{name}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[key] == value for key, value in wanted)]
    if not rows:
        raise ValueError(f"results/{name}.csv has no row where {where}")
    return rows


def number(cell):
    """Of "mean (median)" the mean."""
    return float(cell.partition(" ")[0])


def written(x, digits):
    """A number with so many digits, without a leading zero, and without an exponent if it is of a usual size."""
    text = f"{x:.{digits}g}"
    if "e" in text and 1.0 <= abs(x) < 1e6:
        text = f"{float(text):,.0f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def main():
    for path in tables.documents():
        path.write_text(with_figures(path.read_text()))


if __name__ == "__main__":
    main()
