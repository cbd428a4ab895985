"""The hazard check notes where kernels read numbers of which cudaMemset() has set each byte
(check/byte_fills.cu)."""

from pathlib import Path

import pytest
from check_report import line_of, run

SOURCE = Path(__file__).parent / "check" / "byte_fills.cu"


@pytest.fixture
def check(build, tmp_path):
    return lambda what: run(build / "tests" / "byte_fills", tmp_path / "report", what)


@pytest.mark.parametrize(
    "what, reads, value",
    [
        ("ints", "reads", "16,843,009"),
        ("doubles", "reads", "144,680,345,676,153,346"),
        ("counter", "counts", "151,587,081"),
    ],
)
def test_numbers_of_several_bytes(check, what, reads, value):
    report = check(what)
    (finding,) = report.findings
    assert report.hazards == 0 and not finding.hazard
    assert finding.lines() == [line_of(SOURCE, f"fills-{what}"), line_of(SOURCE, reads)]
    assert finding.times == 1
    assert value in finding.why


@pytest.mark.parametrize(
    "what", "zeros minusOnes characters large writtenFirst copiedFirst".split()
)
def test_what_cudamemset_is_for(check, what):
    assert check(what).findings == []
