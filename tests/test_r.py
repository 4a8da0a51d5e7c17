"""The page for R users shows what its script prints, and the private fit lies beside R's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def available():
    """R, with the package that reaches Python."""
    found = shutil.which("Rscript")
    return found is not None and reaches_python(found)


@cache
def reaches_python(found):
    asked = [found, "-e", 'quit(status = !requireNamespace("reticulate", quietly = TRUE))']
    return subprocess.run(asked, capture_output=True).returncode == 0


def words(text):
    """A text without its numbers, stars and layout."""
    return re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?|[<*.]+|\s+", " ", text).split()


@pytest.fixture(scope="module")
def printed():
    if not available():
        pytest.skip("no R with reticulate; Debian: apt install --no-install-recommends r-base-core r-cran-reticulate")
    done = subprocess.run(
        ["Rscript", "survey.R"],
        cwd=EXAMPLES,
        env=os.environ | {"RETICULATE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_shows_what_the_script_prints(printed):
    shown = (EXAMPLES / "survey.Rout").read_text()
    assert words(shown) == words(printed), "run: cd examples && RETICULATE_PYTHON=... Rscript survey.R > survey.Rout"


def test_private_coefficients_lie_beside_those_of_lm(printed):
    table = re.search(r"private +error +lm\n(.*?)\n +low", printed, flags=re.DOTALL)[1].splitlines()
    rows = {name.strip(): map(float, numbers) for name, *numbers in (line.rsplit(maxsplit=3) for line in table)}
    assert {"(Intercept)", "age", "I((age - 45)^2)", "sexM", "educationcollege", "educationdegree"} == set(rows)
    for private, error, plain in rows.values():
        assert abs(private - plain) < 6 * error
