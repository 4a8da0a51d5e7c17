"""Studies: one budget in shares, results that are those of the estimators, accidents, persons, and nothing that tells rows."""

from __future__ import annotations

import gc
import gzip
import json
import math
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import eptr
from eptr import Codebook, InputError, Ledger, Study, stats
from eptr.accounting.budget import Budget
from eptr.audit.artefacts import compare_artefacts
from eptr.codebook import Category, Date, Flag, Number, Text
from eptr.errors import BudgetError, NotPrivateWarning, PrivacyError
from eptr.panel import panel
from eptr.privacy.bounded_range import bounded_range_mu
from eptr.privacy.claim import Cost
from eptr.privacy.gaussian import gaussian_mu
from eptr.study.journal import Journal
from eptr.study.publication import Publication
from eptr.study.result import Description, Fit

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


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("share", [0.1, 1 / 3, 1.0])
def test_every_analysis_costs_its_share(ask, share):
    study = seeded(people(500))
    ask(study, share=share)
    (line,) = study.journal.lines()
    assert line.share == pytest.approx(share, rel=1e-10)
    assert line.share <= share
    assert study.journal.left == pytest.approx(1.0 - share, abs=1e-10)


@pytest.mark.parametrize(
    "ask", [v for k, v in ASKED.items() if k != "describe"], ids=[k for k in ASKED if k != "describe"]
)
@pytest.mark.parametrize("more", [{}, {"where": "age > 30"}], ids=["all rows", "where"])
@pytest.mark.parametrize("settings", [{}, {"person": "who", "rows_each": 2}], ids=["rows", "persons"])
def test_a_result_states_all_that_was_charged_for_it(ask, more, settings):
    study = seeded(people(500), **settings)
    found = ask(study, share=0.5, **more)
    release = found.release_ if isinstance(found, Fit) else found.release
    charged = [e.content for e in study.journal.ledger.history() if e.kind == "charge"]
    assert math.fsum(c["mu"] ** 2 * c["parts"] for c in charged) == pytest.approx(release.cost.mu**2, rel=1e-12)
    spent = [bounded_range_mu(d.spent) if d.noise == "exponential" else d.spent for d in release.record.draws]
    assert math.fsum(mu**2 for mu in spent) == pytest.approx(release.cost.mu**2, rel=1e-9)
    assert (release.epsilon, release.delta) == (charged[0]["epsilon"], charged[0]["delta"])
    assert len(charged) == 1


def test_a_result_names_the_ranges_that_were_bought_for_it():
    study = seeded(book=BOOK.replaced("wage", Number("private")), epsilon=20.0)
    fit = study.ols("wage ~ age", share=0.1)
    bounds = list(study.book["wage"].range)
    asked = {
        "fit": fit.release_, "score": study.score(fit, "r2", share=0.1).release,
        "mean": study.mean("wage", share=0.1).release, "where": study.mean("age", where="wage > 60", share=0.1).release,
        "describe": study.describe(["wage"], share=0.1).columns["wage"]["mean"].release,
    }  # fmt: skip
    for release in asked.values():
        assert release.record.bought == (("range of wage, by an analysis of its own", json.dumps(bounds)),)
        assert "without looking at the data but for what was bought" in replace(release, private=True).statement()
    assert study.mean("age", share=0.1).release.record.bought == ()


def test_shares_add_up_to_the_budget_in_any_order_and_no_further():
    study = seeded(people(300), analyses=7)
    for k in range(7):
        study.mean("age", again=k > 0) if k % 2 else study.quantiles("age", again=k > 0)
    assert sum(line.share for line in study.journal.lines()) == pytest.approx(1.0, abs=1e-10)
    assert study.remaining == "Nothing is left of the budget; results that were delivered stay free."
    study.mean("age")  # free
    with pytest.raises(BudgetError, match="nothing is left"):
        study.table("sex")
    # The ledger agrees: Gaussian releases within mu(epsilon, delta).
    total = sum(e.content["mu"] ** 2 * e.content["parts"] for e in study.journal.ledger.history() if e.kind == "charge")
    assert math.sqrt(total) <= gaussian_mu(4.0, 1e-6)
    study.journal.ledger.verify()


