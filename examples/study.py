"""A survey from CSV to five analyses: a codebook, one budget, the same formula and names as statsmodels; some seconds."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import eptr
from eptr.codebook import Category, Flag, Number, Text

EDUCATION = ["school", "apprenticeship", "college", "degree"]
SECTORS = ["private", "self-employed", "government", "other"]


def survey(n: int = 32_561, seed: int = 0) -> pd.DataFrame:
    """Invented people in fifteen raw columns, with gaps; a real survey would be a file that nobody needs to look at."""
    rng = np.random.default_rng(seed)
    age, sex = np.clip(rng.normal(40, 13, n), 17, 90).round(), rng.choice(["F", "M"], n, p=[0.33, 0.67])
    education = rng.choice(4, n, p=[0.45, 0.25, 0.2, 0.1])
    sector = rng.choice(4, n, p=[0.72, 0.11, 0.13, 0.04])
    hours = np.clip(rng.normal(40, 11, n), 1, 99).round()
    logs = 4.2 + 0.03 * age - 0.0004 * (age - 40) ** 2 + 0.2 * (sex == "M") + 0.15 * education + 0.01 * hours
    wage = np.exp(logs + 0.1 * (sector == 2) + 0.5 * rng.normal(size=n))
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": age,
            "sex": sex,
            "education": np.array(EDUCATION)[education],
            "sector": np.where(rng.random(n) < 0.06, "?", np.array(SECTORS)[sector]),
            "hours": hours,
            "wage": wage.round(2),
            "rich": wage > np.quantile(wage, 0.76),
        }
    )
    more = {f"answer {k}": rng.integers(0, 5, n) for k in range(1, 8)}
    return frame.assign(**more)


def non_private(frame: pd.DataFrame, formula: str) -> pd.DataFrame:
    """What statsmodels says without privacy: coefficients and robust errors."""
    import statsmodels.formula.api as smf

    log = np.log  # noqa: F841  as the formula calls it
    known = frame[frame["sector"] != "?"]
    fit = smf.ols(formula, known.assign(sector=pd.Categorical(known["sector"], SECTORS))).fit(cov_type="HC1")
    return pd.DataFrame({"ols": fit.params, "robust error": fit.bse})


# From the questionnaire and general knowledge, not from the answers.
BOOK = eptr.Codebook(
    {
        "age": Number(16, 95, unit="years", integer=True),
        "sex": Category(["F", "M"]),
        "education": Category(EDUCATION),
        "sector": Category(SECTORS),
        "hours": Number(0, 100, integer=True),
        "wage": Number(10, 20_000),
        "rich": Flag(),
        "id": Text(),
    },
    na_values=["?"],
)
FORMULA = "log(wage) ~ age + I((age - 50)**2) + sex + C(education, Treatment('school')) + sector + hours"


def main() -> None:
    people = survey()
    with tempfile.TemporaryDirectory() as folder:
        people.to_csv(Path(folder) / "people.csv", index=False)
        study = eptr.Study(
            Path(folder) / "people.csv", BOOK, epsilon=2.0, ledger=f"sqlite:///{folder}/budget.db#survey", analyses=5
        )
        print(study.describe(["age", "hours", "sector"]))
        print(study.mean("wage", by="sex"))
        print(study.table("sex", "rich"))
        fit = study.ols(FORMULA)
        print(study.quantiles("wage", where="age >= 60"))
        private = pd.DataFrame({"private": fit.params, "error": fit.bse})
        print(private.join(non_private(people, FORMULA)).round(4).to_string())
        print(study)


if __name__ == "__main__":
    main()
