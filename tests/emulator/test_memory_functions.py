"""What memcpy(), memmove() and memset() do to memory, under whatever name they are called, is seen by the
hazard check and counted by the profiler (check/memory_functions.cu)."""

import csv
import os
import subprocess
from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "memory_functions.cu"
WRITE_AFTER_WRITE = "race in {} memory: write after write"


@pytest.fixture
def program(build):
    return build / "tests" / "memory_functions"


@pytest.fixture
def check(program, tmp_path):
    return lambda case: run(program, tmp_path / "report", case)


def line_of(mark):
    return check_report.line_of(SOURCE, mark)


@pytest.mark.parametrize(
    "case, where",
    [
        ("copiesConstant", "element 0 (of 4 bytes)"),
        ("copiesWord", "element 0 (of 4 bytes)"),
        ("copiesVariable", "element 0 (of 4 bytes)"),
        ("copiesBuiltin", "element 0 (of 4 bytes)"),
        ("moves", "element 0 (of 4 bytes)"),
        ("fills", "element 0 (of 4 bytes)"),
        ("fillsByte", "element 5 (of 1 byte)"),
        ("copiesByPointer", "element 0 (of 4 bytes)"),
        ("fillsShared", "s, element 0 (of 4 bytes)"),
    ],
)
def test_threads_write_different_values(check, case, where):
    finding = only(check(case))
    space = "shared" if case == "fillsShared" else "global"
    assert finding.title == WRITE_AFTER_WRITE.format(space)
    assert finding.where.endswith(where)
    assert finding.lines() == [line_of(case)] * 2


@pytest.mark.parametrize(
    "case, title",
    [
        ("fillsBeyond", "device memory out of bounds: 4 bytes beyond the end of allocation 2"),
        ("copiesUnwritten", "uninitialised device memory"),
        ("copiesUnwrittenShared", "uninitialised shared memory"),
    ],
)
def test_other_hazards(check, case, title):
    finding = only(check(case))
    assert finding.title.startswith(title)
    assert finding.lines() == [line_of(case)]


def test_barrier_is_missing(check):
    finding = only(check("readsTooEarly"))
    assert finding.title == "race in shared memory: read after write"
    assert finding.lines() == [line_of("early-fill"), line_of("early-copy")]


@pytest.mark.parametrize(
    "case", "eachItsOwn bytesOfOneWord sameValue gapsUnwritten nothing".split()
)
def test_silent(check, case):
    report = check(case)
    assert report.findings == []
    assert "no error" in report.output


@pytest.mark.parametrize("case, verb", [("hostFills", "writes"), ("hostCopies", "reads")])
def test_host(check, case, verb):
    finding = only(check(case))
    assert finding.title == "device memory used by the host"
    assert finding.acts[0][:3] == (line_of(case), "the host", verb)


@pytest.mark.parametrize(
    "case, bytes_read, bytes_written",
    [("copiesConstant", 12, 12), ("copiesVariable", 12, 12), ("fills", 0, 12)],
)
def test_profiler_counts_bytes(program, tmp_path, case, bytes_read, bytes_written):
    """As nvcc compiles it, with and without optimisation: a load and a store for each byte, whatever the
    types of the pointers."""
    profile = tmp_path / "profile.csv"
    environment = {**os.environ, "CUDA_EMULATOR_PROFILE": str(profile)}
    subprocess.run([program, case], env=environment, check=True, capture_output=True)
    kernel = list(csv.DictReader(profile.read_text().splitlines()))[-1]
    warps = 2
    of = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
    assert int(kernel[of.format("ld")]) == bytes_read * warps
    assert int(kernel[of.format("st")]) == bytes_written * warps
