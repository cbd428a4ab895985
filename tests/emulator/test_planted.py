"""The hazard check on bugs as students plant them (check/planted.cu), and on their neighbours that are
right."""

import os
import re
import subprocess
import threading
from pathlib import Path

import check_report
import pytest
from check_report import only, run

PLANTED = Path(__file__).parent / "check" / "planted.cu"
HOST = "device memory used by the host"
BOTH = "managed or page-locked memory used by the host before the {} is known to have ended"
STREAMS = "race between streams: "
REFUSED = "error that nobody looked at: "
UNWRITTEN = "uninitialised device memory"
RACE = "race in global memory: "
FIRST = "allocation 1 (1,024 bytes)"
# clang++ sees a struct by its members (emulator/profiler.md).
WITH_CLANG = {
    "structsUnwritten": ("allocation 1 (512 bytes), element 0 (of 8 bytes)", 64),
}


@pytest.fixture
def check(build, tmp_path):
    return lambda bug: run(build / "tests" / "planted", tmp_path / "report", bug)


def line_of(mark):
    return check_report.line_of(PLANTED, mark)


def table(text):
    """The columns of each line, which two spaces part."""
    return [re.split("  +", line) for line in text.strip().splitlines()]


ELEMENT = FIRST + ", element {} (of 4 bytes)"


@pytest.mark.parametrize(
    "bug, mark, what, where, times",
    [
        ("hostReads", "host-reads", "reads", ELEMENT.format(0), 1),
        ("hostWrites", "host-writes", "writes", ELEMENT.format(0), 256),
        ("hostCopies", "host-copies", "reads", FIRST, 1),
        ("hostReadsFreed", "host-reads-freed", "reads", ELEMENT.format(1), 1),
    ],
)
def test_host_uses_device_memory(check, gcc, bug, mark, what, where, times):
    if not gcc:
        where, times = WITH_CLANG.get(bug, (where, times))
    report = check(bug)
    finding = only(report)
    assert finding.title == HOST
    assert (finding.kernel, finding.where, finding.times) == ("", where, times)
    assert finding.acts[0][:3] == (line_of(mark), "the host", what)
    assert "crashes" in finding.why
    assert f"{bug}: cudaSuccess" in report.output  # it goes on


def test_library_call_behind_an_access_of_the_host(check):
    findings = check("hostWritesThenCopies").findings
    assert [(f.title, *f.acts[0][:3]) for f in findings] == [
        (HOST, line_of("host-writes-first"), "the host", "writes"),
        (HOST, line_of("host-copies-then"), "the host", "reads"),
    ]


# Program, then line, actor and act; line and act of the host; where.
EARLY = """
hostReadsManagedEarly   write-indices    kernel  writes  managed-early        reads   element 3
readsBeforeTheCopy      copy-to-host     copy    writes  copy-read-early      reads   element 3
overwritesTheSource     copy-from-host   copy    reads   source-overwritten   writes  element 4
readsBeforeTheFill      fill-of-managed  fill    writes  fill-read-early      reads   element 5
readsBeforeTheGraph     graph-launch     copy    writes  graph-read-early     reads   element 6
registeredEarly         registered-copy  copy    writes  registered-early     reads   registered memory
managedVariableEarly  bump-managed  kernel  updates it atomically  managed-variable  reads  a __managed__ variable
"""


@pytest.mark.parametrize("bug, line, who, did, of_host, host_did, where", table(EARLY))
def test_host_does_not_wait(check, bug, line, who, did, of_host, host_did, where):
    finding = only(check(bug))
    assert finding.title == BOTH.format(who)
    assert finding.where.removeprefix(FIRST + ", ").removesuffix(" (of 4 bytes)") == where
    first, second = (act[:3] for act in finding.acts)
    assert first == (line_of(line), f"the {who}", did)
    assert second == (line_of(of_host), "the host", host_did)
    assert "cudaDeviceSynchronize()" in finding.fix


def kind(first, second):
    """What a race is called, in which one access "writes" or "reads" and then the other one does."""
    return f"{second.removesuffix('s')} after {first.removesuffix('s')}"


# Program, then line, actor and act in another stream; the same of what does not wait for it.
STREAM_RACES = """
thirdStream             write-indices  kernel  writes  copy-elements   thread  reads
graphBranches           write-indices  kernel  writes  copy-elements   thread  reads
copyOfAnotherStream     copy-in-a      copy    writes  copy-elements   thread  reads
fillOfAnotherStream     fill-in-first  fill    writes  copy-elements   thread  reads
columnsOfAnotherStream  column         copy    writes  copy-elements   thread  reads
nextInputTooEarly       copy-elements  kernel  reads   next-input      copy    writes
fillsTooEarly           write-indices  kernel  writes  fills-too-early  fill   writes
writesOfStreams         write-one      kernel  writes  write-two       thread  writes
"""


