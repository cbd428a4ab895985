"""The hazard check on asynchronous copies (check/async_copies.cu): what is used before they are waited
for, or overwritten while others still use it."""

from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "async_copies.cu"
SHARED, GLOBAL = "race in shared memory: ", "race in global memory: "
READ, WRITE_AFTER_WRITE, WRITE_AFTER_READ = (
    "read after write", "write after write", "write after read"
)  # fmt: skip
COPIES, FROM = "copies there asynchronously", "copies from there asynchronously"
WAIT = "wait for the copy"
BOTH = "put both between"  # a wait and a barrier
BARRIER = "put a __syncthreads() between"


@pytest.fixture
def check(build, tmp_path):
    program = build / "tests" / "hazards_async_copies"
    return lambda name: run(program, tmp_path / "report", name)


def line_of(mark):
    return check_report.line_of(SOURCE, mark)


@pytest.mark.parametrize(
    "program, title, marks, what, remedy",
    [
        ("readsOwnBeforeWait", SHARED + READ, ("own-copy", "own-read"), (COPIES, "reads"), WAIT),
        ("copiesVectors", SHARED + READ, ("vector-copy", "vector-read"), (COPIES, "reads"), WAIT),
        ("neverWaits", SHARED + READ, ("never-copy", "never-read"), (COPIES, "reads"), BOTH),
        ("noBarrier", SHARED + READ, ("no-barrier-copy", "no-barrier-read"), (COPIES, "reads"), BOTH),
        ("producerEnds", SHARED + READ, ("ended-copy", "ended-read"), (COPIES, "reads"), BOTH),
        ("warpReadsBeforeWait", SHARED + READ, ("warp-copy", "warp-read"), (COPIES, "reads"), BOTH),
        ("copiesTwice", SHARED + WRITE_AFTER_WRITE, ("twice", "twice"), (COPIES, COPIES), WAIT),
        ("disagree", SHARED + WRITE_AFTER_WRITE, ("disagree", "disagree"), (COPIES, COPIES),
         "let one of them write"),
        ("overwritesSource", GLOBAL + WRITE_AFTER_READ, ("source-copy", "source-write"),
         (FROM, "writes"), WAIT),
        ("othersOverwriteSource", GLOBAL + WRITE_AFTER_READ,
         ("others-source-copy", "others-source-write"), (FROM, "writes"), BOTH),
        ("noBarrierAfterUse", SHARED + WRITE_AFTER_READ, ("use-tile", "next-tile"),
         ("reads", COPIES), BARRIER),
    ],
)  # fmt: skip
def test_race(check, program, title, marks, what, remedy):
    finding = only(check(program))
    assert finding.title == title
    assert finding.lines() == [line_of(mark) for mark in marks]
    assert tuple(act[2] for act in finding.acts) == what
    assert finding.fix.startswith(remedy)
    same_thread = finding.acts[0][1] == finding.acts[1][1]
    assert same_thread == (remedy == WAIT)


def test_every_place_is_named_where_tiles_take_turns(check):
    first, following, use = (line_of(mark) for mark in ("first-tile", "next-tile", "use-tile"))
    found = check("noBarrierAfterWait").findings
    assert [finding.lines() for finding in found] == [[first, use], [following, use]]
    found = check("waitsForTooFew").findings
    assert {finding.title for finding in found} == {SHARED + READ, SHARED + WRITE_AFTER_WRITE}
    assert [finding.lines() for finding in found] == [
        [first, following],
        [first, use],
        [following, following],
        [following, use],
    ]


def test_a_hazard_counts_once(check):
    assert only(check("neverWaits")).times == 64  # of 64 elements
    assert only(check("copiesTwice")).times == 64
    assert only(check("copiesVectors")).where == "tile, element 3 (of 4 bytes)"


@pytest.mark.parametrize(
    "program, title, where, mark, act, more",
    [
        ("beyondSource",
         "device memory out of bounds: 4 bytes beyond the end of allocation 1 (244 bytes)",
         "element 61 of 61 (of 4 bytes each)", "beyond-source", "(61,0,0) reads", 2),
        ("unwrittenSource", "uninitialised device memory",
         "allocation 1 (256 bytes), element 0 (of 4 bytes)", "beyond-source", "(0,0,0) reads", 63),
        ("beyondDynamic",
         "shared memory out of bounds: the launch asked for 252 bytes of dynamic shared memory",
         "element 63 (of 4 bytes) of dynamic shared memory", "beyond-dynamic", "(63,0,0) writes", 0),
        ("fromHost", "host memory: none that a kernel may use", "a local variable of the host (its stack)", "from-host", "(0,0,0) reads", 0),
    ],
)  # fmt: skip
def test_memory_that_may_not_be_copied(check, program, title, where, mark, act, more):
    finding = only(check(program))
    assert (finding.title, finding.where) == (title, where)
    assert finding.times == more + 1
    line, who, did, _ = finding.acts[0]
    assert (line, f"{who} {did}") == (line_of(mark), f"thread {act}")


@pytest.mark.parametrize(
    "program",
    "waits warpWaits overwritesSourceLater copiesHalo fillsUp fillsUpVector twoTiles".split(),
)
def test_silent(check, program):
    report = check(program)
    assert report.findings == []
    assert report.launches == 1
    assert "cudaSuccess" in report.output
