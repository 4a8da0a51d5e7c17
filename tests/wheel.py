"""The wheel, as a stranger would meet it: `python -m tests.wheel dist/*.whl`, or `make test-wheel`.

In an empty environment, outside the clone: the README's first example and its time, and the tests that need no extras;
then, with the extras, types of user code and some of the other tests, against what was installed and nothing else.
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
# What numpy, scipy, scikit-learn and OpenDP are enough for.
PLAIN = (
    "privacy/test_gaussian.py",
    "privacy/test_noise.py",
    "accounting/test_budget.py",
    "rows/test_exact.py",
    "rows/test_memory.py",
    "stats/test_mean.py",
    "estimators/test_descent.py",
    "estimators/linear/test_bounds.py",
    "estimators/linear/test_tested.py",
    "test_adapter.py",
    "test_bounds.py",
)
PLAIN_TOOLS = ("hypothesis", "mpmath", "pytest")
TESTS = (
    "stats/test_tally.py",
    "study/test_study.py",
    "cli/test_fit.py",
    "codebook/test_book.py",
    "test_files.py",
    "test_persistence.py",
)
TOOLS = ("jsonschema", "mypy", "polars", "psutil", "pyyaml")


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

        install(str(wheel))
        start = time.perf_counter()
        (place / "first.py").write_text(first_example((ROOT / "README.md").read_text()))
        run("first.py")
        seconds = time.perf_counter() - start
        print(f"from installation to the first result: {seconds:.0f} s")
        assert seconds < 60.0
        run("-c", f"import eptr; assert eptr.__file__.startswith({folder!r}), eptr.__file__")
        shutil.copytree(ROOT / "tests", place / "tests")
        shutil.copy(ROOT / "pyproject.toml", place)

        def test(names: tuple[str, ...]) -> None:
            run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *(f"tests/{name}" for name in names))

        install(*PLAIN_TOOLS)
        test(PLAIN)
        if not extras:
            return
        install(f"{wheel}[all]", *TOOLS)
        run("-m", "mypy", "--strict", "--config-file=", "tests/typed_user.py")
        test(TESTS)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), extras="--bare" not in sys.argv)
