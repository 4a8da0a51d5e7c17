"""Runs the mutants, prints survivors and writes results/mutants.csv."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator

from .carriers import ROOT, WHOLE, carriers
from .forks import parallel
from .learning import Guards
from .operators import Mutant, mutants_of
from .selection import chosen, dangerous, equivalents
from .trials import LIMIT, Plan, Session, guards, remembered, trial, with_tests

RESULTS = ROOT / "results" / "mutants.csv"
COLUMNS = ["file", "line", "text", "operator", "change", "noticed_by", "seconds"]


def results() -> dict[tuple[str, str, str], list[str]]:
    """What is known of mutants, by file, line and change."""
    with RESULTS.open(newline="") as file:
        return {(r[0], r[2], r[4]): r for r in csv.reader(file) if r != COLUMNS}


def noticed(rows: dict[tuple[str, str, str], list[str]], mutant: Mutant) -> str:
    """The test that noticed a mutant, by what is known."""
    return rows[mutant.key][5] if mutant.key in rows else ""


def write(rows: Iterable[list[str]]) -> None:
    new = RESULTS.with_suffix(".new")
    with new.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *sorted(rows, key=lambda row: (row[0], int(row[1])))])
    new.replace(RESULTS)  # at once: whoever stops this loses nothing


def run(session: Session, plans: Iterable[tuple[Mutant, Plan]], until: float) -> Iterator[tuple[Mutant, list[str]]]:
    """The row of each mutant in the table. Plans are made when their trial starts."""
    starts: dict[Mutant, float] = {}

    def jobs():
        for mutant, plan in plans:
            starts[mutant] = time.monotonic()
            yield mutant, trial, session, mutant, plan

    for mutant, by in parallel(jobs(), 50.0 * LIMIT, until):
        by = "out of time or memory" if by is None else by
        took = f"{time.monotonic() - starts[mutant]:.1f}"
        yield mutant, [mutant.file, str(mutant.line), mutant.text, mutant.operator, mutant.change, by, took]


def run_all(options: argparse.Namespace, session: Session) -> int:
    """Each mutant meets the test that noticed it before, and if there is none, all that execute it; how many are left."""
    until, excused = time.monotonic() + options.seconds, equivalents()
    mutants = [m for p in carriers() for m in (mutants_of if options.all else chosen)(p) if m.key not in excused]
    rows = {m.key: row for m in mutants if (row := results().get(m.key))}
    there = {*session.items, *(test.partition("::")[0] for test in session.items)}

    def settled(mutant: Mutant) -> bool:
        """Whether it was noticed, by a test that is still there."""
        by = noticed(rows, mutant)
        return bool(by) and ("tests/" not in by or remembered(by)[0] in there)

    wanted = [m for m in mutants if options.only in m.file and not (options.left and settled(m))]
    print(f"{len(wanted)} of {len(mutants)} mutants to try", flush=True)

    def tried(plans: Iterable[tuple[Mutant, Plan]]) -> Iterator[tuple[Mutant, str]]:
        for mutant, row in run(session, plans, until):
            rows[mutant.key] = row
            if not options.all:
                write(rows.values())
            yield mutant, row[5]

    for _ in tried((m, [remembered(noticed(rows, m))]) for m in wanted if "tests/" in noticed(rows, m)):
        pass
    if unknown := [m for m in wanted if "tests/" not in noticed(rows, m)]:
        tests = Guards(session, carriers(), until)
        for mutant in mutants:
            tests.notice(mutant, noticed(rows, mutant))
        patience = {m: 4.0 * LIMIT if m.key in rows else LIMIT for m in unknown}  # longer for who survived before
        unknown.sort(key=lambda m: (patience[m], not m.file.startswith(WHOLE)))
        for mutant, by in tried((m, tests.plan(m, patience[m])) for m in unknown):
            tests.notice(mutant, by)
            if not by:
                print(f"survived: {mutant.file}:{mutant.line}  {mutant.operator}: {mutant.change}", flush=True)
    survivors, untried = sum(not row[5] for row in rows.values()), len(mutants) - len(rows)
    print(f"{len(rows) - survivors} noticed, {survivors} survived, {untried} left, {len(excused)} equivalent")
    return survivors + untried


def run_dangerous() -> int:
    """The most dangerous, each against the one test that noticed it; how many it does not notice any more."""
    mutants, known = [m for path in carriers() for m in dangerous(path)], results()
    tests = {m: remembered(noticed(known, m)) for m in mutants}

    def work(session: Session) -> int:
        jobs = ((m, trial, session, m, [test]) for m, test in tests.items() if test[0])
        found = {mutant for mutant, by in parallel(jobs, 50.0 * LIMIT) if by != ""}
        for m in (m for m in mutants if m not in found):
            print(f"not noticed by {tests[m][0] or 'any known test'}: {m.file}:{m.line}  {m.change}")
        print(f"{len(found)} of {len(mutants)} noticed")
        return len(mutants) - len(found)

    return with_tests(sorted({test for test, _ in tests.values() if test}), work).answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--all", action="store_true", help="every replacement of every operator; not saved")
    parser.add_argument("--left", action="store_true", help="those that no test is known to notice")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then stop; --left goes on")
    parser.add_argument("--dangerous", action="store_true", help="the most dangerous, against the tests that are known")
    options = parser.parse_args()
    if options.dangerous:
        sys.exit(run_dangerous())
    sys.exit(with_tests(guards(), lambda session: run_all(options, session)).answer != 0)


if __name__ == "__main__":
    main()
