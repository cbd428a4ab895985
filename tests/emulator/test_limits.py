"""The hazard check knows limits of a GPU that kernels do not meet here: the stack of a recursion, and
the buffer for what they print (check/limits.cu)."""

from pathlib import Path

import pytest
from check_report import line_of, only, run

SOURCE = Path(__file__).parent / "check" / "limits.cu"


@pytest.fixture
def report(build, tmp_path):
    return lambda *arguments: run(build / "tests" / "limits", tmp_path / "report", *arguments)


@pytest.mark.parametrize("what, depth, calls", [("deep", 40, 41), ("mutual", 300, 300)])
def test_recursion_that_needs_more_stack(report, what, depth, calls):
    finding = only(report(what, str(depth)))
    assert finding.title.startswith(f"recursion with too little stack: {calls} calls take ")
    assert finding.kernel == what
    (line,) = finding.lines()
    assert line in [line_of(SOURCE, mark) for mark in ("array", "mutual", "even")]
    assert "1,024 bytes" in finding.why
    assert "cudaDeviceSetLimit(cudaLimitStackSize" in finding.fix


def test_the_limit_that_the_program_sets_holds(report):
    assert "2,048 bytes" in only(report("deep", "100", "2048")).why
    assert report("deep", "100", "65536").findings == []


@pytest.mark.parametrize(
    "what, n", [("deep", 5), ("mutual", 40), ("shallow", 15), ("largeFrames", 7)]
)
def test_recursion_and_frames_that_a_gpu_has_the_stack_for(report, what, n):
    assert report(what, str(n)).findings == []


def test_recursion_without_end(report):
    """The stack of the emulation ends, too; that the limit is to blame comes first."""
    stack, failure = report("deep", "5000").findings
    assert stack.title.startswith("recursion with too little stack: ")
    assert failure.title.startswith("kernel failed: stack overflow")


@pytest.mark.parametrize("what", ["print", "printPlain"])
def test_more_printed_than_fits(report, what):
    """Of 4 x 64 threads."""
    finding = only(report(what, "100"))
    assert finding.title.endswith(": 25,600 calls of printf() in one launch")
    assert finding.kernel == what
    assert finding.lines() == [line_of(SOURCE, what)]
    sure = {"print": "1,638,400", "printPlain": "1,177,600"}[what]  # 64 and 46 bytes each
    assert f"{sure} bytes" in finding.why and "1,048,576 bytes" in finding.why


def test_long_lines_count_as_far_as_is_sure(report):
    assert report("printLong", "20").findings == []
    assert "1,310,720 bytes" in only(report("printLong", "40")).why  # 128 bytes each


@pytest.mark.parametrize(
    "what, n, limit", [("print", 60, 0), ("printTwice", 60, 0), ("print", 100, 1638400)]
)
def test_what_is_printed_fits(report, what, n, limit):
    assert report(what, str(n), str(limit)).findings == []
