"""A survey of people, its codebook, and studies of it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from eptr import Codebook, Study
from eptr.codebook import Category, Flag, Number, Text
from eptr.errors import NotPrivateWarning

BOOK = Codebook(
    {
        "age": Number(0, 110, unit="years", integer=True),
        "wage": Number(1, 5000),
        "sex": Category(["F", "M"]),
        "region": Category(["N", "S", "W"], missing="level"),
        "member": Flag(),
        "who": Text(),
    },
    na_values=["?", -9],
)


def people(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    sex = rng.choice(["F", "M"], n)
    wage = np.exp(4 + 0.02 * age + 0.3 * (sex == "M") + 0.4 * rng.normal(size=n))
    region = rng.choice(["N", "S", "W", "?"], n, p=[0.4, 0.3, 0.2, 0.1])
    return pd.DataFrame(
        {
            "age": age,
            "wage": wage,
            "sex": sex,
            "region": region,
            "member": rng.random(n) < 0.3,
            "who": np.arange(n) // 2,
        }
    )


PEOPLE = people()


def seeded(data=PEOPLE, book=BOOK, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        return Study(data, book, **{"epsilon": 4.0, "random_state": 1, **settings})


ASKED = {
    "describe": lambda s, **more: s.describe(["age", "region"], **more),
    "mean": lambda s, **more: s.mean(["age", "log(wage)"], **more),
    "mean by": lambda s, **more: s.mean("wage", by="sex", **more),
    "quantiles": lambda s, **more: s.quantiles(["age", "wage"], [0.1, 0.5], **more),
    "histogram": lambda s, **more: s.histogram("age", [0, 30, 60, 110], **more),
    "table": lambda s, **more: s.table("sex", "region", **more),
    "correlation": lambda s, **more: s.correlation(["age", "wage"], **more),
    "ols": lambda s, **more: s.ols("log(wage) ~ age + sex + region", **more),
}


def by_hand(study, n):
    """Settings that a study passes on, with the epsilon of its release."""
    return {
        "delta": 1e-6,
        "invalid": "drop",
        "random_state": np.random.default_rng(n),
        "epsilon": study.release.epsilon,
    }
