"""Work in children of this process, as many at a time as there are cores."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import time

WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _forked(work, *arguments):
    """Start ``work`` in a child; returns its pid and the pipe its pickled answer comes through."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    os.close(reading)
    os.setsid()
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    try:
        answer = work(*arguments)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def parallel(jobs, limit: float, until: float = float("inf")):
    """(name, answer) of each job as it ends; None for one that died, "" for one that takes longer than ``limit``.

    Jobs are made when they start, so that later ones profit from what earlier ones found; none starts after ``until``.
    """
    waiting, running = iter(jobs), {}
    while True:
        while len(running) < WORKERS and time.monotonic() < until and (job := next(waiting, None)) is not None:
            name, *work = job
            running[name] = *_forked(*work), time.perf_counter()
        if not running:
            return
        ready = select.select([pipe for _, pipe, _ in running.values()], [], [], 1.0)[0]
        for name, (pid, pipe, start) in list(running.items()):
            over = time.perf_counter() - start > limit
            if pipe not in ready and not over:
                continue
            answer = "" if over else None
            with os.fdopen(pipe, "rb") as stream:
                if over:
                    os.killpg(pid, signal.SIGKILL)
                else:
                    with contextlib.suppress(EOFError):  # the child died
                        answer = pickle.load(stream)
            os.waitpid(pid, 0)
            del running[name]
            yield name, answer
