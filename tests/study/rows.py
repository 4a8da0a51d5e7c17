"""Rows and their codebook, as formulas meet them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from eptr import Codebook
from eptr.codebook import Category, Date, Flag, Number, Text
from eptr.study.formula import design, read_formula

BOOK = Codebook(
    {
        "age": Number(18, 90, integer=True),
        "wage": Number(1, 1000),
        "hours per week": Number(0, 99),
        "kids": Number(0, 3, integer=True),
        "sex": Category(["F", "M"]),
        "region": Category(["N", "S", "W"], missing="level"),
        "member": Flag(),
        "born": Date("1900-01-01", "2020-01-01"),
        "notes": Text(),
    },
    na_values=["?"],
)
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "age": RNG.integers(18, 91, 200).astype(float),
        "wage": RNG.uniform(1, 1000, 200),
        "hours per week": RNG.uniform(0, 99, 200),
        "kids": RNG.integers(0, 4, 200).astype(float),
        "sex": pd.Categorical(RNG.choice(["F", "M"], 200), categories=["F", "M"]),
        "region": pd.Categorical(
            RNG.choice(["N", "S", "W", "(missing)"], 200), categories=["N", "S", "W", "(missing)"]
        ),
        "member": RNG.integers(0, 2, 200).astype(float),
    }
)
READ = {name: BOOK.read(name, ROWS[name].astype(object).where(ROWS[name] != "(missing)", None)) for name in ROWS}


def names_of(found):
    return [column.name for column in found.columns]


def columns(text):
    found = design(read_formula(f"I(wage + 0) ~ {text}", BOOK))
    values = [column.values(READ) for column in found.columns]
    return found, values
