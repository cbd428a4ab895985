"""Two `extern __shared__` arrays are one memory: the hazard check tells where values get lost
(check/two_names.cu)."""

import re
from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "two_names.cu"


@pytest.fixture
def check(build, tmp_path):
    return lambda case: run(build / "tests" / "two_names", tmp_path / "report", case)


def line_of(mark):
    return check_report.line_of(SOURCE, mark)


def test_value_is_lost(check):
    finding = only(check("lost"))
    found = re.findall(r"(\w+) \(\S*/two_names.cu:(\d+)\)", finding.title)
    assert found == [(name, str(line_of(name))) for name in ("keys", "values")]
    assert finding.kernel == "lost"
    assert finding.lines() == [line_of("lost-write"), line_of("lost-read")]
    assert finding.acts[0][1] == finding.acts[1][1]  # each thread its own
    assert finding.times == 64


def test_value_of_another_thread_behind_a_barrier(check):
    finding = only(check("lostBehindBarrier"))
    assert f":{line_of('keys-of-weights')}) and weights (" in finding.title
    assert finding.lines() == [line_of("lost-weight"), line_of("lost-key")]


@pytest.mark.parametrize("case", "behindEachOther oneAfterTheOther asVectors inOtherHalves".split())
def test_silent(check, case):
    report = check(case)
    assert report.findings == []
    assert "no error" in report.output
