"""The hazard check tells what was written of a copy or of managed memory from what was not, and reports the host
only where it uses the latter (check/partly_written.cu)."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest
from check_report import Report, line_of, only, run

SOURCE = Path(__file__).parent / "check" / "partly_written.cu"
TITLE = "uninitialised device memory"

Check = Callable[[str], Report]


@pytest.fixture
def check(build: Path, tmp_path: Path) -> Check:
    return lambda case: run(build / "tests" / "partly_written", tmp_path / "report", case)


@pytest.mark.parametrize(
    "case, mark, element, more",
    [
        ("hostUsesAll", "all", "allocation 1 (256 bytes), element 32 (of 4 bytes)", 31),
        ("hostUsesGaps", "gaps", "allocation 1 (256 bytes), element 1 (of 4 bytes)", 31),
        # Of 32 unwritten elements, without the 8 that were copied again.
        ("middleCopiedAgain", "around", "allocation 1 (256 bytes), element 32 (of 4 bytes)", 23),
        ("overTheDevice", "copied", "allocation 2 (256 bytes), element 40 (of 4 bytes)", 0),
        ("memcpyAndUse", "on", "allocation 1 (256 bytes), element 32 (of 4 bytes)", 31),
        ("compares", "compared", "allocation 1 (256 bytes), element 32 (of 4 bytes)", 31),
        ("rows", "rows", "allocation 1 (256 bytes), element 32 (of 4 bytes)", 15),
    ],
)
def test_the_host_uses_what_nothing_has_written(
    check: Check, case: str, mark: str, element: str, more: int
) -> None:
    finding = only(check(case))
    assert finding.title == TITLE
    assert finding.where == element
    assert finding.lines() == [line_of(SOURCE, f"{way}-{mark}") for way in ("copies", "uses")]
    assert finding.times == more + 1


def test_the_host_reads_managed_memory_that_nothing_has_written(check: Check) -> None:
    finding = only(check("managedRead"))
    assert finding.title == TITLE
    assert finding.where == "allocation 3 (256 bytes), element 32 (of 4 bytes)"
    assert finding.lines() == [line_of(SOURCE, "reads-managed")]
    assert finding.times == 32


def test_a_kernel_reads_managed_memory_that_nothing_has_written(check: Check) -> None:
    finding = only(check("managedInKernel"))
    assert finding.title == TITLE
    assert finding.where == "allocation 3 (256 bytes), element 60 (of 4 bytes)"
    assert finding.lines() == [line_of(SOURCE, "in-kernel")]
    assert finding.times == 4


@pytest.mark.parametrize(
    "case",
    "hostUsesWritten hostFillsTheRest copiedAgain memcpyAndUseWritten structs managedFilled managedByLibrary".split(),
)
def test_what_was_written_may_be_used(check: Check, case: str) -> None:
    report = check(case)
    assert report.findings == []
    assert report.hazards == 0 and report.launches > 0
