"""Real clusters on this machine, one of each kind for a whole test session."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import contextmanager

import pytest

import eptr


@contextmanager
def dask_cluster(workers=2, **options):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def require_java():
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java; install a Java 17 runtime.")


@contextmanager
def spark_session(master="local[2]", **settings):
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.pyspark.python": sys.executable,
        **settings,
    }
    builder = SparkSession.builder.master(master).appName("eptr tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what else is installed
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def without_eptr(folder):
    """An environment whose interpreters cannot import eptr, as on a cluster that lacks it."""
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'eptr':\n"
        "            raise ModuleNotFoundError(f'no module named {name!r}')\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    return {**os.environ, "PYTHONPATH": str(folder)}


@contextmanager
def seeded():
    """Seeded fits on purpose: their warning is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eptr.NotPrivateWarning)
        yield
