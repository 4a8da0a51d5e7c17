"""Runs the mutants, prints survivors and writes results/mutants.csv."""

from __future__ import annotations

import argparse
import csv
import functools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from .carriers import ROOT, SOURCE, carriers
from .operators import Mutant, mutants_of
from .selection import chosen, dangerous, equivalents
from .trials import LIMIT, Tests, parallel, trial, warm

RESULTS = ROOT / "results" / "mutants.csv"
COLUMNS = ["file", "line", "text", "operator", "change", "noticed_by", "seconds"]


def run(mutants: list[Mutant], tests: Tests) -> Iterator[tuple[Mutant, str, float]]:
    """What noticed each mutant, "" for a survivor, and in how many seconds."""
    starts: dict[Mutant, float] = {}

    def job(mutant: Mutant):
        starts[mutant] = time.perf_counter()
        return trial, mutant, tests.plan(mutant)

    for mutant, by in parallel({m: functools.partial(job, m) for m in mutants}, 20.0 * LIMIT):
        by = "out of time or memory" if by is None else by
        if "::" in by and by not in tests.noticed[mutant.path]:
            tests.noticed[mutant.path].append(by)
        yield mutant, by, time.perf_counter() - starts[mutant]


def known_guards() -> dict[tuple[str, str, str], str]:
    """Which test noticed a mutant when all were run."""
    with RESULTS.open(newline="") as file:
        return {(Path(r["file"]).name, r["text"], r["change"]): r["noticed_by"] for r in csv.DictReader(file)}


def run_dangerous() -> int:
    """The most dangerous, each against the one test that noticed it; how many it does not notice any more."""
    guards, mutants = known_guards(), [m for path in carriers() for m in dangerous(path)]
    tests = {m: guards.get(m.key, "") for m in mutants}
    jobs = {m: (trial, m, [(test.partition("::")[0], {test: 5.0})]) for m, test in tests.items() if test}
    noticed = {mutant for mutant, by in parallel(jobs, 20.0 * LIMIT) if by != ""}
    for mutant in (m for m in mutants if m not in noticed):
        print(f"not noticed by {tests[mutant] or 'any known test'}: {mutant.path.name}:{mutant.line}  {mutant.change}")
    print(f"{len(noticed)} of {len(mutants)} noticed")
    return len(mutants) - len(noticed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="files whose path holds this; results are not saved")
    parser.add_argument("--all", action="store_true", help="every replacement of every operator, some 3,000; not saved")
    parser.add_argument(
        "--dangerous", action="store_true", help="the most dangerous alone, against the tests that are known"
    )
    options = parser.parse_args()
    warm()
    if options.dangerous:
        sys.exit(run_dangerous())
    paths = [p for p in carriers() if options.only in str(p.relative_to(SOURCE))]
    known = equivalents()
    mutants = [m for p in paths for m in (mutants_of if options.all else chosen)(p) if m.key not in known]
    print(f"{len(mutants)} mutants of {len(paths)} files; learning which test enters what", flush=True)
    tests, rows = Tests(paths), []
    for mutant, by, seconds in run(mutants, tests):
        place = str(mutant.path.relative_to(SOURCE))
        rows.append([place, mutant.line, mutant.text, mutant.operator, mutant.change, by, f"{seconds:.1f}"])
        if not by:
            print(f"survived: {place}:{mutant.line}  {mutant.operator}: {mutant.change}", flush=True)
    survivors = sum(not row[5] for row in rows)
    print(f"{len(rows) - survivors} of {len(rows)} noticed, {survivors} survived, {len(known)} equivalent")
    if not options.only and not options.all:
        with RESULTS.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *sorted(rows)])
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()
