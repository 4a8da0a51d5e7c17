"""Too few rows: what a private regression says when it cannot answer, and what to ask before paying for it."""

from __future__ import annotations

import numpy as np
import pandas as pd

import eptr


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    """Invented people; one in five works in shifts."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"age": rng.uniform(18, 70, n), "shifts": (rng.random(n) < 0.2).astype(int)})
    people["wage"] = 12 + 0.1 * people["age"] + 3 * people["shifts"] + rng.gamma(2.0, 2.0, n)
    return people


def main() -> None:
    model = eptr.LinearRegression(epsilon=1.0, x_range={"age": (15, 100), "shifts": (0, 1)}, y_range=(0, 200))
    for n in (200, 2000, 50_000):
        print(f"--- {n:,} rows: the forecast, from public numbers and simulated rows; it costs nothing")
        print(model.plan(n=n, n_features=2, shares={"shifts": 0.2}))
        print(f"--- {n:,} rows: the fit")
        print(model.fit(survey(n), "wage").summary())


if __name__ == "__main__":
    main()
