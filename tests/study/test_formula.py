"""Formulas: R's algebra with names, ranges that hold, and nothing that a formula could run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from formulaic import model_matrix

from eptr import Codebook, InputError
from eptr.codebook import Category, Number
from eptr.study.expression import parse
from eptr.study.formula import design, outcome_of, read_formula
from eptr.study.interval import Interval

from .rows import BOOK, ROWS, columns, names_of


@pytest.mark.parametrize(
    "text",
    [
        "age + sex",
        "age * sex",
        "sex * region",
        "sex : region",
        "region - 1",
        "0 + sex + age",
        "(age + sex + region) ** 2",
        "age / sex",
        "I(age ** 2) + log(wage) + sqrt(age) : region",
        "exp(age / 90) + I(age + 2 * kids)",
        "`hours per week` : sex + member",
        "C(region) + age",
        "sex : age : region",
    ],
)
def test_columns_are_those_of_formulaic(text):
    found, values = columns(text)
    theirs = model_matrix(text, ROWS, context={"log": np.log, "sqrt": np.sqrt, "exp": np.exp})
    names = [*(["Intercept"] if found.intercept else []), *names_of(found)]
    assert names == [name.replace("`", "") for name in theirs.columns]
    for name, value in zip(names_of(found), values, strict=True):
        np.testing.assert_allclose(value, theirs[name].to_numpy(dtype=float), rtol=1e-12)


def test_a_caret_is_a_power_as_in_r():
    (found, values), (_, same) = columns("I(2 * age^2 - 1)"), columns("I(2 * age ** 2 - 1)")
    assert names_of(found) == ["I(2 * age ** 2 - 1)"]
    np.testing.assert_array_equal(values, same)
    level = Codebook({"age": Number(0, 99), "sign": Category(["^", "v"])})
    assert parse("sign == '^' and age^2 > 900", level).columns == ("sign", "age")


def test_names_are_those_of_statsmodels():
    found, _ = columns("age + I(age**2) + C(sex) + C(region, Treatment('S')) + poly(age, 2) + I( age>=65 )")
    assert names_of(found) == [
        "age", "I(age ** 2)", "C(sex)[T.M]", "C(region, Treatment('S'))[T.N]", "C(region, Treatment('S'))[T.W]",
        "C(region, Treatment('S'))[T.(missing)]", "poly(age, 2)[1]", "poly(age, 2)[2]", "I(age >= 65)",
    ]  # fmt: skip


def test_a_dot_is_all_other_columns():
    found = design(read_formula("wage ~ .", BOOK))
    used = [name for column in found.columns for f, _ in column.parts for name in f.columns]
    assert list(dict.fromkeys(used)) == ["age", "hours per week", "kids", "sex", "region", "member", "born"]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        # by hand, from age in [18, 90], wage in [1, 1000], hours in [0, 99]
        ("I(age ** 2)", 324, 8100),
        ("I((age - 50) ** 2)", 0, 1600),
        ("I(-age)", -90, -18),
        ("I(age / wage)", 0.018, 90),
        ("I(age - wage)", -982, 89),
        ("log(wage)", 0, math.log(1000)),
        ("sqrt(`hours per week`)", 0, math.sqrt(99)),
        ("abs(age - 50)", 0, 40),
        ("age:wage", 18, 90_000),
        ("age:sex", 0, 90),
    ],
)
def test_ranges_follow_by_interval_arithmetic(text, low, high):
    found, _ = columns(text)
    assert found.ranges[0] == pytest.approx((low, high), abs=1e-9)


def test_no_warning_depends_on_a_value():
    read = {"age": np.array([1e300, -1e300, math.inf, math.nan]), "wage": np.full(4, 1e300), "kids": np.full(4, 1e300)}
    for text in ("age:wage", "C(kids):age", "I(age * wage ** 2)", "poly(age, 3):wage"):
        for column in design(read_formula(f"I(wage + 0) ~ {text}", BOOK)).columns:
            found = column.values(read)
            low, high = column.range.low, column.range.high
            assert np.all((low <= found[:2]) & (found[:2] <= high))


HOSTILE = [
    "I(__import__('os').getpid())",
    "I(().__class__.__bases__[0].__subclasses__())",
    "eval('1')",
    "exec('import os')",
    "open('/etc/passwd')",
    "os.system('true')",
    "I(age.__class__)",
    "I((lambda: 1)())",
    "I([x for x in (1,)])",
    "I({age})",
    "I(f'{age}')",
    "I(age if age else 1)",
    "I(age := 3)",
    "I(age[0])",
    "I(print(age))",
    "log(age, out=wage)",
    "log(*age)",
    "{age}",
    "`__import__('os')`",
    "Q('age')",
    "I(" + "(" * 500 + "age" + ")" * 500 + ")",
    "I(" + "-" * 5000 + "age)",
    "I(" + "-" * 900 + "age)",
    "I(age ** 9 ** 9 ** 9)",
    "I(1e999 * age)",
    "I(10 ** 400 + age)",
    "age" + " + age" * 5000,
    "age\x00",
    "I(age; import os)",
    "C(sex, __import__('os'))",
    "poly(age, __import__('os'))",
    "(age + sex + region) ** 99999999999999999999",
]
WRONG = {
    "scale(age)": "learns from the rows",
    "center(age)": "learns from the rows",
    "bs(age, 3)": "poly",
    "cr(age, 3)": "poly",
    "lag(age)": "order",
    "hashed(sex)": "Category",
    "log(`hours per week`)": "above 0",
    "sqrt(age - 50)": "from 0 on",
    "I(1 / `hours per week`)": "divides by",
    "exp(wage)": "too large",
    "I(age ** 99)": "0 to 16",
    "I(age ** 0.5 - age ** wage)": "power must be a number",
    "I(age ** 0)": "low < high",
    "salary": "column 'salary' is not in the codebook, which has",
    "ages": "not in the codebook; did you mean 'age'",
    "np.log(age)": r"functions go without a prefix: write log\(\.\.\.\)",
    "I(np.log(age) + 1)": r"functions go without a prefix: write log\(\.\.\.\)",
    "factor(sex)": r"factor\(\) is not needed: .* C\(column\)",
    "as.factor(sex)": r"factor\(\) is not needed",
    "kids.age": "goes into backticks: `kids.age`",
    "notes": "never released",
    "log(sex)": "is a Category",
    "I(sex == 'X')": r"does not declare; it has '[^']+', '[^']+'",
    "I(sex = 'F')": r"check parentheses and operators \(equality is written ==\)",
    "I(sex > 'F')": "compare it with levels",
    "C(wage)": "no levels",
    "C(sex, Treatment('X'))": "not a level",
    "C(sex, Sum)": "C takes",
    "poly(age)": "poly takes",
    "poly(age, 99)": "degree",
    "poly(sex, 2)": "is a Category",
    "s(age)": "study.smooth",
    "1": "besides the intercept",
    "5": "0 and 1",
    "age +": r"a term is missing between '\+' and the end",
    "age sex": "an operator, such as \\+, is missing between 'age' and 'sex'",
    "age + * sex": r"a term is missing between '\+' and '\*'",
    "age + ()": r"a term is missing between '\(' and '\)'",
    "(age": r"not a sum of terms; check operators and parentheses\.$",
    "log(age": "not closed",
    "age | sex": r"'\|' is not allowed in a formula, as in '\| sex': terms are joined by",
    "age = 3": "'=' is not allowed in a formula, as in '= 3'",
    "kids (age)": "an operator, such as|takes|not among",
    "I(3)": "holds no column",
    "log()": "takes one expression",
    "frobnicate(age)": "not among",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_formula_is_refused_before_anything_runs(text, monkeypatch):
    monkeypatch.setattr("formulaic.Formula", lambda *_: pytest.fail("formulaic saw it"))
    with pytest.raises(InputError) as caught:
        design(read_formula(f"I(wage + 0) ~ {text}", BOOK))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_a_wrong_formula_is_one_sentence_with_the_fix(text, said):
    with pytest.raises(InputError, match=said) as caught:
        design(read_formula(f"I(wage + 0) ~ {text}", BOOK))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["wage", "wage ~ age ~ sex", "~ age", "wage ~", "", None, 3])
def test_a_formula_has_two_sides(text):
    with pytest.raises(InputError, match="formula must"):
        read_formula(text, BOOK)


@pytest.mark.parametrize("text", ["wage ~ wage", "wage ~ age + `wage`", "log(wage) ~ log( wage )"])
def test_an_outcome_does_not_explain_itself(text):
    with pytest.raises(InputError, match="explain itself"):
        read_formula(text, BOOK)


def test_formulaic_sees_placeholders_alone():
    formula = read_formula("log(wage) ~ I(age**2):`hours per week` + C(region, Treatment('S')) + poly(age, 2)", BOOK)
    assert set(formula.right) <= set("v0123456789+:*() ")


def test_an_outcome_is_a_number_or_levels():
    assert outcome_of("C(sex)", BOOK).names == ("F", "M")
    assert outcome_of("I(`hours per week` * 2)", BOOK).range == Interval(0.0, 198.0)


def test_i_within_i_is_what_it_holds():
    (column,) = design(read_formula("wage ~ I(I(age) + I(2 * age))", BOOK)).columns
    assert (column.range.low, column.range.high) == pytest.approx(tuple(3.0 * end for end in BOOK["age"].range))
