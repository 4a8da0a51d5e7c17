"""Every analysis costs its share, once, and says what was bought for it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from eptr import Codebook, InputError, Ledger, Study, stats
from eptr.codebook import Number
from eptr.errors import BudgetError, NotPrivateWarning
from eptr.privacy.bounded_range import bounded_range_mu
from eptr.privacy.gaussian import gaussian_mu
from eptr.study.result import Fit

from .survey import ASKED, BOOK, PEOPLE, people, seeded


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
        assert "without looking at the data except for what was estimated" in replace(release, private=True).statement()
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


def test_epsilon_is_at_the_delta_of_the_study():
    study = seeded(people(300))
    found = study.mean("age", epsilon=1.0)
    assert found.release.epsilon == pytest.approx(1.0, rel=1e-9)
    assert study.journal.lines()[0].share == pytest.approx((gaussian_mu(1.0, 1e-6) / gaussian_mu(4.0, 1e-6)) ** 2)


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


@pytest.mark.parametrize("where", [PEOPLE["age"] > 30, ["age > 30"], True, 1])
def test_a_condition_that_is_no_text_is_a_sentence(where):
    study = seeded()
    with pytest.raises(InputError, match="where must be text"):
        study.mean("wage", where=where)
    assert study.journal.lines() == []


def test_groups_are_of_one_column():
    with pytest.raises(InputError, match="by must be the name of one column"):
        seeded().mean("wage", by=["sex", "region"])


@pytest.mark.parametrize(
    ("spend", "told"),
    [({"again": "no"}, "again must be True or False"), ({"shares": 0.1}, "shares is not"), ({"share": 2}, "at most 1")],
)
def test_settings_are_checked_whether_or_not_the_result_is_stored(spend, told):
    study = seeded()
    for _ in range(2):
        with pytest.raises(InputError, match=told):
            study.mean("wage", **spend)
        study.mean("wage")
    assert len(study.journal.lines()) == 1
