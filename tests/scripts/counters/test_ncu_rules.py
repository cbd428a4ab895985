"""What Nsight Compute's rules estimated for kernels that ran on an H200, each slow for one reason.

ncu printed recorded/rules.details.csv with SECTIONS and more; of the metrics, it has the durations alone.
"""

from __future__ import annotations

import pytest
from lab_cli.counters import diagnosis, ncu_rules
from lab_cli.counters.ncu_rules import RULES, STALL
from lab_cli.paths import ROOT

PAGE = (ROOT / "tests/scripts/counters/recorded/rules.details.csv").read_text()
KERNELS = ["strided", "banks", "split", "saxpy", "tail", "narrow", "lookup", "literals"]
KERNELS += ["count", "countOnce", "sum"]
FOUND = dict(zip(KERNELS, ncu_rules.parse(PAGE)))


def test_each_launch_has_its_estimates() -> None:
    assert len(ncu_rules.parse(PAGE)) == len(KERNELS)
    assert ncu_rules.parse("==PROF== nothing\n") == []


@pytest.mark.parametrize(
    ("kernel", "symptom", "rule", "share"),
    [
        ("strided", "uncoalesced loads", "UncoalescedGlobalAccess", 74.29),
        ("banks", "bank conflicts", "UncoalescedSharedAccess", 93.04),  # the greater of two
        ("split", "divergence", "ThreadDivergence", 46.56),
        ("saxpy", "small grid", "LaunchConfiguration", 99.24),  # one block
        ("saxpy", STALL, "CPIStall", 93.66),
        ("tail", "last wave", "LaunchConfiguration", 50.0),
        ("count", STALL, "CPIStall", 95.95),
    ],
)
def test_estimates(kernel: str, symptom: str, rule: str, share: float) -> None:
    assert FOUND[kernel][symptom] == (rule, share)


def test_what_is_about_a_part_of_the_gpu_alone_is_left_out() -> None:
    """The stall of `literals` has a local estimate, and HighPipeUtilization never has another."""
    assert STALL not in FOUND["literals"]
    assert '"HighPipeUtilization"' in PAGE and "HighPipeUtilization" not in RULES


def test_symptoms_are_those_of_the_rules_of_lab() -> None:
    known = {rule.symptom for rule in diagnosis.load().rules}
    assert {symptom for symptoms in RULES.values() for symptom in symptoms} <= {*known, STALL}


def test_a_sentence() -> None:
    assert "74 %" in ncu_rules.sentence(("UncoalescedGlobalAccess", 74.03))


def test_rows_of_metrics_alone_are_shorter() -> None:
    metric = '"0","10645","count","127.0.0.1","k()","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","S","m","ns","3",'
    header, *rows = PAGE.splitlines()
    assert ncu_rules.parse("\n".join([header, metric, *rows])) == ncu_rules.parse(PAGE)