@pytest.mark.parametrize("bug, line, who, did, late_line, late, late_did", table(STREAM_RACES))
def test_race_between_streams(check, bug, line, who, did, late_line, late, late_did):
    finding = only(check(bug))
    assert finding.title == STREAMS + kind(did, late_did)
    first, second = (act[:3] for act in finding.acts)
    assert first == (line_of(line), f"another stream's {who}", did)
    actor = "thread (0,0,0)" if late == "thread" else f"the {late}"
    assert second == (line_of(late_line), actor, late_did)
    assert "cudaStreamWaitEvent()" in finding.fix


# Program, then line and act of the parent, and of the child.
CHILD_RACES = """
childBeforeBarrier      for-child          writes  copy-elements  reads
goesOnBesideChild       beside-child       writes  copy-elements  reads
goesOnBesideGrandchild  beside-grandchild  writes  copy-elements  reads
readsFromChild          reads-from-child   reads   write-indices  writes
childOfOneBlock         of-each-block      writes  copy-elements  reads
"""


@pytest.mark.parametrize("bug, line, did, child_line, child_did", table(CHILD_RACES))
def test_race_of_parent_and_child(check, bug, line, did, child_line, child_did):
    finding = only(check(bug))
    assert finding.title == "race between parent and child: " + kind(did, child_did)
    first, (late_line, _, late_did, _) = finding.acts
    assert first[:3] == (line_of(line), "the parent", did)
    assert (late_line, late_did) == (line_of(child_line), child_did)
    assert "cudaStreamTailLaunch" in finding.fix


def test_what_a_fence_hands_to_another_stream_is_not_judged(check):
    (remark,) = check("streamsHandOver").not_judged
    pair = rf"\S*:{line_of('produce')} and \S*:{line_of('consume')}"
    assert re.search(rf"^1 pair of lines .* such as {pair}$", remark)


CONFIGURATION = "cudaErrorInvalidConfiguration (invalid configuration argument)"
VALUE = "cudaErrorInvalidValue (invalid argument)"


@pytest.mark.parametrize(
    "bug, what, error, mark",
    [
        ("blockTooLarge", "the launch of addAtomically", CONFIGURATION, "block-too-large"),
        ("copyBeyond", "cudaMemcpy()", VALUE, "copy-beyond"),
        ("freedOfTheHost", "cudaFree()", VALUE, "freed-of-host"),
        ("errorOfAnotherThread", "the launch of addAtomically", CONFIGURATION, "other-thread"),
        ("childRefused", "the launch of child", CONFIGURATION, "child-refused"),
    ],
)
def test_error_that_nobody_looks_at(check, bug, what, error, mark):
    finding = only(check(bug))
    assert finding.title == f"{REFUSED}{what} returned {error}"
    kernel, who = (
        ("launchesTooMany", "thread (0,0,0)") if bug == "childRefused" else ("", "the host")
    )
    assert finding.kernel == kernel
    assert finding.acts[0][:3] == (line_of(mark), who, "goes on")
    assert "cudaGetLastError()" in finding.fix


@pytest.mark.parametrize(
    "bug, where, first, did, last",
    [
        ("freedTwice", "an allocation of 1,024 bytes", "freed-first", "has freed it", "freed-twice"),
        ("freedInside", "24 bytes into an allocation of 1,024 bytes", "device-ints", "allocates it",
         "freed-inside"),
        ("errorOfADestructor", "4 bytes into an allocation of 1,024 bytes", "device-ints",
         "allocates it", "frees-later"),
    ],
)  # fmt: skip
def test_pointer_that_cannot_be_freed(check, bug, where, first, did, last):
    finding = only(check(bug))
    assert finding.title == f"{REFUSED}cudaFree() returned {VALUE}"
    assert finding.where == where
    assert [act[:3] for act in finding.acts] == [
        (line_of(first), "the host", did),
        (line_of(last), "the host", "goes on"),
    ]
    assert "once" in finding.fix and "cudaFreeHost()" in finding.fix


def test_pointer_that_cuda_did_not_give(check):
    assert only(check("freedOfTheHost")).where == "memory that CUDA has not allocated"


