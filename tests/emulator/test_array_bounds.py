"""Indices outside of arrays that are declared with a size, and addresses beside all of a kernel's shared
arrays, are found; the programs run on (check/array_bounds.cu)."""

from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "array_bounds.cu"


@pytest.fixture
def check(build, tmp_path):
    return lambda *case: run(build / "tests" / "array_bounds", tmp_path / "report", *case)


def line_of(mark):
    return check_report.line_of(SOURCE, mark)


@pytest.mark.parametrize(
    "case, index, array, elements, thread",
    [
        ("local", 8, "int[8]", 8, "(0,0,0)"),
        ("below", -1, "int[8]", 8, "(0,0,0)"),
        ("intoTheNext", 8, "sums (int[8])", 8, "(0,0,0)"),
        ("intoTheNextRow", 8, "int[8]", 8, "(7,0,0)"),
        ("intoTheMember", 3, "float[3]", 3, "(0,0,0)"),
        ("intoTheVariable", 8, "int[8]", 8, "(0,0,0)"),
        ("beyondAll", 64, "temp (int[64])", 64, "(28,0,0)"),
    ],
)
def test_index(check, case, index, array, elements, thread):
    report = check(case)
    finding = only(report)
    about = f"index {index} of {array}, which has {elements} elements"
    assert finding.title.replace(" [", "[") == f"array index out of bounds: {about}"
    assert finding.kernel == case
    line, who, _, _ = finding.acts[0]
    assert (line, who) == (line_of(case), f"thread {thread}")
    assert "no error" in report.output


def test_rows_are_counted(check):
    finding = only(check("rows"))
    assert "index 4 of int[4][8], which has 4 elements" in finding.title.replace(" [", "[")
    assert finding.lines() == [line_of("rows")]


@pytest.mark.parametrize("case, element", [("beyondAllByPointer", 100), ("beforeAllByPointer", -8)])
def test_pointer_beside_all_arrays(check, case, element):
    report = check(case)
    finding = only(report)
    assert finding.title.startswith("shared memory out of bounds")
    assert finding.where == f"element {element} of temp, which has 64 (of 4 bytes)"
    assert finding.lines() == [line_of(case)]
    assert "no error" in report.output


def test_report_of_a_kernel_that_dies(check):
    index, failure = check("farBeyond").findings
    assert "index 10000000 of window (int" in index.title
    assert failure.title.startswith("kernel failed: illegal address")
    assert index.lines() == failure.lines() == [line_of("farBeyond")]


@pytest.mark.parametrize("case", "lastElements flexible otherTypes ofTemplate".split())
def test_silent(check, case):
    report = check(case)
    assert report.findings == []
    assert "no error" in report.output
