"""Runs the mutants, prints survivors and writes results/mutants.csv."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator

from .carriers import ROOT, carriers
from .forks import parallel
from .learning import Guards
from .operators import Mutant, mutants_of
from .selection import chosen, dangerous, equivalents
from .trials import LIMIT, Session, guards, trial, with_tests

RESULTS = ROOT / "results" / "mutants.csv"
COLUMNS = ["file", "line", "text", "operator", "change", "noticed_by", "seconds"]


def results() -> dict[tuple[str, str, str], list[str]]:
    """What is known of mutants, by file, line and change."""
    with RESULTS.open(newline="") as file:
        return {(r[0], r[2], r[4]): r for r in csv.reader(file) if r != COLUMNS}


def write(rows: Iterable[list[str]]) -> None:
    with RESULTS.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *sorted(rows, key=lambda row: (row[0], int(row[1])))])


def run(session: Session, mutants: list[Mutant], tests: Guards, until: float) -> Iterator[tuple[Mutant, list[str]]]:
    """The row of each mutant in the table."""
    starts: dict[Mutant, float] = {}

    def jobs():
        for mutant in mutants:
            starts[mutant] = time.monotonic()
            yield mutant, trial, session, mutant, tests.plan(mutant)

    for mutant, by in parallel(jobs(), 50.0 * LIMIT, until):
        by = "out of time or memory" if by is None else by
        tests.notice(mutant, by)
        took = f"{time.monotonic() - starts[mutant]:.1f}"
        yield mutant, [mutant.file, str(mutant.line), mutant.text, mutant.operator, mutant.change, by, took]


def run_all(options: argparse.Namespace, session: Session) -> int:
    """All that are chosen, or those that are left; how many survived or are still left."""
    until = time.monotonic() + options.seconds
    known, before = equivalents(), {} if options.anew else results()
    mutants = [m for p in carriers() for m in (mutants_of if options.all else chosen)(p) if m.key not in known]
    rows = {m.key: before[m.key] for m in mutants if m.key in before}
    wanted = [m for m in mutants if options.only in m.file and not rows.get(m.key, [""] * 6)[5]]
    if not options.all:
        write(rows.values())
    print(f"{len(wanted)} of {len(mutants)} mutants to try", flush=True)
    tests = Guards(session, carriers(), until)
    for mutant, row in run(session, sorted(wanted, key=lambda m: m.key in rows), tests, until):
        rows[mutant.key] = row
        if not options.all:  # at once: whoever stops this loses nothing, and two may work on it
            write({**results(), mutant.key: row}.values())
        if not row[5]:
            print(f"survived: {mutant.file}:{mutant.line}  {mutant.operator}: {mutant.change}", flush=True)
    survivors, untried = sum(not row[5] for row in rows.values()), len(mutants) - len(rows)
    print(f"{len(rows) - survivors} noticed, {survivors} survived, {untried} left, {len(known)} equivalent")
    return survivors + untried


def run_dangerous() -> int:
    """The most dangerous, each against the one test that noticed it; how many it does not notice any more."""
    mutants, known = [m for path in carriers() for m in dangerous(path)], results()
    tests = {m: known[m.key][5] if m.key in known else "" for m in mutants}

    def work(session: Session) -> int:
        jobs = ((m, trial, session, m, [(test, 30.0)]) for m, test in tests.items() if test)
        noticed = {mutant for mutant, by in parallel(jobs, 50.0 * LIMIT) if by != ""}
        for mutant in (m for m in mutants if m not in noticed):
            print(f"not noticed by {tests[mutant] or 'any known test'}: {mutant.file}:{mutant.line}  {mutant.change}")
        print(f"{len(noticed)} of {len(mutants)} noticed")
        return len(mutants) - len(noticed)

    return with_tests(sorted({test for test in tests.values() if test}), work).answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--all", action="store_true", help="every replacement of every operator; not saved")
    parser.add_argument("--anew", action="store_true", help="also those that results/mutants.csv says are noticed")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then stop; the next run goes on")
    parser.add_argument("--dangerous", action="store_true", help="the most dangerous, against the tests that are known")
    options = parser.parse_args()
    if options.dangerous:
        sys.exit(run_dangerous())
    sys.exit(with_tests(guards(), lambda session: run_all(options, session)).answer != 0)


if __name__ == "__main__":
    main()
