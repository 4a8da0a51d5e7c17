"""A dataset counts the releases it was opened for."""

from __future__ import annotations

import pytest

import eptr
from eptr import Ledger, PrivacyError
from eptr.privacy.claim import Cost
from eptr.privacy.noise import ExactNoise

from .charges import CITED, COST, data, model


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_seeded_releases_are_refused_unless_it_is_a_simulation(study, place, name):
    with pytest.raises(PrivacyError, match="simulation=True"):
        model(study.url, random_state=0).fit(*data())
    assert len(study.history()) == 1
    Ledger(place).create(name + "-play", epsilon=3.0, delta=1e-5, simulation=True)
    model(f"{place}#{name}-play", random_state=0).fit(*data())


OPEN = Cost(0.5, 1e-7, "basic", 0.0, basis="not verified", theorem="the floats")


@pytest.mark.parametrize(("accept", "admitted"), [("proven", 1), ("cited", 2), ("not verified", 3)])
def test_a_dataset_takes_the_bases_it_was_created_for(place, name, accept, admitted):
    ledger = Ledger(place)
    ledger.create(name, epsilon=3.0, delta=1e-5, accept=accept)
    account = ledger.account(name)
    for k, cost in enumerate((COST, CITED, OPEN)):
        if k < admitted:
            account.check(cost, private=True)
            entry = account.charge(cost, private=True)
            assert (entry.basis, entry.content["theorem"]) == (cost.basis, cost.theorem)
            continue
        for act in (account.check, account.charge):
            with pytest.raises(PrivacyError, match=f"accept='{cost.basis}'"):
                act(cost, private=True)
    assert [e.basis for e in account.history()] == ["", "proven", "cited", "not verified"][: 1 + admitted]
    account.verify()


def test_nothing_is_drawn_for_a_basis_that_is_not_accepted(study, place, name, monkeypatch):
    X, y = data()
    fit = eptr.rivals.DPJL(0.5, 1e-7, x_bound=3.0, y_bound=2.0, ledger=study.url)
    with monkeypatch.context() as patch:
        patch.setattr(ExactNoise, "laplace", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(PrivacyError, match="--accept 'cited'"):
            fit.fit(X, y)
    assert len(study.history()) == 1
    Ledger(place).create(name + "-cited", epsilon=3.0, delta=1e-5, accept="cited")
    fit.set_params(ledger=f"{place}#{name}-cited").fit(X, y)
    last = Ledger(place).history(name + "-cited")[-1]
    assert (last.basis, last.content["theorem"]) == (fit.release_.basis, fit.release_.theorem)
    assert "Sheffet" in fit.release_.theorem
