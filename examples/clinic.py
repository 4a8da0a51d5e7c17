"""Visits to a clinic: several rows of one person, a codebook in TOML, dates, and a study that goes on next week."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import eptr

BOOK = """
na_values = ["", "unknown"]

[columns.patient]
kind = "text"

[columns.day]
kind = "date"
low = "2020-01-01"
high = "2024-12-31"

[columns.pressure]          # systolic
low = 60
high = 260
unit = "mmHg"
integer = true

[columns.dose]
low = 0
high = 100
unit = "mg"

[columns.smoker]
kind = "flag"
yes = "yes"
no = "no"

[columns.ward]
levels = ["north", "south"]
missing = "level"
"""


def visits(patients: int = 8000, seed: int = 0) -> pd.DataFrame:
    """Invented: up to four visits each, and patients who differ from each other more than their visits do."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), rng.integers(1, 5, patients))
    dose = rng.choice([0.0, 25.0, 50.0, 75.0], len(who))
    smoker = (rng.random(patients) < 0.3)[who]
    pressure = 135 - 0.2 * dose + 8 * smoker + rng.normal(0, 10, patients)[who] + rng.normal(0, 6, len(who))
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 1800, len(who)), unit="D")
    table = {
        "patient": who,
        "day": days,
        "pressure": pressure.round(),
        "dose": dose,
        "smoker": np.where(smoker, "yes", "no"),
    }
    return pd.DataFrame(table | {"ward": rng.choice(["north", "south", "unknown"], len(who), p=[0.5, 0.4, 0.1])})


def non_private(formula: str) -> pd.DataFrame:
    """What statsmodels says without privacy, all visits counted: visits of one patient are alike, and its errors know it."""
    import statsmodels.formula.api as smf

    table = visits()
    table["smoker"] = (table["smoker"] == "yes").astype(int)
    fit = smf.ols(formula, table).fit(cov_type="cluster", cov_kwds={"groups": table["patient"]})
    return pd.DataFrame({"ols": fit.params, "clustered error": fit.bse})


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        visits().to_parquet(Path(folder) / "visits.parquet")
        (Path(folder) / "book.toml").write_text(BOOK)
        book, ledger = eptr.Codebook.from_toml(Path(folder) / "book.toml"), f"sqlite:///{folder}/budget.db#clinic"
        study = eptr.Study(
            Path(folder) / "visits.parquet", book, epsilon=3.0, ledger=ledger, person="patient", rows_each=2, analyses=4
        )
        print(study.plan("pressure ~ dose + smoker", spread={"pressure": 12, "dose": 28}, width={"dose": 0.02}))
        fit = study.ols("pressure ~ dose + smoker")
        private = pd.DataFrame({"private": fit.params, "error": fit.bse})
        print(private.join(non_private("pressure ~ dose + smoker")).round(4).to_string())
        later = eptr.Study.open(ledger, Path(folder) / "visits.parquet")  # next week, or after a crash
        print(later.ols("pressure ~ dose + smoker"))  # the same, and free
        print(later.mean("pressure", by="ward", where="dose >= 50 and smoker == 0"))
        print(later)


if __name__ == "__main__":
    main()
