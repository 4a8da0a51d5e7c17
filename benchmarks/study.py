"""The survey of examples/study.py at a fifth of epsilon 2: how far from OLS, how often intervals hold, how long it takes.

``--persons``: invented people with three rows each instead, alike or not.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from examples.study import BOOK, FORMULA, non_private, survey
from scipy.special import expit
from scipy.stats import norm

import eptr
from eptr.codebook import Flag, Number

# Of the invented people: 0.03 age - 0.0004 (age - 40)^2 = 0.022 age - 0.0004 (age - 50)^2 + 0.36.
TRUTH = {
    "Intercept": 4.56, "age": 0.022, "I((age - 50) ** 2)": -0.0004, "sex[T.M]": 0.2, "hours": 0.01,
    "C(education, Treatment('school'))[T.apprenticeship]": 0.15, "C(education, Treatment('school'))[T.college]": 0.3,
    "C(education, Treatment('school'))[T.degree]": 0.45, "sector[T.self-employed]": 0.0, "sector[T.government]": 0.1,
    "sector[T.other]": 0.0,
}  # fmt: skip


PERSONS, EACH = 10_000, 3
VISITS = eptr.Codebook({"x": Number(-5, 5), "z": Number(-5, 5), "y": Number(-20, 20), "ill": Flag()})
SPREAD = float(np.sqrt(0.5**2 + 0.3**2 + 1.5**2))
ILL = float(np.mean(expit(0.2 + np.sqrt(0.6**2 + 0.3**2) * norm.ppf((np.arange(100_000) + 0.5) / 100_000))))
VISITS_TRUTH = {
    "ols Intercept": 1.0, "ols x": 0.5, "ols z": -0.3, "logit Intercept": 0.2, "logit x": 0.6, "logit z": -0.3, "mean": 1.0,
    "sd": SPREAD, "quartile": 1.0 + norm.ppf(0.25) * SPREAD, "median": 1.0, "count": PERSONS * EACH * ILL,
}  # fmt: skip


def visits(alike: float, seed: int) -> pd.DataFrame:
    """Three rows of each person, in any order; a part of x and of both errors, ``alike`` of their variance, is the person's."""
    rng, n = np.random.default_rng(seed), PERSONS * EACH
    who = rng.permutation(np.repeat(np.arange(PERSONS), EACH))

    def shared() -> np.ndarray:
        return np.sqrt(alike) * rng.normal(size=PERSONS)[who] + np.sqrt(1.0 - alike) * rng.normal(size=n)

    x, z = shared(), rng.normal(size=n)
    y, ill = 1.0 + 0.5 * x - 0.3 * z + 1.5 * shared(), norm.cdf(shared()) < expit(0.2 + 0.6 * x - 0.3 * z)
    return pd.DataFrame({"who": who, "x": x, "z": z, "y": y, "ill": ill})


def persons(runs: int, alike: float) -> None:
    """Coverage, and widths against what the estimates' spread over the runs asks for: 1 is right, sqrt(3) is the bound."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in VISITS_TRUTH}
    for seed in range(runs):
        rows = visits(alike, seed)
        study = eptr.Study(rows, VISITS, epsilon=4.0, analyses=6, person="who", rows_each=EACH, random_state=seed)
        for method, formula in (("ols", "y ~ x + z"), ("logit", "ill ~ x + z")):
            fit = getattr(study, method)(formula)
            for term, (low, high) in fit.conf_int().iterrows():
                found[f"{method} {term}"].append((fit.params[term], low, high))
        description = study.describe(["y"])["y"]
        answers = [study.mean("y"), description["sd"], study.quantiles("y", [0.25, 0.5]), study.table("ill")]
        numbers = [np.array([np.ravel(v) for v in (a.value, a.low, a.high)]).T for a in answers]
        lines = [numbers[0][0], numbers[1][0], *numbers[2], numbers[3][1]]
        for name, line in zip(("mean", "sd", "quartile", "median", "count"), lines, strict=True):
            found[name].append(tuple(line))
    table = {}
    for name, lines in found.items():
        value, low, high = np.array(lines).T
        held = np.mean((low <= VISITS_TRUTH[name]) & (VISITS_TRUTH[name] <= high))
        table[name] = {"coverage": held, "width": np.mean(high - low) / (2.0 * norm.ppf(0.975) * np.std(value))}
    print(f"{alike:.0%} of the variance is the person's\n{pd.DataFrame(table).T.round(3).to_string()}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--persons", action="store_true")
    asked = parser.parse_args()
    runs, away, held, started = asked.runs, [], [], time.perf_counter()
    warnings.simplefilter("ignore")
    if asked.persons:
        for alike in (0.0, 0.7):
            persons(runs, alike)
        return
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