@pytest.mark.parametrize("shares", [[0.1] * 10, [1 / 3] * 3, [0.5, 0.3, 0.2], [1.0]])
def test_gaussian_shares_add_up_to_all_of_it(shares):
    study = seeded(people(100))
    for share in shares:
        study.table("sex", share=share, again=True)
    assert math.fsum(line.share for line in study.journal.lines()) == pytest.approx(1.0, abs=1e-12)


def test_epsilon_is_at_the_delta_of_the_study():
    study = seeded(people(300))
    found = study.mean("age", epsilon=1.0)
    assert found.release.epsilon == pytest.approx(1.0, rel=1e-9)
    assert study.journal.lines()[0].share == pytest.approx((gaussian_mu(1.0, 1e-6) / gaussian_mu(4.0, 1e-6)) ** 2)


def test_remaining_is_a_sentence():
    study = seeded(people(300), analyses=5)
    assert study.remaining == "All of the budget: five analyses of equal shares."
    study.mean("age", share=0.38)
    study.table("sex", share=0.1)
    assert study.remaining == "52% of the budget: five more like the last."


def by_hand(study, n):
    """Settings that a study passes on, with the epsilon of its release."""
    return {
        "delta": 1e-6,
        "invalid": "drop",
        "random_state": np.random.default_rng(n),
        "epsilon": study.release.epsilon,
    }


