"""The hazard check finds what only the last block does wrong, whatever ran on its OS thread before
(check/last_block.cu)."""

from pathlib import Path

import check_report
import pytest

SOURCE = Path(__file__).parent / "check" / "last_block.cu"
SHARED = "race in shared memory: "
# By kernel: how the title begins, and the marks of the lines.
EXPECTED = {
    "unwritten": ("uninitialised shared memory", {"unwritten"}),
    "unwrittenDynamic": ("uninitialised shared memory", {"unwritten-dynamic"}),
    "noBarrier": (SHARED + "read after write", {"no-barrier-write", "no-barrier-read"}),
    "noBarrierOfTheWarp": (SHARED + "read after write", {"no-syncwarp-write", "no-syncwarp-read"}),
    "atomicBesidePlain": (SHARED + "atomic and plain access", {"beside-clear", "beside-add"}),
    "passesBy": ("barrier in divergent code: ", {"passed-by"}),
    "sameElement": ("race in global memory: write after write", {"same-element"}),
    "beyondEnd": ("device memory out of bounds: ", {"beyond-end"}),
}


@pytest.fixture
def report(build, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_EMULATOR_SMS", "1")  # all blocks on one OS thread
    return lambda what: check_report.run(build / "tests" / "last_block", tmp_path / "report", what)


@pytest.mark.parametrize("what, block", [("alone", 0), ("blocks", 3), ("launches", 0)])
def test_each_hazard_of_the_last_block(report, what, block):
    findings = {finding.kernel: finding for finding in report(what).findings}
    assert set(findings) == set(EXPECTED)
    for kernel, finding in findings.items():
        title, marks = EXPECTED[kernel]
        assert finding.title.startswith(title), kernel
        assert set(finding.lines()) == {check_report.line_of(SOURCE, mark) for mark in marks}
        assert finding.block == f"({block},0,0)", kernel


def test_right_blocks(report):
    assert report("right").findings == []
