"""make bench-scale: fits from Parquet files of 1e6, 1e7 and 5e7 rows x 20 columns against a plain pyarrow read of the same
file, with the peak memory of the whole process tree; in memory against scikit-learn; with 1 and 2 workers.

Files are written with pyarrow's defaults in row groups of 250,000 rows, and are in the page cache when timed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from .tables import show

COLUMNS = [f"x{j}" for j in range(20)]
GROUP = 250_000
MODELS = ("read", "ols-paper", "ols-refined", "bayes-refined")


def write(path, n):
    """y linear in x, a label beside it; one row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng, writer = np.random.default_rng(0), None
    for start in range(0, n, GROUP):
        x = rng.normal(size=(20, min(GROUP, n - start)))
        y = x.sum(axis=0) / 4 + rng.normal(size=x.shape[1])
        table = pa.table({**dict(zip(COLUMNS, x, strict=True)), "y": y, "label": (y > 0).astype(np.int8)})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
        print(f"\rwriting {start + x.shape[1]:,} of {n:,} rows", end="", file=sys.stderr, flush=True)
    writer.close()
    print(file=sys.stderr)


def read(path, target):
    """What there is to beat: pyarrow reads the same columns and throws them away."""
    import pyarrow as pa
    import pyarrow.dataset as datasets

    pa.set_cpu_count(int(os.environ["EPTR_WORKERS"]))
    count = 0
    for batch in datasets.dataset(path).to_batches(columns=[*COLUMNS, target]):
        count += batch.num_rows
    return count


def estimator(model):
    import eptr

    if model == "bayes-refined":
        return eptr.BayesClassifier(1.0, 1e-9, 7.0, classes=[0, 1], random_state=0)
    return eptr.LinearRegression(1.0, 1e-9, 7.0, 5.0, c0=0.3, strategy=model.partition("-")[2], random_state=0)


def one(path, model):
    """A fit (or a read) in this fresh process: seconds of every pass and peak memory of it and its children, as JSON."""
    from eptr.rows.arrow import open_arrow
    from eptr.rows.table import Columns, TableRows

    class Timed(TableRows):
        def sum(self, fn):
            start = time.perf_counter()
            try:
                return super().sum(fn)
            finally:
                passes.append(time.perf_counter() - start)

    warnings.simplefilter("ignore")
    passes, peak, done = [], [0.0], threading.Event()
    watcher = threading.Thread(target=watch, args=(peak, done))
    watcher.start()
    start = time.perf_counter()
    if model == "read":
        for _ in range(4):  # the first one fills the page cache
            begin = time.perf_counter()
            read(path, "y")
            passes.append(time.perf_counter() - begin)
        passes = passes[1:]
    else:
        labels = np.array([0, 1]) if model.startswith("bayes") else None
        rows = Timed(open_arrow(path), Columns(COLUMNS, "y" if labels is None else "label", labels))
        estimator(model).fit(rows, None)
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    print(json.dumps({"passes": passes, "seconds": seconds, "peak": peak[0]}))


def watch(peak, done):
    """Proportional memory of this process and its children (pages they share are counted once), a few times a second."""
    import psutil

    me = psutil.Process()
    while not done.wait(0.2):
        peak[0] = max(peak[0], sum(proportional(p.pid) for p in [me, *me.children(recursive=True)]))


def proportional(pid):
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0.0
    return sum(float(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:"))


def measured(path, model, workers):
    env = {**os.environ, "EPTR_WORKERS": str(workers), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.scale", "--one", model, "--file", str(path)]
    print(f"{path.name}: {model}, {workers} worker(s)", file=sys.stderr, flush=True)
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)


def from_files(folder, sizes, workers):
    table = []
    for n in sizes:
        path = folder / f"rows-{n:.0e}.parquet"
        if not path.exists():
            write(path, n)
        for count in workers:
            plain = min(measured(path, "read", count)["passes"])
            for model in MODELS[1:]:
                found = measured(path, model, count)
                slowest, passes = max(found["passes"]), len(found["passes"])
                mean = sum(found["passes"]) / passes
                speed = n * passes / 1e6 / found["seconds"]
                table.append([
                    f"{n:.0e}", path.stat().st_size / 1e9, count, model, passes, found["seconds"], speed, plain,
                    mean, plain / mean, plain / slowest, 0.25, found["peak"],
                ])  # fmt: skip
    header = [
        "rows", "GB", "workers", "fit", "passes", "fit s", "million rows/s", "pyarrow read s", "mean pass s", "read/pass",
        "read/slowest pass", "goal", "peak MB",
    ]  # fmt: skip
    show("From Parquet, 20 columns, cached; the first pass starts the processes", header, table, "scale_files")
    last = [row for row in table if row[3] == "ols-refined" and row[2] == workers[-1]][-1]
    cost_model(float(last[0]) / last[8] / workers[-1])


def cost_model(rows_per_core):
    """time = passes x max(bytes / bandwidth, rows / (speed x cores)), two passes of refined least squares on 20 columns."""
    places = {
        "laptop, 2 cores, 2 GB/s disk": (2, 2e9),
        "server, 8 cores, 5 GB/s disks": (8, 5e9),
        "cluster, 20 machines of 16 cores, 1 GB/s each": (320, 20e9),
        "cluster, 100 machines of 16 cores, 1 GB/s each": (1600, 100e9),
    }
    table = []
    for n in (1e6, 1e8, 1e9, 1e10):
        for place, (cores, bandwidth) in places.items():
            size = n * 21 * 8
            reading, computing = size / bandwidth, n / (rows_per_core * cores)
            table.append([f"{n:.0e}", size / 1e9, place, 2 * reading, 2 * computing, 2 * max(reading, computing)])
    header = ["rows", "GB", "machines", "reading s", "computing s", "two passes s"]
    show(f"Cost model at the measured {rows_per_core / 1e6:.2f} million rows/s and core", header, table, "scale_model")


def in_memory(sizes, workers):
    from sklearn.linear_model import LinearRegression

    table = []
    for n in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 20))
        y, base = X.sum(axis=1) / 4 + rng.normal(size=n), 0.0
        for name, model in (
            ("scikit-learn", LinearRegression()),
            ("ols-paper", estimator("ols-paper")),
            ("ols-refined", estimator("ols-refined")),
        ):
            times = []
            for _ in range(4):
                start = time.perf_counter()
                model.fit(X, y)
                times.append(time.perf_counter() - start)
            base = min(times) if name == "scikit-learn" else base
            table.append([f"{n:.0e}", workers, name, min(times), min(times) / base])
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1e6 rows only, for a smoke test")
    parser.add_argument("--folder", type=Path, help="keep the files there; by default they are removed")
    parser.add_argument("--one", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes = [10**6] if options.quick else [10**6, 10**7, 5 * 10**7]
    if options.one:
        one(options.file, options.one)
        return
    if options.memory:
        print(json.dumps(in_memory(sizes[:2], int(os.environ["EPTR_WORKERS"]))))
        return
    with tempfile.TemporaryDirectory() as temporary:
        from_files(options.folder or Path(temporary), sizes, (1, 2))
    rows = []
    for workers in (1, 2):
        env = {**os.environ, "EPTR_WORKERS": str(workers), "OMP_NUM_THREADS": str(workers)}
        command = [sys.executable, "-m", "benchmarks.scale", "--memory", *(["--quick"] if options.quick else [])]
        rows += json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)
    show("In memory, 20 columns", ["rows", "workers", "fit", "seconds", "ratio to scikit-learn"], rows, "scale_memory")


if __name__ == "__main__":
    main()
