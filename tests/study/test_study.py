"""Studies: one budget in shares, results that are those of the estimators, accidents, persons, and nothing that tells rows."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import eptr
from eptr import Codebook, InputError, Study
from eptr.audit.artefacts import compare_artefacts
from eptr.codebook import Category, Date, Number
from eptr.errors import NotPrivateWarning
from eptr.study.publication import Publication

from .survey import ASKED, BOOK, PEOPLE, people, seeded


@pytest.mark.parametrize("kind", ["dict", "csv", "csv.gz", "parquet", "arrow"])
def test_every_container_gives_the_same_bits(kind, tmp_path):
    text = PEOPLE.astype({"age": object})
    path = tmp_path / f"p.{kind}"
    if kind.startswith("csv"):
        text.to_csv(path, index=False)
    elif kind == "parquet":
        PEOPLE.to_parquet(path)
    data = {"dict": {c: list(PEOPLE[c]) for c in PEOPLE}, "arrow": pa.Table.from_pandas(PEOPLE)}.get(kind, path)
    want, found = seeded(), seeded(data)
    for name in ("ols", "mean by", "table"):
        one, two = ASKED[name](want), ASKED[name](found)
        assert str(one) == str(two)
    fit = seeded().ols("wage ~ age + region")
    np.testing.assert_array_equal(fit.predict(PEOPLE), fit.predict(data))


def test_a_codebook_is_read_from_its_file_and_a_table_takes_a_list(tmp_path):
    (tmp_path / "book.toml").write_text(BOOK.to_toml(), encoding="utf-8")
    for book in (tmp_path / "book.toml", str(tmp_path / "book.toml")):
        study = seeded(PEOPLE, book)
        assert study.book == BOOK
        assert str(study.table(["sex", "region"])) == str(seeded().table("sex", "region"))
    with pytest.raises(InputError, match="does not exist; `eptr codebook draft` writes one"):
        seeded(PEOPLE, "nowhere.toml")
    with pytest.raises(InputError, match=r"book must be .* or the path of a \.toml file"):
        seeded(PEOPLE, "book.csv")


def test_text_that_is_none_spoils_its_own_row_alone():
    """Some writers of Parquet leave bytes that are no text; no other row is read differently for it."""
    sexes = ["F", "M"] * 50
    ends = np.arange(101, dtype=np.int32)
    for last, count in (("M", 50.0), ("\xff", 49.0)):
        letters = "".join([*sexes[:-1], last]).encode("latin-1")
        column = pa.Array.from_buffers(pa.string(), 100, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(letters)])
        book = eptr.Codebook({"sex": Category(["F", "M"])})
        with pytest.warns(eptr.NotPrivateWarning):
            study = eptr.Study(pa.table({"sex": column}), book, epsilon=1e6, random_state=0)
        np.testing.assert_allclose(study.table("sex").value, [50.0, count], atol=0.1)


def test_scores_of_models_of_the_study():
    study = seeded(epsilon=20.0)
    fit = study.ols("log(wage) ~ age + sex")
    score = study.score(fit, "r2")
    y = np.log(PEOPLE["wage"])
    assert score.value == pytest.approx(1 - np.mean((y - fit.predict(PEOPLE)) ** 2) / y.var(), abs=0.05)
    with pytest.raises(InputError, match="ols, logit or smooth"):
        study.score(object(), "r2")


def test_a_model_that_knows_other_levels_is_refused_whether_or_not_a_row_has_them():
    """The place of a level that the model does not know would be beyond its table: an error about single rows."""
    fit = seeded(people(200)).smooth("wage ~ s(age) + sex")
    wider = Codebook({**BOOK.columns, "sex": Category(["F", "M", "X"])}, BOOK.na_values)
    for value in ("F", "X"):
        rows = people(200)
        rows.at[3, "sex"] = value
        with pytest.raises(InputError, match="codebook"):
            seeded(rows, wider).score(fit, "r2")


def broken():
    """A gzip file whose content is noise."""
    path = Path(tempfile.mkdtemp()) / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age,wage\n" * 100)[:12] + b"\xff" * 50)
    return path


DAYS = Codebook({"d": Date("1990-01-01", "2020-01-01")})
WRONG = {
    "no codebook": lambda: Study(PEOPLE, {}, epsilon=1.0),
    "no columns": lambda: Study(np.zeros((5, 2)), BOOK, epsilon=1.0),
    "no file": lambda: Study("nowhere.csv", BOOK, epsilon=1.0),
    "no parquet": lambda: Study("nowhere.parquet", BOOK, epsilon=1.0),
    "a column that is not there": lambda: Study(PEOPLE.drop(columns="age"), BOOK, epsilon=1.0),
    "no rows": lambda: Study(PEOPLE.head(0), BOOK, epsilon=1.0),
    "no epsilon": lambda: Study(PEOPLE, BOOK, epsilon=0.0),
    "no delta": lambda: Study(PEOPLE, BOOK, epsilon=1.0, delta=0.0),
    "no analyses": lambda: Study(PEOPLE, BOOK, epsilon=1.0, analyses=0),
    "a name that is taken": lambda: Study({"(kept)": [1.0]}, Codebook({"(kept)": Number(0, 1)}), epsilon=1.0),
    "no rows each": lambda: Study(PEOPLE, BOOK, epsilon=1.0, rows_each=0),
    "nobody": lambda: Study(PEOPLE, BOOK, epsilon=1.0, protects=""),
    "another relation": lambda: Study(PEOPLE, BOOK, epsilon=1.0, neighbours="swap"),
    "a ledger without a name": lambda: Study(PEOPLE, BOOK, epsilon=1.0, ledger="sqlite:///budget.db"),
    "share and epsilon": lambda: seeded().mean("age", share=0.1, epsilon=1.0),
    "a share above all": lambda: seeded().mean("age", share=1.5),
    "a share of nothing": lambda: seeded().mean("age", share=0.0),
    "an unknown argument": lambda: seeded().mean("age", weight=3),
    "a column of text": lambda: seeded().mean("who"),
    "a mean of levels": lambda: seeded().mean("sex"),
    "no names": lambda: seeded().mean([]),
    "a name twice": lambda: seeded().mean(["age", "age"]),
    "groups of numbers": lambda: seeded().mean("age", by="wage"),
    "a table of numbers": lambda: seeded().table("wage"),
    "a condition that is none": lambda: seeded().mean("age", where="age + 1"),
    "a hostile condition": lambda: seeded().mean("age", where="__import__('os').getpid() > 0"),
    "a condition within conditions": lambda: seeded().mean("age", where="not " * 400 + "member"),
    "no day": lambda: Study({"d": ["2000-01-01"]}, DAYS, epsilon=1.0).table("d", where="d > 'soon'"),
    "a series": lambda: Study(PEOPLE["age"], BOOK, epsilon=1.0),
    "no columns but numbers": lambda: Study({"age": 3}, BOOK, epsilon=1.0),
    "a seed below zero": lambda: Study(PEOPLE, BOOK, epsilon=1.0, random_state=-1),
    "a histogram of a list": lambda: seeded().histogram(["age"]),
    "a table of a list of numbers": lambda: seeded().table([3]),
    "a table of a column and itself": lambda: seeded().table("sex", "sex"),
    "a report into a folder": lambda: seeded().report(tempfile.gettempdir()),
    "a report nowhere": lambda: seeded().report("/nowhere/study.html"),
    "a report without a path": lambda: seeded().report(None),
    "no formula": lambda: seeded().ols(3),
    "quotes that end elsewhere": lambda: seeded().ols('wage ~ C("\\"") + g("\\"")'),
    "half a file": lambda: Study(broken(), BOOK, epsilon=1.0),
    "a table for predictions": lambda: seeded().ols("wage ~ age").predict({"wage": [1.0]}),
}


@pytest.mark.parametrize(
    ("make", "told"),
    [(lambda: Study(PEOPLE, epsilon=1.0), "book must be .*Study"), (lambda: Study(PEOPLE, BOOK), "epsilon is missing")],
)
def test_what_a_study_lacks_is_named(make, told):
    with pytest.raises(InputError, match=told):
        make()


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_sentence(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "row",
    [
        {"age": "confidential"},
        {"age": 10**400},
        {"wage": None},
        {"sex": "confidential"},
        {"region": b"\xff"},
        {"member": "confidential"},
        {"age": 90, "sex": "M", "region": "W"},
        {"who": "confidential", "wage": 3000.0},
    ],
    ids=lambda row: repr(row)[:30],
)
@pytest.mark.parametrize("people_of", [{}, {"person": "who", "rows_each": 2}], ids=["rows", "persons"])
def test_neighbours_show_the_same_but_for_noise(row, people_of):
    """The whole study, its ledger, results, statements and report, with the noise replayed."""
    rows = people(60).astype(object)
    other = rows.copy()
    for name, value in row.items():
        other.at[7, name] = value

    def run(data, noise):
        study = Study(data, BOOK, epsilon=2.0, random_state=noise, **people_of)
        for name in ("mean", "mean by", "histogram", "table", "correlation", "ols"):
            ASKED[name](study)
        study.mean("age", where="age > 40")
        study.logit("sex ~ age")
        return study

    def seen(study):
        history = study.journal.ledger.history()
        entries = [{k: v for k, v in e.to_dict().items() if k not in ("time", "hash", "previous")} for e in history]
        told = {voice: study.statement(voice) for voice in ("methods", "ethics", "people")}
        told |= {"ledger": json.dumps(entries), "page": Publication(study.journal).page(), "repr": repr(study)}
        for entry in history:  # receipts name entries by their hashes, which know the time
            told = {name: text.replace(entry.hash, str(entry.number)) for name, text in told.items()}
        return {name: text.encode() for name, text in told.items()} | {"book": repr(study.book).encode()}

    found = compare_artefacts(run, [(rows, other)], seen)
    assert found.compared > 3
    assert found.differs is None


def test_without_a_ledger_the_study_says_so():
    assert "recorded nowhere" in repr(seeded(people(100)))


def test_a_private_study_draws_other_noise_every_time():
    study = Study(people(200), BOOK, epsilon=100.0)  # no mean is so noisy that it ends at a bound
    assert study.mean("age").value != study.mean("age", again=True).value
    assert study.mean("age").release.private


def test_empty_lines_of_a_file_are_no_rows(tmp_path):
    for name, text in (
        ("a.csv", "age,sex\n30,F\n\n31,M\n\n\n"),
        ("b.CSV", "age,sex\n30,F\n31,M\n"),
        ("c.csv", "age\n30\n\n"),
    ):
        (tmp_path / name).write_text(text)
        book = Codebook({"age": Number(0, 110)})
        with pytest.warns(NotPrivateWarning):
            assert Study(tmp_path / name, book, epsilon=1.0, random_state=0).data.n == 2


def test_a_study_is_not_pickled_for_it_holds_the_rows():
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InputError, match="holds the rows"):
            way(seeded())
