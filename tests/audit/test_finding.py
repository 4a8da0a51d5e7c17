"""Three verdicts: right, wrong, and not enough runs to say."""

from __future__ import annotations

import pytest

from eptr.audit.finding import Finding, Tally


def finding(convicted, guilty, enough=True):
    return Finding("claim", "attack", "measured", convicted, guilty, enough)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (finding(False, False), "stands"),
        (finding(True, True), "convicted"),
        (finding(True, True, enough=False), "convicted"),
        (finding(True, False), "convicted (WRONG)"),
        (finding(True, False, enough=False), "convicted (WRONG)"),
        (finding(False, True), "stands (WRONG)"),
        (finding(False, True, enough=False), "not enough runs"),
        (finding(False, False, enough=False), "not enough runs"),
    ],
)
def test_verdicts(found, verdict):
    assert found.verdict == verdict
    assert found.wrong == ("WRONG" in verdict)
    assert found.undecided == (verdict == "not enough runs")


def test_the_tally_counts_every_finding_once():
    found = [finding(False, False), finding(True, False), finding(False, True, False), finding(True, True)]
    assert Tally.of(found) == Tally(right=2, undecided=1, wrong=1)
