"""Many processes charge one ledger while a killer sends them SIGKILL: what was released must be in the ledger.

``python -m tests.accounting.soak`` (``make soak``) runs the long form on SQLite and on PostgreSQL and prints a table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import tempfile
import time
from pathlib import Path

from benchmarks.tables import show

from eptr import BudgetError, Ledger
from eptr.privacy.claim import Cost

from . import postgres

EPSILON = 2.0**-10
COST = Cost(EPSILON, 1e-12, "basic", 0.0)


def work(url, path):
    """Charge until the budget is gone; after each charge write down, durably, what was 'released'."""
    ledger = Ledger(url)
    with open(path, "a") as released:
        while True:
            try:
                entry = ledger.charge(COST, private=True, what="soak")
            except BudgetError:
                return
            released.write(f"{entry.number:07d}\n")  # eight bytes: the killer counts them by file size
            released.flush()
            os.fsync(released.fileno())


def soak(url, charges, kills, workers=16, seed=0):
    """Run it; return (entries, released, kills, seconds) after checking every promise."""
    ledger, rng, context = Ledger(url), random.Random(seed), multiprocessing.get_context("fork")
    ledger.create("soak", epsilon=charges * EPSILON, delta=charges * 2e-12)
    account = f"{url}#soak"
    folder = Path(tempfile.mkdtemp())
    started, crew, killed = time.perf_counter(), {}, 0

    def hire(k):
        crew[k] = context.Process(target=work, args=(account, folder / f"worker-{k}"))
        crew[k].start()

    for k in range(workers):
        hire(k)
    # The victims are spread over the run by its own progress, not by a clock.
    targets = sorted(rng.randrange(charges * 9 // 10) for _ in range(kills))
    while any(p.is_alive() for p in crew.values()):
        done = _count(folder)
        while targets and done >= targets[0]:
            targets.pop(0)
            victim = rng.choice(sorted(crew))
            crew[victim].kill()
            crew[victim].join()
            killed += 1
            hire(victim)
        for process in crew.values():
            process.join(timeout=0.002)
    seconds = time.perf_counter() - started
    assert all(p.exitcode == 0 for p in crew.values()), [p.exitcode for p in crew.values()]
    released = [int(line) for path in folder.iterdir() for line in path.read_text().split()]
    entries = ledger.history("soak")[1:]
    ledger.verify("soak")
    assert len(released) == len(set(released)), "two releases share one entry"
    assert set(released) <= {e.number for e in entries}, "a release is missing from the ledger"
    assert [e.number for e in entries] == list(range(1, len(entries) + 1)), "an entry is lost"
    assert killed == kills
    assert len(entries) == charges, "the ledger admitted another number of charges than its total allows"
    assert len(entries) - len(released) <= killed, "more was wasted than there were kills"
    return len(entries), len(released), killed, seconds


def _count(folder):
    return sum(path.stat().st_size for path in folder.iterdir()) // 8


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charges", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=500)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, postgres.server() as (team, _):
        for name, url in (("SQLite", f"sqlite:///{folder}/budget.db"), ("PostgreSQL", team)):
            entries, released, killed, seconds = soak(url, options.charges, options.kills)
            rows.append([name, entries, released, killed, 0, round(seconds)])
    header = ["database", "charges admitted by the total", "noted as released", "kill -9", "lost entries", "seconds"]
    show("Many processes, one ledger, and a killer", header, rows, "soak")


if __name__ == "__main__":
    main()
