"""What a study has spent and delivered is in its ledger, and goes on from there."""

from __future__ import annotations

import gc
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import eptr
from eptr import InputError, Ledger, Study, stats
from eptr.accounting.budget import Budget
from eptr.codebook import Number
from eptr.errors import BudgetError, PrivacyError
from eptr.privacy.claim import Cost
from eptr.privacy.gaussian import gaussian_mu
from eptr.study.journal import Journal
from eptr.study.result import Description, Fit

from .survey import BOOK, PEOPLE, people, seeded


@pytest.mark.parametrize("shares", [[0.1] * 10, [1 / 3] * 3, [0.5, 0.3, 0.2], [1.0]])
def test_gaussian_shares_add_up_to_all_of_it(shares):
    study = seeded(people(100))
    for share in shares:
        study.table("sex", share=share, again=True)
    assert math.fsum(line.share for line in study.journal.lines()) == pytest.approx(1.0, abs=1e-12)


def test_remaining_is_a_sentence():
    study = seeded(people(300), analyses=5)
    assert study.remaining == "All of the budget: five analyses of equal shares."
    study.mean("age", share=0.38)
    study.table("sex", share=0.1)
    assert study.remaining == "52% of the budget: five more like the last."


def test_who_asks_for_more_than_is_left_hears_how_much_to_ask_for():
    study = seeded(people(300), epsilon=2.0)
    study.table("sex", share=0.4)
    for more in ({"share": 0.7}, {"epsilon": 5.0}):
        with pytest.raises(BudgetError, match=r"of which 60.0% is left: pass at most share=0.6 or epsilon=") as caught:
            study.table("region", **more)
    most = float(re.search(r"epsilon=([0-9.]+);", str(caught.value))[1])
    with pytest.raises(BudgetError, match="is left: pass"):
        study.table("region", epsilon=most + 0.01)
    study.table("region", epsilon=most)
    assert study.journal.left < 0.02
    study.table("sex", share=study.journal.left, again=True)
    with pytest.raises(BudgetError, match="of which nothing is left; nothing was drawn"):
        study.table("member", share=0.1)


def test_a_range_that_is_too_expensive_cannot_be_asked_for_at_less():
    study = seeded(people(300), BOOK.replaced("age", Number("private", price=0.3)))
    study.table("sex", share=0.8)
    with pytest.raises(BudgetError, match=r"of which 20.0% is left; nothing was drawn"):
        study.mean("age", share=0.1)


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


def test_two_who_open_the_same_study_at_the_same_time_share_it(tmp_path, monkeypatch):
    url, create = f"sqlite:///{tmp_path}/budget.db#people", Ledger.create

    def late(self, *names, **terms):
        create(self, *names, **terms)
        create(self, *names, **terms)

    monkeypatch.setattr(Ledger, "create", late)
    assert Study(PEOPLE, BOOK, epsilon=3.0, ledger=url).journal.ledger.datasets() == ["people"]


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


def test_a_result_that_nobody_paid_for_breaks_the_chain():
    study = seeded(people(300))
    study.journal.ledger.deliver("nothing:0", {"value": 3})
    with pytest.raises(eptr.LedgerError, match="nobody has paid for"):
        study.journal.ledger.verify()


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
