"""A standalone Spark cluster of processes: a master, a worker, and executors that cannot import eptr and get killed.

In the end its session is gone, too.

Run by test_spark.py in a process of its own (a process has one Spark context); prints what it found as JSON.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyspark

import eptr

from .clusters import seeded, spark_session, without_eptr

PORT = 7099


@contextlib.contextmanager
def standalone(folder):
    """The two daemons as real processes; yields the address of the master."""
    run = str(Path(pyspark.__path__[0]) / "bin" / "spark-class")
    master = f"spark://127.0.0.1:{PORT}"
    deploy = "org.apache.spark.deploy"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    options = ["--host", "127.0.0.1", "--webui-port", "0"]
    started = [subprocess.Popen([run, f"{deploy}.master.Master", "--port", str(PORT), *options], **quiet)]
    worker = [
        run,
        f"{deploy}.worker.Worker",
        "--cores",
        "2",
        "--memory",
        "1g",
        "--work-dir",
        str(folder),
        *options,
        master,
    ]
    started.append(subprocess.Popen(worker, **quiet))
    try:
        yield master, started[1].pid
    finally:
        for process in started:
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
            process.kill()
            process.wait()


def executors(worker):
    found = []
    for process in psutil.Process(worker).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                found.append(process)
    return found


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    t = X @ [1.0, -0.5, 0.25] + rng.normal(size=4000)
    # One pass is enough to be killed in.
    model = eptr.LinearRegression(x_bound=3.0, y_bound=4.0, strategy="tight", c0=0.05, random_state=3)
    with tempfile.TemporaryDirectory() as folder, standalone(folder) as (master, worker):
        env = without_eptr(Path(folder))
        settings = {"spark.executorEnv.PYTHONPATH": env["PYTHONPATH"], "spark.executor.memory": "512m"}
        with spark_session(master, **settings) as session, seeded():
            rows = session.createDataFrame(np.column_stack([X, t]).tolist(), ["a", "b", "c", "t"]).repartition(4)

            begun, killed = Path(folder, "begun"), Path(folder, "killed")

            def interrupted(batches):
                import time

                begun.touch()
                while not killed.exists():
                    time.sleep(0.02)
                yield from batches

            def lacking(batches):
                import pyarrow

                try:
                    import eptr  # noqa: F401
                except ModuleNotFoundError:
                    yield pyarrow.RecordBatch.from_pydict({"lacks": [True] * sum(b.num_rows for b in batches)})

            lacks = rows.mapInArrow(lacking, "lacks boolean").count() == 4000
            victims = []

            def kill():
                while not begun.exists():
                    time.sleep(0.02)
                victims.extend(executors(worker))
                for victim in victims:
                    victim.kill()
                killed.touch()

            killer = threading.Thread(target=kill)
            killer.start()
            found = model.fit(rows.mapInArrow(interrupted, rows.schema), "t").coef_.tolist()
            killer.join()
        with seeded():
            same, gone = found == model.fit(X, t).coef_.tolist() and model.released_, "nothing"
            try:
                model.fit(rows, "t")
            except eptr.EngineError as error:
                gone = str(error)[:12]
    facts = {"same bits": same, "killed": bool(victims), "executors lack eptr": lacks, "after the end": gone}
    print(json.dumps(facts))


if __name__ == "__main__":
    sys.exit(main())
