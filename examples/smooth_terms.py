"""Wages by age, hours and sex: smooth effects with bands, without a bandwidth to choose."""

from __future__ import annotations

import numpy as np
import pandas as pd

import eptr


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    """Invented people; a real table would be a Parquet path, a Dask or a Spark dataframe."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"age": rng.uniform(18, 70, n), "hours": rng.normal(38, 8, n), "sex": rng.integers(0, 2, n)})
    people["wage"] = 12 + 6 * np.sin(people["age"] / 15) + 0.1 * people["hours"] + 2 * people["sex"]
    people["wage"] += rng.gamma(2.0, 1.0, n)  # skewed, as wages are
    return people


def main() -> None:
    model = eptr.AdditiveRegressor(
        epsilon=1.0,
        delta=1e-6,
        x_range={"age": (15, 100), "hours": (0, 100)},  # what is plausible, not what was seen
        y_range=(0, 60),
        categories={"sex": [0, 1]},
    ).fit(survey(30_000), "wage")
    print(model.summary())
    ages = np.arange(20, 71, 10)
    for age, value, low, high in zip(ages, *model.partial_effect("age", ages), strict=True):
        print(f"at age {age}: {value:+.2f} ({low:+.2f} to {high:+.2f})")
    model.plot()  # one panel for each term: .savefig("terms.png")


if __name__ == "__main__":
    main()
