"""The hazard check on hosts that do not wait for the device, on memory that is never freed, and on
what the host's memcpy() and its like do to memory that the device uses (check/host_waits.cu)."""

from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "host_waits.cu"
TOUCHED = "managed or page-locked memory used by the host before the {} is known to have ended"


@pytest.fixture
def check(build, tmp_path):
    return lambda case: run(build / "tests" / "host_waits", tmp_path / "report", case)


def lines_of(*marks):
    return [check_report.line_of(SOURCE, mark) for mark in marks]


def only_note(report):
    """The one finding of a report, which is a note: the status stays 0."""
    (finding,) = report.findings
    assert finding.title.startswith("note: ")
    assert report.hazards == 0
    return finding


# ---- a kernel that prints


@pytest.mark.parametrize(
    "case, mark",
    [
        ("printsAndEnds", "prints-and-ends"),
        ("printsAndExits", "prints-and-exits"),
        ("printsInLoop", "prints-in-loop"),
        ("printsInOtherStream", "prints-in-other"),
        ("childPrints", "child-prints"),
        ("waitsBefore", "waits-before"),
    ],
)
def test_printed_and_never_waited_for(check, case, mark):
    finding = only(check(case))
    assert finding.title.startswith("a kernel prints, ")
    assert finding.where == "kernel hello"
    assert finding.lines() == lines_of(mark)
    assert "cudaDeviceSynchronize()" in finding.fix


@pytest.mark.parametrize(
    "case",
    "printsAndSynchronises printsAndCopies printsAndFrees printsAndResets printsAndWaitsForStream "
    "printsAndWaitsForEvent silentAndEnds".split(),
)
def test_prints_are_waited_for(check, case):
    report = check(case)
    assert report.findings == []
    assert ("hello" in report.output) == (case != "silentAndEnds")


def test_kernel_that_fails_is_waited_for(check):
    assert only(check("printsAndFails")).title == "kernel failed: a null pointer is used"


# ---- the time of an event


@pytest.mark.parametrize(
    "case, recorded",
    [
        ("timeOfUnwaited", "records-end"),
        ("timeOfWaitedTooEarly", "records-end"),
        ("timeOfOtherStream", "records-end"),
        ("timeOfEmptyStream", "records-empty"),
    ],
)
def test_time_of_an_event_that_nothing_has_waited_for(check, case, recorded):
    finding = only(check(case))
    assert finding.title.startswith("time of an event ")
    assert finding.lines() == lines_of(recorded, "asks-for-time")
    assert "cudaErrorNotReady" in finding.why


@pytest.mark.parametrize(
    "case", "timeOfWaited timeOfPolled timeBehindCopy timeBehindLaterStream".split()
)
def test_time_of_an_event_that_was_waited_for(check, case):
    assert check(case).findings == []


# ---- clocks of the host

CLOCKS = {
    "byClock": "by-clock",
    "bySteadyClock": "by-steady-clock",
    "bySystemClock": "by-system-clock",
    "byTimeOfDay": "by-time-of-day",
    "byPosixClock": "by-posix-clock",
    "byTime": "by-time",
}


@pytest.mark.parametrize("case", CLOCKS)
def test_clock_around_a_launch(check, case):
    finding = only_note(check(case))
    assert "clock" in finding.title
    assert finding.where == "kernel fill"
    assert finding.lines() == lines_of(CLOCKS[case], CLOCKS[case])
    assert check(case + "Waits").findings == []


def test_clock_before_a_copy_that_waits(check):
    finding = only_note(check("timesKernelThenCopy"))
    assert finding.lines() == lines_of("kernel-then-copy-begin", "kernel-then-copy-end")


@pytest.mark.parametrize("case", "timesLaunchAndAll timesHostBesideKernel timesCopies".split())
def test_times_that_are_meant(check, case):
    assert check(case).findings == []


# ---- asynchronous copies


