"""Who is a union member? Odds ratios with intervals from raw survey columns, private, in a few lines."""

from __future__ import annotations

import numpy as np
import pandas as pd

import eptr


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    """Invented people; a real table would be a Parquet path, a Dask or a Spark dataframe."""
    rng = np.random.default_rng(seed)
    age, schooling = rng.uniform(18, 65, size=n).round(), np.clip(rng.normal(13, 3, size=n).round(), 0, 25)
    public = (rng.random(n) < 0.2).astype(int)
    odds = -3.2 + 0.02 * age + 0.03 * schooling + 1.4 * public
    member = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return pd.DataFrame({"age": age, "schooling": schooling, "public": public, "member": member})


def main() -> None:
    people = survey(30_000)
    ranges = {"age": (16, 99), "schooling": (0, 30), "public": (0, 1)}  # from the questionnaire, not from the answers
    model = eptr.LogisticRegression(epsilon=1.0, x_range=ranges, classes=["no", "yes"]).fit(people, "member")
    print(model.summary())
    print(model.predict_proba(people.head(3)).round(3))


if __name__ == "__main__":
    main()