def test_shared_bins_that_nobody_cleared(check):
    added, read = check("sharedBinsNotCleared").findings
    assert added.title == read.title == "uninitialised shared memory"
    assert added.acts[0][0] == line_of("count-in-shared")
    assert added.acts[0][2] == "updates it atomically"
    assert read.acts[0][2] == "reads"  # those that no thread counted in


def test_copies_alone_are_looked_at(check):
    report = check("nothingLaunched")
    assert (report.hazards, report.launches, report.copies) == (0, 0, 1)


@pytest.mark.parametrize(
    "bug, where, mark, act, more",
    [
        ("bytesForElements", ELEMENT.format(64), "copy-elements", "thread (64,0,0) reads", 191),
        ("copyOfUnwritten", "allocation 2 (1,024 bytes), element 128 (of 4 bytes)", "copy-elements",
         "thread (128,0,0) reads", 127),
        ("sumNotCleared", "allocation 2 (4 bytes), element 0 (of 4 bytes)", "add-atomically",
         "thread (0,0,0) updates it atomically", 0),
        ("structsUnwritten", "allocation 1 (512 bytes), element 0 (of 16 bytes)", "copy-structs",
         "thread (0,0,0) reads", 31),
        ("copiesUnwritten", FIRST, "copies-unwritten",
         "the host copies 1,024 bytes, none of which was written", 0),
    ],
)  # fmt: skip
def test_memory_that_nobody_wrote(check, gcc, bug, where, mark, act, more):
    times = more + 1
    if not gcc:
        where, times = WITH_CLANG.get(bug, (where, times))
    finding = only(check(bug))
    assert finding.title == UNWRITTEN
    assert (finding.where, finding.times) == (where, times)
    line, who, did, _ = finding.acts[0]
    assert (line, f"{who} {did}") == (line_of(mark), act)


@pytest.mark.parametrize(
    "bug, mark, size, off, what",
    [("oddPairs", "copy-pairs", 8, 4, "reads"), ("oddQuads", "copy-quads", 16, 8, "writes")],
)
def test_misaligned_address(check, bug, mark, size, off, what):
    finding = only(check(bug))
    assert finding.title.startswith("misaligned address: ")
    assert re.findall(r"\d+", finding.title) == [str(size), str(off)]
    assert finding.acts[0][:3] == (line_of(mark), "thread (0,0,0)", what)
    assert finding.times == 32
    assert "cudaErrorMisalignedAddress" in finding.why


BARRIER = "__syncthreads() between"
BLOCKS = "nothing orders the blocks of a grid"
DIFFERENT = "write different values to one place"
FENCE = "with a __threadfence()"
OLD_VALUE = "; where an old value does no harm, read it through a volatile pointer"

BESIDE_A_LOCK_OR_FLAG = (
    "locksInSharedWithoutFence lastWarpWithoutFence lastWarpFewFences lastBlockWithoutFence"
).split()


@pytest.mark.parametrize(
    "bug, marks, remedies",
    [
        ("addOne", ["add-one"], ["atomicAdd()"]),
        ("addOneInBlocks", ["add-one"], ["atomicAdd()"]),
        ("addOneToVariable", ["add-to-variable"], ["atomicAdd()"]),
        ("lastWins", ["last-wins"], [DIFFERENT]),
        ("blocksDisagree", ["blocks-disagree"], [DIFFERENT]),
        ("smooth", ["smooth-write", "smooth-read"], [BARRIER]),
        ("smoothInBlocks", ["smooth-write", "smooth-read"], [BLOCKS, BARRIER]),
        ("exchangeInWarp", ["exchange-write", "exchange-read"], ["__syncwarp()"]),
        ("bytesOfNeighbours", ["own-byte", "neighbour"], [BARRIER]),
        ("addThenRead", ["then-add", "then-read"], [BLOCKS, BARRIER]),
        ("clearThenAdd", ["clear-sum", "add-to-sum"], [BARRIER]),
        ("lastBlockWithoutFence", ["part-write", "part-read"], [BLOCKS]),
        ("lastWarpWithoutFence", ["part-of-warp", "parts-of-warps"], [BARRIER]),
        ("lastWarpFewFences", ["part-of-warp", "parts-of-warps"], [BARRIER]),
        ("readsOldValue", ["old-add", "old-read"], [OLD_VALUE]),
        ("heapRace", ["heap-write", "heap-other"], [BARRIER]),
    ],
)
def test_race_in_global_memory(check, bug, marks, remedies):
    """Which blocks meet first is a matter of time: so which access came first, and who is shown."""
    finding = only(check(bug))
    assert finding.title.startswith(RACE)
    assert set(finding.lines()) == {line_of(mark) for mark in marks}
    advice = f"{finding.why}; {finding.fix}"
    assert any(remedy in advice for remedy in remedies), advice
    assert (FENCE in advice) == (bug in BESIDE_A_LOCK_OR_FLAG)


