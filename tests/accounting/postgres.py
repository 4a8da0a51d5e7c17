"""A real PostgreSQL server in a temporary directory, run by an unprivileged user (it refuses root)."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path


def binary(name):
    found = shutil.which(name) or next(iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))), None)
    return str(found) if found else None


def available():
    return all(binary(name) for name in ("initdb", "pg_ctl"))


@contextlib.contextmanager
def server():
    """The URL of a fresh server that listens on a socket only; stopped and removed afterwards."""
    user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    home = Path(tempfile.mkdtemp(prefix="eptr-pg-"))
    options = {
        "check": True,
        "capture_output": True,
        "cwd": home,
        "env": {**os.environ, "LC_ALL": "C", "HOME": str(home)},
    }
    if os.getuid() == 0:
        shutil.chown(home, user)
        options["user"] = user
    data, log = home / "data", home / "log"
    try:
        subprocess.run([binary("initdb"), "-D", data, "-A", "trust", "-U", "eptr", "-E", "UTF8"], **options)
        settings = f"-k {home} -c listen_addresses='' -c max_connections=60"
        start = [binary("pg_ctl"), "-D", data, "-l", log, "-w", "-o", settings, "start"]
        subprocess.run(
            start, **options | {"capture_output": False, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        )
        yield (
            f"postgresql://eptr@/postgres?host={home}",
            lambda *words: subprocess.run([binary("pg_ctl"), "-D", data, "-m", "immediate", *words], **options),
        )
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run([binary("pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop"], **options)
        shutil.rmtree(home, ignore_errors=True)
