"""The hazard check on mbarriers, pipelines and bulk copies (check/mbarriers.cu)."""

from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "mbarriers.cu"
SHARED = "race in shared memory: "
READ, OVERWRITE, INIT = "read after write", "write after read", "atomic and plain access"
FOR_BARRIER, COPIES = "copies there asynchronously, for a barrier", "copies there asynchronously"
STORES = "stores from there in bulk"


@pytest.fixture
def check(build, tmp_path):
    program = build / "tests" / "hazards_mbarriers"
    return lambda name: run(program, tmp_path / "report", name)


def line_of(mark):
    return check_report.line_of(SOURCE, mark)


@pytest.mark.parametrize(
    "program, title, marks, what",
    [
        ("noWait", SHARED + READ, ("write", "read"), ("writes", "reads")),
        ("arrivesBeforeItWrites", SHARED + READ, ("write", "read"), ("writes", "reads")),
        ("bulkNoWait", SHARED + READ, ("bulk", "use"), (FOR_BARRIER, "reads")),
        ("bulkOthersDoNotWait", SHARED + READ, ("bulk", "use"), (FOR_BARRIER, "reads")),
        ("bulkOverwritesUse", SHARED + OVERWRITE, ("last", "next"), ("reads", FOR_BARRIER)),
        ("tileOverwritesUse", SHARED + OVERWRITE, ("use", "copy"), ("reads", COPIES)),
        ("noFence", "bulk store without a proxy fence", ("result", "store"), ("writes", STORES)),
        ("fenceBeforeWrite", "bulk store without a proxy fence", ("result", "store"), ("writes", STORES)),
        ("noBarrierBeforeStore", SHARED + READ, ("result", "store"), ("writes", STORES)),
        ("overwritesStore", SHARED + OVERWRITE, ("store", "again"), (STORES, "writes")),
        ("readsAhead", SHARED + READ, ("fill", "stage"), (COPIES, "reads")),
    ],
)  # fmt: skip
def test_race(check, program, title, marks, what):
    finding = only(check(program))
    assert finding.title == title
    acts = {line: did for line, _, did, _ in finding.acts}
    assert acts == dict(zip(map(line_of, marks), what))


def test_a_copy_that_no_thread_waits_for_meets_its_use_and_the_next_copy(check):
    use, copy = line_of("use"), line_of("copy")
    found = check("tileNoWait").findings
    assert {frozenset(finding.lines()) for finding in found} == {
        frozenset({use, copy}),
        frozenset({copy}),
    }


def test_a_barrier_in_use_before_others_know_that_it_is_initialised(check):
    found = check("noBarrierAfterInit").findings
    assert {finding.title for finding in found} == {SHARED + INIT}
    assert {finding.lines()[0] for finding in found} == {line_of("init")}


def test_an_atomic_of_block_scope_that_several_blocks_use(check):
    finding = only(check("blockScope"))
    assert (
        finding.title == "race in global memory: an atomic of block scope, used by several blocks"
    )
    assert finding.lines() == [line_of("count")] * 2


def test_a_bulk_store_that_its_thread_does_not_wait_for(check):
    titles = [finding.title for finding in check("nobodyWaitsForStore").findings]
    assert titles == [SHARED + OVERWRITE, "bulk store that nobody waits for"]


@pytest.mark.parametrize(
    "program, words",
    [
        ("noInit", "nothing has initialised this barrier"),
        ("tooManyArrive", "more arrivals than the barrier was initialised for"),
        ("waitsForNobody", "lacks 1 of 65 arrivals"),
        ("expectsMore", "lacks 0 of 1 arrivals and 16 of 1040 expected bytes"),
        ("expectsNothing", "more bytes than it was told to expect"),
        ("oddSize", "1016 bytes: the size of a bulk copy must be a multiple of 16"),
        ("oddSource", "misaligned address: src_global is 4 beyond a multiple of 16"),
        ("noRelease", "lacks 64 of 64 arrivals"),
        ("runsAhead", "deadlock: threads of the block wait for one another for ever"),
    ],
)  # fmt: skip
def test_kernels_that_fail(check, program, words):
    report = check(program)
    assert words in report.output
    assert any(finding.title.startswith("kernel failed") for finding in report.findings)


@pytest.mark.parametrize(
    "program",
    "handOver twoTiles twoBulkTiles oneTile oneBuffer store pipelined deviceScope".split(),
)
def test_silent(check, program):
    report = check(program)
    assert report.findings == []
    assert report.launches == 1
    assert "cudaSuccess" in report.output
