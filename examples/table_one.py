"""Table 1 of a paper: means, spreads and shares of a survey by group, with intervals and one ledger for all of it."""

from __future__ import annotations

import tempfile

import numpy as np
import pandas as pd

import eptr
from eptr import stats


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    """Invented people; a real table would be a Parquet path, a Dask or a Spark dataframe."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], size=n)
    schooling = np.clip(rng.normal(13, 3, size=n).round(), 0, 25)
    wage = np.exp(2.0 + 0.08 * schooling + 0.1 * (sex == "M") + 0.5 * rng.normal(size=n))
    return pd.DataFrame({"wage": wage, "schooling": schooling, "member": rng.random(n) < 0.18, "sex": sex})


def main() -> None:
    people = survey(30_000)
    bounds = {"wage": (0, 1000), "schooling": (0, 30), "member": (0, 1)}  # from the questionnaire, not from the answers
    with tempfile.TemporaryDirectory() as folder:
        ledger = eptr.Ledger(f"sqlite:///{folder}/budget.db")
        ledger.create("survey", epsilon=3.0, delta=1e-5)
        shared = {"epsilon": 1.0, "delta": 5e-7, "ledger": ledger.account("survey")}
        means = stats.mean(people, bounds, by="sex", levels=["F", "M"], **shared)
        spreads = stats.std(people, bounds, by="sex", levels=["F", "M"], **shared)
        table = means.to_frame()[["value", "low", "high"]].assign(sd=spreads.to_frame()["value"])
        print(table.round(3))
        print(ledger.remaining("survey"))


if __name__ == "__main__":
    main()