@pytest.mark.parametrize(
    "bug, marks, title, remedy",
    [
        ("locksInSharedWithoutFence", ["locked-sum"] * 2, "write after read", "atomicAdd()"),
        ("fencesWithoutFlag", ["fenced-write", "fenced-read"], "read after write", BARRIER),
        ("countsInShared", ["count-plainly"] * 2, "write after read", "atomicAdd()"),
    ],
)
def test_race_in_shared_memory(check, bug, marks, title, remedy):
    finding = only(check(bug))
    assert finding.title == "race in shared memory: " + title
    assert finding.lines() == [line_of(mark) for mark in marks]
    advice = f"{finding.why}; {finding.fix}"
    assert remedy in advice
    assert (FENCE in advice) == (bug in BESIDE_A_LOCK_OR_FLAG)


def test_race_between_blocks_names_both(check):
    finding = only(check("addOneInBlocks"))
    assert re.fullmatch(r"a thread of block \([0-3],0,0\)", finding.acts[0][1])
    assert f"block {finding.block}" not in finding.acts[0][1]
    assert finding.where == FIRST + ", element 0 (of 4 bytes)"


def test_steps_without_a_barrier_of_the_grid(check):
    lines = {line_of(mark) for mark in ("step-write", "step-read", "step-clear")}
    findings = check("twoStepsWithoutBarrier").findings
    assert findings
    for finding in findings:
        assert finding.title.startswith(RACE) and set(finding.lines()) < lines


SILENT = (
    "managedInTime managedVariableInTime hostFunctionInOrder hostFunctionTells "
    "copiesInTime fillsInTime copiesOfPageable graphInOrder graphInTwoStreams streamsApart "
    "streamsTogether streamsHandOver memoryFromThePool childBehindBarrier childrenInOrder "
    "childOfTheLastBlock exchangesFresh errorsLookedAt allWritten addAtomically allAgree tree "
    "treeOfWarp ownBytes addByCas evenPairs packedValues lastBlock twoSteps launchesInOrder "
    "looksBeforeUpdate breaksOutOfCas readsOldValueSaysSo locksInShared lastWarp "
    "heapInBounds heapLateFree heapCleared heapNoRace heapChild"
).split()
PROGRAMS = re.findall(r'^(?:    \{"|PROGRAM\()(\w+)', PLANTED.read_text(), re.MULTILINE)


@pytest.mark.parametrize("program", SILENT)
def test_silent(check, program):
    report = check(program)
    assert report.hazards == 0
    assert bool(report.findings) == (program == "copiesOfPageable")  # which gives a note
    assert report.launches > 0
    assert f"{program}: cudaSuccess" in report.output


@pytest.mark.parametrize(
    "program, marks",
    [
        ("lastBlock", ["part-write", "part-read"]),
        ("locksInShared", ["locked-sum", "locked-sum"]),
        ("lastWarp", ["part-of-warp", "parts-of-warps"]),
    ],
)
def test_what_a_fence_hands_over_is_not_judged(check, program, marks):
    pair = " and ".join(rf"\S*planted\.cu:{line_of(mark)}" for mark in marks)
    (remark,) = check(program).not_judged
    assert re.search(rf"^1 pair of lines .* such as {pair}$", remark)


@pytest.mark.parametrize(
    "program, lines, mark",
    [
        ("looksBeforeUpdate", "2 lines", "look-in-block"),
        ("breaksOutOfCas", "1 line", "look-before-cas"),
        ("readsThenAdds", "1 line", "next-slot"),
    ],
)
def test_old_values_before_an_atomic_are_not_judged(check, program, lines, mark):
    pattern = (
        rf"^whether an old value does harm in {lines} that may read it before an atomic, "
        rf"such as \S*planted\.cu:{line_of(mark)}$"
    )
    (remark,) = check(program).not_judged
    assert re.search(pattern, remark)


def test_a_loop_around_a_cas_is_right(check):
    assert check("addByCas").not_judged == check("addAtomically").not_judged == []


HEAP = "memory from malloc() or new in a kernel (256 bytes)"
BEYOND = "device memory out of bounds: "


