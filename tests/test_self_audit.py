"""The checks that replay noise decide at any effort: ours stand, the known-bad ones are convicted."""

from __future__ import annotations

import pytest

from eptr.estimators.catalogue import OURS
from eptr.rivals.catalogue import RIVALS
from eptr.self_audit import CHECKS, run_checks
from eptr.self_audit_replay import artefact_checks, loss_checks, support_checks, type_checks

QUICK = [c for c in [*loss_checks(), *type_checks(), *artefact_checks(), *support_checks()] if "eptr fit" not in c.name]


@pytest.mark.parametrize("check", QUICK, ids=lambda c: c.name)
def test_replays_convict_the_guilty_and_nobody_else(check):
    finding = check.run(0.1)
    assert finding.convicted == ("bad: " in check.name), finding
    assert finding.enough


def test_every_attack_has_somebody_to_convict():
    bad = [check.name for check in CHECKS if "bad: " in check.name]
    assert {name.split(":")[0] for name in bad} >= {"loss", "types", "artefacts", "support", "bad"}
    assert len({check.name for check in CHECKS}) == len(CHECKS)


def test_findings_come_in_the_order_asked_for():
    names = ["bad: a float32 sum, sensitivity 1", "artefacts: bad: a raw statistic in an attribute"]
    assert [f.claim for f in run_checks(names, 0.1)] == [names[0], names[1].removeprefix("artefacts: ")]


# Where noise is only added, a replay computes what no number of runs can measure: the rest is attacked.
REPLAYED = {quick.name for quick in QUICK} | {e.name for e in OURS if e.noise == "added"}
REPLAYED |= {f"rival {e.name}" for e in RIVALS if e.noise == "added" and e.private}
# Of the guilty, one is convicted, if at all, by more runs than a test has time for.
SLOW = [check for check in CHECKS if check.name not in REPLAYED | {"rival DPNBSS-literature"}]


@pytest.mark.slow
@pytest.mark.parametrize("check", SLOW, ids=lambda c: c.name)
def test_the_self_audit_convicts_the_guilty_and_nobody_else(check):
    """500 runs of an estimator convict from 4.2 times its epsilon on, all runs of `eptr audit` from twice."""
    finding = check.run(0.1)
    assert finding.convicted == finding.guilty, finding