@pytest.mark.parametrize(
    "case, copy, use",
    [
        ("usesAtOnce", "fetch-copy", "fetch-read"),
        ("usesRow", "row-copy", "row-read"),
        ("copiesAsyncAtOnce", "async-copy", "copies-async"),
    ],
)
def test_pageable_copy_used_at_once(check, case, copy, use):
    finding = only_note(check(case))
    assert finding.lines() == lines_of(copy, use)
    assert "page-locked" in finding.why


def test_two_pageable_copies_used_at_once(check):
    assert [finding.lines() for finding in check("usesBothOfTwo").findings] == [
        lines_of("two-copies-first", "two-reads-first"),
        lines_of("two-copies-second", "two-reads-second"),
    ]


def test_page_locked_copy_used_at_once_is_a_hazard(check):
    finding = only(check("copiesPinnedAtOnce"))
    assert finding.title == TOUCHED.format("copy")
    assert finding.lines() == lines_of("pinned-copy", "pinned-read")


@pytest.mark.parametrize("case", "usesSynchronised writesOver usesBehindBlockingCopy".split())
def test_copies_that_are_waited_for(check, case):
    assert check(case).findings == []


# ---- memory that is never freed


@pytest.mark.parametrize(
    "case, mark, count",
    [
        ("leaksInLoop", "leaks-in-loop", 12),
        ("leaksManaged", "leaks-managed", 20),
        ("leaksInOrder", "leaks-in-order", 20),
        ("leaksPinned", "leaks-pinned", 15),
        ("leaksHalf", "leaks-half", 15),
        ("leaksInChain", "leaks-in-chain", 12),
    ],
)
def test_leak_in_a_loop(check, case, mark, count):
    finding = only(check(case))
    assert finding.title.startswith("memory that is never freed: ")
    assert f" {count} allocations" in finding.title
    assert f" {4096 * count} bytes" in finding.title.replace(",", "")
    assert finding.lines() == lines_of(mark)


@pytest.mark.parametrize(
    "case, mark, count", [("leaksFew", "leaks-few", 5), ("keepsButDoesNotUse", "keeps", 16)]
)
def test_what_may_be_a_leak_is_a_note(check, case, mark, count):
    finding = only_note(check(case))
    assert f" {count} allocations" in finding.title
    assert finding.lines() == lines_of(mark)


@pytest.mark.parametrize(
    "case",
    "keepsForStreams keepsAndUses keepsAndCopies keepsManagedList freesInLoop resetsAtEnd "
    "allocatesOnce".split(),
)
def test_no_leak(check, case):
    assert check(case).findings == []


# ---- the host's memcpy() and its like


@pytest.mark.parametrize(
    "case, work, marks",
    [
        ("setsWhatKernelReads", "kernel", ["add-reads", "sets-what-is-read"]),
        ("copiesWhatKernelWrites", "kernel", ["fill-writes", "copies-what-is-written"]),
        ("movesPinnedBesideCopy", "copy", ["moves-copy", "moves-pinned"]),
        ("fillsRegistered", "copy", ["registered-copy", "fills-registered"]),
    ],
)
def test_memory_functions_of_the_host(check, case, work, marks):
    finding = only(check(case))
    assert finding.title == TOUCHED.format(work)
    assert finding.lines() == lines_of(*marks)


@pytest.mark.parametrize("case", "copiesOtherHalf copiesWhatCopyReads twoStages".split())
def test_memory_functions_that_are_right(check, case):
    assert check(case).findings == []


def test_large_copies_of_the_host_are_looked_at_as_a_whole(check):
    """A gibibyte: word by word it would take minutes."""
    assert check("copiesALot").findings == []


# ---- programs without a kernel


def test_copies_are_looked_at_without_a_kernel(check):
    report = check("onlyCopies")
    assert (report.hazards, report.launches) == (0, 0) and report.copies > 0


def test_nothing_to_look_at(check):
    report = check("nothing")
    assert report.launches == report.copies == 0
