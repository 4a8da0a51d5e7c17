"""The wheel, as a stranger would meet it: `python -m tests.wheel dist/*.whl`, or `make test-wheel`.

In an empty environment, outside the clone: the README's first example and its time; then, with the extras, types of
user code and some of the tests, against what was installed and nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = (
    "privacy/test_gaussian.py",
    "accounting/test_budget.py",
    "stats/test_tally.py",
    "test_codebook.py",
    "test_adapter.py",
)
TOOLS = ("hypothesis", "jsonschema", "mpmath", "mypy", "polars", "psutil", "pytest", "pyyaml")


def first_example(text: str) -> str:
    found = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert found, "the README begins with an example"
    return found[1]


def main(wheel: Path, extras: bool = True) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        python = place / "env" / "bin" / "python"
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH", "VIRTUAL_ENV")}

        def run(*words: str) -> None:
            print("+", *words[:6], flush=True)
            subprocess.run([str(python), *words], cwd=place, env=clean, check=True)

        def install(*what: str) -> None:
            run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)

        start = time.perf_counter()
        install(str(wheel))
        (place / "first.py").write_text(first_example((ROOT / "README.md").read_text()))
        run("first.py")
        print(f"from an empty environment to the first result: {time.perf_counter() - start:.0f} s")
        run("-c", f"import eptr; assert eptr.__file__.startswith({folder!r}), eptr.__file__")
        if not extras:
            return
        install(f"{wheel}[all]", *TOOLS)
        for name in ("conftest.py", "typed_user.py", "__init__.py"):
            (place / "tests").mkdir(exist_ok=True)
            shutil.copy(ROOT / "tests" / name, place / "tests" / name)
        run("-m", "mypy", "--strict", "tests/typed_user.py")
        shutil.copytree(ROOT / "tests", place / "tests", dirs_exist_ok=True)
        shutil.copy(ROOT / "pyproject.toml", place)
        run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *(f"tests/{name}" for name in TESTS))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), extras="--bare" not in sys.argv)
