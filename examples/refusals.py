"""When it says no: what you are told if something is missing, undeclared or spent, and what that cost."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import eptr
from eptr.codebook import Category, Number


def survey(n: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Invented people."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"age": rng.uniform(18, 70, n), "sex": rng.choice(["F", "M"], n)})
    people["wage"] = 12 + 0.1 * people["age"] + rng.gamma(2.0, 2.0, n)
    return people


def shown(what: str, ask: Callable[[], object]) -> None:
    """The answer, or the sentence that came instead."""
    print(f"--- {what}")
    try:
        print(ask())
    except eptr.EptrError as no:
        print(textwrap.fill(f"{type(no).__name__}: {no}", 100))


def main() -> None:
    people = survey()
    model = eptr.LinearRegression(epsilon=1.0, x_range={"age": (15, 100)}, y_range=(0, 200))

    # Before anything is charged. A gap is told in clear, so better leave it to the fit.
    shown("no ranges", lambda: eptr.LinearRegression().fit(people[["age"]], people["wage"]))
    gap = people[["age"]].replace(people.loc[7, "age"], np.nan)
    shown("a gap", lambda: model.fit(gap, people["wage"]))
    model.set_params(invalid="drop")
    shown("the same, gaps without weight", lambda: model.fit(gap, people["wage"]).coef_)

    book = eptr.Codebook({"age": Number(15, 100), "sex": Category(["F", "M"]), "wage": Number(0, 200)})
    study = eptr.Study(people, book, epsilon=1.0, analyses=1)
    shown("a name that the codebook lacks", lambda: study.ols("wage ~ age + region"))
    shown("a logarithm of what may be zero", lambda: study.ols("log(wage) ~ age"))
    shown("a term that learns from the rows", lambda: study.ols("wage ~ scale(age)"))

    # All of the budget, and one more.
    shown("an analysis", lambda: study.mean("wage", by="sex"))
    shown("one more", lambda: study.mean("age"))
    shown("what is left", lambda: study.remaining)

    # "No reply" is an answer, and was paid for: the published algorithm needs more rows than these.
    print("--- the published algorithm on 2,000 rows")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        paper = eptr.LinearRegression(epsilon=1.0, x_bound=1.0, y_bound=1.0, strategy="paper")
        paper.fit((people[["age"]] - 45) / 30, (people["wage"] - 20) / 10)
    print(f"replied: {paper.released_}", *(textwrap.fill(str(w.message), 100) for w in told), sep="\n")


if __name__ == "__main__":
    main()
