"""make coverage: how much of each room the fast tests run, after a run that left build/coverage.json."""

from __future__ import annotations

import json

from .tables import ROOT, show

COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def main():
    rooms = {}
    for path, file in json.loads((ROOT / "build" / "coverage.json").read_text())["files"].items():
        room = path.partition("src/eptr/")[2].rpartition("/")[0] or "(files of no room)"
        totals = rooms.setdefault(room.partition("/")[0], dict.fromkeys(COUNTS, 0))
        for count in COUNTS:
            totals[count] += file["summary"][count]
    rooms = dict(sorted(rooms.items()))
    rooms["all"] = {count: sum(totals[count] for totals in rooms.values()) for count in COUNTS}
    rows = []
    for room, totals in rooms.items():
        statements, lines, branches, taken = (totals[count] for count in COUNTS)
        rows.append([room, statements, branches, f"{100 * (lines + taken) / max(statements + branches, 1):.1f}"])
    show("What the fast tests run", ["room", "statements", "branches", "% run"], rows, "coverage")


if __name__ == "__main__":
    main()