def test_results_are_those_of_statistics_called_by_hand():
    numbers = PEOPLE[["age", "wage"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        found = seeded().mean(["age", "wage"])
        again = stats.mean(numbers, {"age": (0, 110), "wage": (1, 5000)}, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)
        found = seeded().mean("wage", by="sex")
        again = stats.mean(
            PEOPLE, {"wage": (1, 5000)}, by="sex", levels=["F", "M"], **by_hand(found, 1)
        )  # fmt: skip
        np.testing.assert_array_equal(found.value, again.value)
        found = seeded().table("sex", "member")
        frame = PEOPLE.assign(member=PEOPLE["member"].astype(int))
        again = stats.table(frame, levels={"sex": ["F", "M"], "member": [0, 1]}, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)
        found = seeded().correlation(["age", "wage"])
        again = stats.correlation(numbers, {"age": (0, 110), "wage": (1, 5000)}, **by_hand(found, 1))
        np.testing.assert_array_equal(found.value, again.value)


def test_a_fit_is_that_of_the_estimator_called_by_hand():
    study = seeded()
    found = study.ols("wage ~ age + sex")
    x = pd.DataFrame({"age": PEOPLE["age"], "sex[T.M]": PEOPLE["sex"] == "M"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        model = eptr.LinearRegression(
            x_range=[(0, 110), (0, 1)], y_range=(1, 5000), **by_hand(type("r", (), {"release": found.release_}), 1)
        ).fit(x, PEOPLE["wage"])
    np.testing.assert_array_equal(found.coef_, model.coef_)
    table = model.summary()
    assert list(found.params.index) == ["Intercept", "age", "sex[T.M]"]
    np.testing.assert_array_equal(found.params.to_numpy(), np.roll(table.estimates, 1))
    np.testing.assert_array_equal(found.bse.to_numpy(), np.roll(table.errors, 1))
    np.testing.assert_array_equal(found.conf_int(), np.roll(table.intervals, 1, axis=0))
    np.testing.assert_array_equal(found.pvalues.to_numpy(), np.roll(table.p_values, 1))
    np.testing.assert_allclose(found.predict(PEOPLE), model.predict(x))


def test_predictions_leave_out_rows_that_lack_a_value():
    fit = seeded().ols("wage ~ age + sex")
    found = fit.predict({"age": [40, "?", 40], "sex": ["F", "F", "X"]})
    assert np.isfinite(found).tolist() == [True, False, False]


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


def test_small_shares_of_missing_values_and_of_values_beyond_the_range_are_told():
    """One in a hundred is what a codebook that is a little wrong looks like; a clip must not make it one in three thousand."""
    rng = np.random.default_rng(0)
    ages = rng.normal(50, 10, 20_000)
    ages[:200], ages[200:500] = np.nan, 1000.0
    found = seeded({"age": ages}, Codebook({"age": Number(0, 110)}), epsilon=1.0).describe("age")["age"]
    shares = found["share"]
    for k, share in enumerate((0.01, 0.015)):
        assert shares.low[k] <= share <= shares.high[k]
        assert shares.value[k] == pytest.approx(share, rel=0.5)


def test_where_counts_other_rows_as_nothing():
    found = seeded(epsilon=50.0).mean("wage", where="age >= 65 and sex == 'F'")
    rows = PEOPLE[(PEOPLE["age"] >= 65) & (PEOPLE["sex"] == "F")]
    assert found.value[0] == pytest.approx(rows["wage"].mean(), rel=0.02)
    again = seeded(epsilon=50.0).mean("wage", where="age >= 65 and 2 > 1 and sex == 'F'")
    assert again.value[0] == found.value[0]
    count = seeded(epsilon=50.0).table("sex", where="age >= 65")
    assert count.value.sum() == pytest.approx((PEOPLE["age"] >= 65).sum(), abs=20)


def test_a_second_call_is_free_and_again_is_not():
    study = seeded(people(300))
    for ask in ASKED.values():
        first = ask(study, share=0.05)
        left = study.journal.left
        assert str(ask(study, share=0.05)) == str(first)
        assert study.journal.left == left
    first = study.mean("age")
    assert study.mean("age", again=True).value != first.value
    assert study.mean("age", where="age > 30").value != first.value
    assert study.mean("age", level=0.5).value != first.value


def test_a_study_goes_on_from_its_ledger(tmp_path):
    url = f"sqlite:///{tmp_path}/budget.db#people"
    study = Study(PEOPLE, BOOK, epsilon=3.0, ledger=url, analyses=4)
    fit, told = study.ols("wage ~ age"), study.describe(["sex"])
    later = Study.open(url, PEOPLE)
    assert later.remaining == study.remaining == "50% of the budget: two more like the last."
    assert isinstance(later.ols("wage ~ age"), Fit)
    assert later.ols("wage ~ age").params.equals(fit.params)
    assert isinstance(later.describe(["sex"]), Description)
    assert str(later.describe(["sex"])) == str(told)
    assert str(Study(PEOPLE, BOOK, epsilon=3.0, ledger=url, analyses=4)) == str(later)
    with pytest.raises(InputError, match=r"opened with \(3, 1e-06\)"):
        Study(PEOPLE, BOOK, epsilon=4.0, ledger=url, analyses=4)
    with pytest.raises(InputError, match="another codebook"):
        Study(PEOPLE, BOOK.replaced("age", Number(0, 120)), epsilon=3.0, ledger=url, analyses=4)
    with pytest.raises(InputError, match="data of 4,000 rows, and these have 100"):
        Study.open(url, PEOPLE.head(100))
    with pytest.raises(PrivacyError, match="refuses"):
        seeded(epsilon=3.0, ledger=url, analyses=4).mean("age")
    Ledger(url).verify()


def test_a_study_that_goes_on_with_another_file_says_that_results_are_kept(tmp_path):
    """Stored results are keyed by what is public; rows that changed behind the same facts cannot be seen."""
    url = f"sqlite:///{tmp_path}/budget.db#people"
    for name in ("people.csv", "others.csv"):
        people(50, seed=len(name)).to_csv(tmp_path / name, index=False)
    before = Study(tmp_path / "people.csv", BOOK, epsilon=3.0, delta=1e-3, ledger=url).mean("age")
    with pytest.warns(eptr.SettingsWarning, match=r"opened with people.csv and goes on with others.csv"):
        later = Study.open(url, tmp_path / "others.csv")
    assert later.mean("age").value == before.value


def test_two_who_ask_the_same_at_the_same_time_both_pay_and_both_are_told(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/budget.db#people"
    one = Study(PEOPLE, BOOK, epsilon=3.0, ledger=url)
    two = Study.open(url, PEOPLE)
    mean, begun = stats.mean, []

    def slow(*rows, **settings):
        if not begun:
            begun.append(True)
            two.mean("age")
        return mean(*rows, **settings)

    monkeypatch.setattr(stats, "mean", slow)
    one.mean("age")
    assert [(line.share, line.delivered) for line in one.journal.lines()] == [(pytest.approx(0.1), True)] * 2
    one.journal.ledger.verify()


def test_two_who_open_the_same_study_at_the_same_time_share_it(tmp_path, monkeypatch):
    url, create = f"sqlite:///{tmp_path}/budget.db#people", Ledger.create

    def late(self, *names, **terms):
        create(self, *names, **terms)
        create(self, *names, **terms)

    monkeypatch.setattr(Ledger, "create", late)
    assert Study(PEOPLE, BOOK, epsilon=3.0, ledger=url).journal.ledger.datasets() == ["people"]


CRASH = """
import os, signal, sys
import eptr
from eptr.codebook import Number

def dying(function, before):
    def run(*words, **settings):
        found = None if before else function(*words, **settings)
        os.kill(os.getpid(), signal.SIGKILL)
    return run

method, before, url = sys.argv[1], sys.argv[2] == "before", sys.argv[3]
study = eptr.Study({"age": list(range(100))}, eptr.Codebook({"age": Number(0, 110)}), epsilon=2.0, delta=1e-3, ledger=url)
setattr(eptr.Ledger, method, dying(getattr(eptr.Ledger, method), before))
study.mean("age")
"""


@pytest.mark.parametrize(
    ("method", "when", "shown"),
    [
        ("charge", "before", []),
        ("charge", "after", ["spent, not delivered"]),
        ("deliver", "before", ["spent, not delivered"]),
        ("deliver", "after", ["mean age"]),
    ],
)
def test_a_process_that_is_killed_leaves_a_study_that_goes_on(method, when, shown, tmp_path):
    url = f"sqlite:///{tmp_path}/budget.db#people"
    done = subprocess.run([sys.executable, "-c", CRASH, method, when, url], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    study = Study.open(url, {"age": list(range(100))})
    assert len(study.spent) == len(shown)
    assert all(text in line for text, line in zip(shown, study.spent, strict=True))
    if shown == ["spent, not delivered"]:
        with pytest.raises(BudgetError, match="never drawn again"):
            study.mean("age")
        study.mean("age", again=True)
        assert len(study.spent) == 2
    else:
        study.mean("age")  # free if it was delivered
        assert len(study.spent) == 1
    study.journal.ledger.verify()


def test_an_account_of_somebody_else_is_left_alone(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.create("other", 3.0, 1e-6)
    with pytest.raises(InputError, match="not opened by a study"):
        Study(PEOPLE, BOOK, epsilon=3.0, ledger=f"{ledger.url}#other")


def test_an_account_that_cannot_be_opened_says_why(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="must name the study"):
        Study(PEOPLE, BOOK, epsilon=1.0, ledger=f"sqlite:///{tmp_path}/budget.db")

    def refused(self, *terms, **others):
        raise InputError("not today.")

    monkeypatch.setattr(Ledger, "create", refused)
    with pytest.raises(InputError, match="not today"):
        Study(PEOPLE, BOOK, epsilon=1.0, ledger=f"sqlite:///{tmp_path}/budget.db#people")


def journal_of(ledger=None, seeded=True):
    settings = {"neighbours": "replace-one", "rows_each": 1}
    return Journal.open(ledger, Budget(1.0, 1e-6), settings, "data", seeded=seeded)


def test_an_account_that_lasts_as_long_as_the_study_leaves_no_file():
    journal = journal_of()
    folder = Path(journal.ledger.url.removeprefix("sqlite:///")).parent
    assert folder.exists()
    del journal
    gc.collect()
    assert not folder.exists()


def test_the_epsilon_of_a_share_costs_no_more_than_the_share():
    journal = journal_of()
    for share in np.arange(1, 60) / 60:
        assert gaussian_mu(journal.epsilon(share), 1e-6) <= journal.mu * math.sqrt(share)
    with pytest.raises(BudgetError, match="too small"):
        journal.epsilon(1e-30)


def test_a_run_is_checked_before_it_is_charged_and_its_receipt_is_for_those_who_can_look_it_up(tmp_path):
    url, cost = f"sqlite:///{tmp_path}/budget.db#people", Cost(0.5, 1e-6, "gaussian", gaussian_mu(0.5, 1e-6))
    assert Journal.known(url) is None
    for journal, simulation in ((journal_of(), True), (journal_of(seeded=False), False), (journal_of(url), False)):
        assert journal.ledger.history()[0].content["simulation"] is simulation
        call = journal.call("key", "a mean")
        with pytest.raises(BudgetError):
            call.check(replace(cost, epsilon=4.0, mu=gaussian_mu(4.0, 1e-6)), private=not simulation)
        call.check(cost, private=not simulation)
        receipt = call.receipt(call.charge(cost, private=not simulation))
        assert (receipt is not None) is journal.recorded is (journal.ledger.url in url)
    assert Journal.known(url).total == Budget(1.0, 1e-6)


def test_a_total_about_persons_admits_no_release_about_rows(tmp_path):
    """A mean that was asked past the study protects one row; the total is about all rows of a person."""
    url = f"sqlite:///{tmp_path}/budget.db#people"
    study = Study(PEOPLE, BOOK, epsilon=2.0, ledger=url, person="who", rows_each=2)
    for ledger in (url, Ledger(url)):
        with pytest.raises(PrivacyError, match="only its study makes"):
            stats.mean(PEOPLE["age"], (0, 110), epsilon=0.5, invalid="drop", ledger=ledger)
    with pytest.raises(PrivacyError, match="only its study makes"):
        Ledger(url).reserve("people", 2, 0.1, 1e-8)
    study.mean("age")
    assert len(study.spent) == 1


def test_a_failure_before_the_charge_costs_nothing():
    study = seeded(people(300))
    for wrong in (
        lambda: study.ols("wage ~ nope"),
        lambda: study.mean("age", share=2.0),
        lambda: study.mean("age", where="age"),
        lambda: study.quantiles("age", [2.0]),
        lambda: study.histogram("age", [3, 2]),
        lambda: study.correlation("age"),
    ):
        with pytest.raises(InputError):
            wrong()
    assert study.journal.left == 1.0


def test_what_was_charged_and_lost_is_spent_and_never_drawn_again(monkeypatch):
    study = seeded(people(300))

    def crash(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "deliver", crash)
        with pytest.raises(KeyboardInterrupt):
            study.mean("age")
    assert study.journal.left == pytest.approx(0.9)
    assert "spent, not delivered" in study.spent[0]
    with pytest.raises(BudgetError, match="again=True"):
        study.mean("age")
    assert study.journal.left == pytest.approx(0.9)
    study.mean("age", again=True)
    assert study.journal.left == pytest.approx(0.8)
    assert "spent, not delivered" not in study.spent[1]
    assert np.isfinite(study.mean("age").value).all()


def test_a_result_that_nobody_paid_for_breaks_the_chain():
    study = seeded(people(300))
    study.journal.ledger.deliver("nothing:0", {"value": 3})
    with pytest.raises(eptr.LedgerError, match="nobody has paid for"):
        study.journal.ledger.verify()


def test_at_most_so_many_rows_of_a_person_count():
    # One person has 3,000 of 4,000 rows, all at 100; the others are at 20.
    age = np.r_[np.full(3000, 100), np.full(1000, 20)]
    rows = pd.DataFrame({"age": age, "id": np.r_[np.zeros(3000), np.arange(1, 1001)]}).sample(frac=1, random_state=0)
    book = Codebook({"age": Number(0, 110), "id": Text()})
    count = seeded(rows, book, epsilon=50.0, person="id", rows_each=2).histogram("age", [0, 50, 110]).value
    assert count == pytest.approx([1000, 2], abs=15)
    with pytest.raises(InputError, match="person='nobody'"):
        seeded(rows, book, person="nobody")


def test_intervals_allow_for_dependence_among_the_rows_of_a_person():
    one, two = (seeded(rows_each=k).table("sex") for k in (1, 4))
    assert two.se_sampling == pytest.approx(2.0 * one.se_sampling, rel=0.1)
    assert two.release.rows_per_person == 4


@pytest.mark.parametrize(
    ("method", "formula"), [("ols", "wage ~ age + sex"), ("logit", "sex ~ age"), ("smooth", "wage ~ s(age) + sex")]
)
def test_every_interval_of_a_fit_allows_for_dependence(method, formula):
    """Coefficients, bands, statement and page alike: sampling variances times the rows of a person that are trusted to be so."""
    plain, wide = (getattr(seeded(people(20_000), rows_each=k, epsilon=400.0), method)(formula) for k in (1, 4))
    (one, two), names = (panel(fit).lines for fit in (plain, wide)), list(plain.params.index)
    for before, after in zip(one, two, strict=True):
        assert after.name in names
        if method != "smooth":  # where what may lie beyond the last band counts as sampling, too
            assert after.sampling == pytest.approx(2.0 * before.sampling, rel=0.2)
        assert np.ptp(wide.conf_int().loc[after.name]) == pytest.approx(after.high - after.low)
    widths = np.ptp(wide.conf_int(), axis=1)
    assert wide.facts().widths == pytest.approx((widths.min(), widths.max()))
    if method == "ols":
        assert wide.estimator.fitted_.residual_scale == pytest.approx(plain.estimator.fitted_.residual_scale, rel=0.1)
    if method == "smooth":
        bands = [fit.partial_effect("age", [30.0, 50.0]) for fit in (plain, wide)]
        assert np.all(bands[1][2] - bands[1][1] > bands[0][2] - bands[0][1])
        assert names == ["Intercept", "sex[T.M]"]
        assert "sex[T.M]" in str(wide)
        assert "s(age)" in wide._repr_html_()


def test_a_rough_logistic_fit_knows_which_part_is_sampling():
    fit = seeded(people(600), epsilon=1.0).logit("sex ~ age")
    assert all(math.isfinite(line.sampling) for line in panel(fit).lines)
    assert np.all(fit.estimator.fitted_.se_sampling <= fit.estimator.summary().errors)


def test_a_private_range_is_bought_once_at_its_price():
    book = BOOK.replaced("wage", Number("private", price=0.03))
    study = seeded(book=book)
    found = study.mean("wage", share=0.1)
    assert [line.share for line in study.journal.lines()] == pytest.approx([0.03, 0.1])
    assert found.value[0] == pytest.approx(PEOPLE["wage"].mean(), rel=0.1)
    low, high = study.book["wage"].range
    assert low <= 0 < PEOPLE["wage"].quantile(0.99) < high < 1e5
    study.ols("wage ~ age", share=0.1)
    assert len(study.journal.lines()) == 3


def test_a_private_range_is_found_under_any_name():
    """Bought before anything else is paid for, or what was paid for would be lost."""
    with pytest.warns(NotPrivateWarning):
        study = Study({"größe": np.arange(200.0)}, Codebook({"größe": Number("private")}), epsilon=1.0, random_state=0)
    study.describe()
    assert [line.text for line in study.journal.lines()] == ["range größe", "describe größe"]


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


def test_a_plan_says_widths_and_what_a_wish_would_cost():
    study = seeded(people(2000), analyses=4)
    plan = study.plan("wage ~ age + sex", width={"sex[T.M]": 400.0})
    assert set(plan.widths) == {"age", "sex[T.M]", "Intercept"}
    assert study.journal.left == 1.0
    less, enough = (study.plan("wage ~ age + sex", epsilon=x * plan.buys).widths["sex[T.M]"] for x in (0.8, 1.01))
    assert enough <= 400.0 < less
    assert "no epsilon" in str(study.plan("wage ~ age + sex", width=1e-9))
    with pytest.raises(InputError, match="terms"):
        study.plan("wage ~ age", width={"nope": 1.0})


@pytest.mark.parametrize("rows_each", [1, 3])
def test_a_plan_is_about_what_happens(rows_each):
    rng = np.random.default_rng(0)
    rows = {"region": rng.choice(["N", "S", "W"], 20_000)}
    rows["wage"] = 2000.0 + 400.0 * (rows["region"] == "S") + 300.0 * rng.normal(size=20_000)
    book = Codebook({"region": Category(["N", "S", "W"]), "wage": Number(1, 5000)})
    study = seeded(rows, book, rows_each=rows_each)
    planned = study.plan("wage ~ region", spread=300.0).widths
    found = np.ptp(study.ols("wage ~ region").conf_int(), axis=1)
    for name, width in planned.items():
        assert found[name] == pytest.approx(width, rel=0.2)


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
    "a table of a list": lambda: seeded().table(["sex"]),
    "a table of a column and itself": lambda: seeded().table("sex", "sex"),
    "a report into a folder": lambda: seeded().report(tempfile.gettempdir()),
    "a report nowhere": lambda: seeded().report("/nowhere/study.html"),
    "a report without a path": lambda: seeded().report(None),
    "no formula": lambda: seeded().ols(3),
    "quotes that end elsewhere": lambda: seeded().ols('wage ~ C("\\"") + g("\\"")'),
    "half a file": lambda: Study(broken(), BOOK, epsilon=1.0),
    "a table for predictions": lambda: seeded().ols("wage ~ age").predict({"wage": [1.0]}),
}


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
    study = Study(people(200), BOOK, epsilon=1.0)
    assert study.mean("age").value != study.mean("age", again=True).value
    assert study.mean("age").release.private


def model_or_none(name):
    from eptr.estimators.catalogue import OURS

    return next((entrant.estimator for entrant in OURS if entrant.estimator.__name__ == name), None)


def test_logistic_regression_of_a_formula():
    study = seeded(people(8000), epsilon=20.0)
    if model_or_none("LogisticRegression") is None:
        with pytest.raises(InputError, match="no LogisticRegression"):
            study.logit("member ~ age")
        return
    frame = people(8000)
    fit = study.logit("I(wage > 150) ~ age + sex")
    assert list(fit.params.index) == ["Intercept", "age", "sex[T.M]"]
    assert fit.params["age"] > 0
    assert fit.params["sex[T.M]"] > 0
    right = np.mean(fit.predict(frame) == (frame["wage"] > 150))
    assert right > 0.7
    assert fit.predict_proba(frame).shape == (8000, 2)
    assert study.score(fit, "accuracy").value == pytest.approx(right, abs=0.02)
    assert set(study.logit("sex ~ wage").predict(frame.head(9))) <= {"F", "M"}
    assert str(study.logit("sex ~ wage")) == str(Study.logit(study, "sex ~ wage"))


def test_smooth_functions_of_a_formula():
    study = seeded(people(8000), epsilon=20.0)
    if model_or_none("AdditiveRegressor") is None:
        with pytest.raises(InputError, match="no AdditiveRegressor"):
            study.smooth("wage ~ s(age)")
        return
    frame = people(8000)
    fit = study.smooth("log(wage) ~ s(age) + sex")
    value, low, high = fit.partial_effect("age", [30, 70])
    assert value[1] - value[0] == pytest.approx(0.8, abs=0.15)  # 0.02 times 40 years
    assert np.all((low < value) & (value < high))
    found = fit.predict(frame)
    assert 1 - np.mean((np.log(frame["wage"]) - found) ** 2) / np.var(np.log(frame["wage"])) > 0.4
    assert str(study.smooth("log(wage) ~ s(age) + sex")) == str(fit)


def test_predictions_move_values_beyond_a_range_to_its_edge_as_the_fit_does():
    fit = seeded().ols("wage ~ age + I(age**2)")
    beyond, edge = fit.predict({"age": [500.0, -7.0]}), fit.predict({"age": [110.0, 0.0]})
    assert beyond == pytest.approx(edge)


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


@pytest.mark.parametrize("spread", [6.0, 25.0])
def test_a_plan_knows_how_far_numbers_spread_if_it_is_told(spread):
    """The range is the same; a slope is known the better the further its column spreads."""
    rng = np.random.default_rng(1)
    rows = {"dose": 50.0 + spread * rng.normal(size=20_000).clip(-2, 2), "kids": rng.integers(0, 5, 20_000)}
    rows["wage"] = 2000.0 + 4.0 * rows["dose"] + 300.0 * rng.normal(size=20_000)
    study = seeded(rows, Codebook({"dose": Number(0, 100), "kids": Number(0, 10), "wage": Number(1, 5000)}))
    planned = study.plan("wage ~ dose + kids", spread={"wage": 300.0, "dose": spread, "kids": 1.4}).widths
    found = np.ptp(study.ols("wage ~ dose + kids").conf_int(), axis=1)
    for name in ("dose", "kids"):
        assert found[name] == pytest.approx(planned[name], rel=0.25)
    for wrong in ({"nobody": 1.0}, {"dose": -1.0}, {"dose": "wide"}):
        with pytest.raises(InputError, match="spread"):
            study.plan("wage ~ dose", spread=wrong)
