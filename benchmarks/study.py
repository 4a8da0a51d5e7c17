"""The survey of examples/study.py at a fifth of epsilon 2: how far from OLS, how often intervals hold, how long it takes."""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from examples.study import BOOK, FORMULA, non_private, survey

import eptr

# Of the invented people: 0.03 age - 0.0004 (age - 40)^2 = 0.022 age - 0.0004 (age - 50)^2 + 0.36.
TRUTH = {
    "Intercept": 4.56, "age": 0.022, "I((age - 50) ** 2)": -0.0004, "sex[T.M]": 0.2, "hours": 0.01,
    "C(education, Treatment('school'))[T.apprenticeship]": 0.15, "C(education, Treatment('school'))[T.college]": 0.3,
    "C(education, Treatment('school'))[T.degree]": 0.45, "sector[T.self-employed]": 0.0, "sector[T.government]": 0.1,
    "sector[T.other]": 0.0,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    runs, away, held, started = parser.parse_args().runs, [], [], time.perf_counter()
    warnings.simplefilter("ignore")
    for seed in range(runs):
        people = survey(seed=seed)
        fit = eptr.Study(people, BOOK, epsilon=2.0, analyses=5, random_state=seed).ols(FORMULA)
        ols, ends, truth = non_private(people, FORMULA), fit.conf_int(), pd.Series(TRUTH)[fit.params.index]
        away.append((fit.params - ols["ols"]) / ols["robust error"])
        held.append((ends["low"] <= truth) & (truth <= ends["high"]))
    table = pd.DataFrame({"rms distance from OLS, robust errors": np.sqrt(pd.DataFrame(away).pow(2).mean())})
    print(table.assign(coverage=pd.DataFrame(held).mean()).round(2).to_string())
    print(
        f"all intervals: {pd.DataFrame(held).to_numpy().mean():.3f}; {(time.perf_counter() - started) / runs:.1f} s a run"
    )


if __name__ == "__main__":
    main()