@pytest.mark.parametrize(
    "bug, title, mark, what",
    [
        ("heapOverrun", f"{BEYOND}4 bytes beyond the end of {HEAP}", "heap-fill", "writes"),
        ("heapOverrunBefore", f"{BEYOND}8 bytes before the start of {HEAP}", "heap-fill", "writes"),
        ("heapEarlyFree", f"device memory after free() or delete: {HEAP} has been freed",
         "heap-shared", "writes"),
        ("heapUnwritten", UNWRITTEN, "heap-read", "reads"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("sms", ["1", "4"])
def test_heap_of_kernels(check, monkeypatch, bug, title, mark, what, sms):
    monkeypatch.setenv("CUDA_EMULATOR_SMS", sms)
    report = check(bug)
    finding = only(report)
    assert finding.title == title
    assert finding.acts[0][0] == line_of(mark)
    assert finding.acts[0][2] == what
    assert f"{bug}: cudaSuccess" in report.output  # the kernel runs on


@pytest.mark.parametrize(
    "bug, where",
    [
        ("heapRace", HEAP + ", element 63 (of 4 bytes)"),
        ("addOneToVariable", "a __device__ variable"),
    ],
)
def test_place_of_a_race(check, bug, where):
    assert only(check(bug)).where == where


@pytest.mark.parametrize(
    "bug, mark, error",
    [
        ("heapDoubleFree", "heap-again", "LaunchFailure"),
        ("heapHostMemory", "heap-of-host", "IllegalAddress"),
    ],
)
def test_wrong_free_in_a_kernel(check, bug, mark, error):
    report = check(bug)
    finding = only(report)
    assert finding.title.startswith("kernel failed: free() or delete of 0x")
    assert finding.lines() == [line_of(mark)]
    assert f"{bug}: cudaError{error}" in report.output


def test_host_reads_heap_of_kernels(check):
    finding = only(check("heapInHostCode"))
    assert finding.title == HOST
    assert finding.lines() == [line_of("host-reads-heap")]


def test_every_program_is_tested():
    tests = Path(__file__).read_text()
    assert len(PROGRAMS) > 45
    assert [name for name in PROGRAMS if not re.search(rf"\b{name}\b", tests)] == []


def test_each_hazard_after_all_that_is_right(build, tmp_path, monkeypatch):
    """What the check remembers of launches without hazards hides none of those that come later: on the
    same OS thread, and at the same addresses."""
    monkeypatch.setenv("CUDA_EMULATOR_SMS", "1")  # and who comes first does not change
    alone = {"spins", "nothingLaunched", "errorOfADestructor", "heapDoubleFree", "heapHostMemory"}
    bugs = [name for name in PROGRAMS if name not in SILENT and name not in alone]

    def hazards(*names):
        report = run(build / "tests" / "planted", tmp_path / "report", *names)
        assert f"{names[-1]}: cudaSuccess" in report.output
        return {
            (each.title, each.kernel, tuple(each.lines()))
            for each in report.findings
            if each.hazard and "never freed" not in each.title  # all of them together are a leak
        }

    expected = hazards(*bugs)
    assert len(expected) > 50
    assert hazards(*SILENT, *bugs) == expected


def test_kernel_that_does_not_end(build):
    """After some seconds, most of which it sleeps, a line says where it is; the program goes on, and its own
    threads, some of which may sleep, get no signal for that."""
    program = subprocess.Popen(
        [str(build / "tests" / "planted"), "spins"],
        env={name: value for name, value in os.environ.items() if name != "CUDA_EMULATOR_CHECK"},
        stderr=subprocess.PIPE,
        text=True,
    )
    late = threading.Timer(300, program.kill)
    late.start()
    try:
        line = program.stderr.readline()
        assert program.poll() is None
        threads = list(Path(f"/proc/{program.pid}/task").iterdir())
        pending = [
            re.search(r"^SigPnd:\t(\w+)$", (thread / "status").read_text(), re.MULTILINE)[1]
            for thread in threads
        ]
        assert len(threads) >= 3  # the one that spins, the one that idles, the watchdog
        assert set(pending) == {"0" * 16}
    finally:
        late.cancel()
        program.kill()
        program.wait()
        program.stderr.close()
    lines = "|".join(str(line_of(mark)) for mark in ("spin", "spin-poll", "spin-sleep"))
    place = rf"planted\.cu:({lines})\b"
    assert re.search(rf"\bspin\b.*\(0,0,0\), thread \(\d+,0,0\) .*{place}", line), line
