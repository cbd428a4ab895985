"""Textures on the cpu back end: what they give is that of an H200 to the last bit, and the hazard check
sees what kernels read and write through them."""

import gzip
import subprocess
from array import array
from pathlib import Path

import pytest
from check_report import line_of, only, run

HERE = Path(__file__).parent
RECORDED = HERE / "textures" / "recorded"
SOURCE = HERE / "check" / "textures.cu"


def differences(modes: list[tuple[str, int, int]], here: array, there: array) -> list[str]:
    """For each mode with a difference, how many words differ, and the first."""
    found = []
    for name, count, first in modes:
        unlike = [i for i in range(first, first + count) if here[i] != there[i]]
        if unlike:
            words = f"{here[unlike[0]]:08x}, there {there[unlike[0]]:08x}"
            found.append(f"{name}: {len(unlike)} of {count}; {unlike[0] - first}: {words}")
    return found


# The second argument of the program with which each was recorded.
@pytest.mark.parametrize("name, samples", [("h200", "4000"), ("h200_rare", "0")])
def test_each_value_is_that_of_an_h200(build, tmp_path, name, samples):
    command = [str(build / "tests" / "sampled_textures"), "here.bin", samples]
    said = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    modes = [(name, int(n), int(at)) for name, n, at in map(str.split, said.stdout.splitlines())]
    here = array("I", (tmp_path / "here.bin").read_bytes())
    there = array("I", gzip.decompress((RECORDED / f"{name}.bin.gz").read_bytes()))
    assert len(here) == len(there) == sum(count for _, count, _ in modes)
    assert differences(modes, here, there) == []


def test_differences_are_found():
    words = array("I", [1, 2, 3, 4])
    (found,) = differences([("a", 2, 0), ("b", 2, 2)], words, array("I", [1, 2, 3, 5]))
    assert found == "b: 1 of 2; 1: 00000004, there 00000005"


@pytest.fixture
def check(build, tmp_path):
    return lambda kernel: run(build / "tests" / "check_textures", tmp_path / "report", kernel)


STALE = "texture or surface read of what the same kernel has written"


@pytest.mark.parametrize(
    "kernel, mark",
    [("sameThread", "same"), ("behindBarrier", "barrier"), ("throughPointer", "pointer")],
)
def test_read_of_what_the_kernel_has_written(check, kernel, mark):
    finding = only(check(kernel))
    assert (finding.title, finding.hazard, finding.kernel) == (STALE, True, kernel)
    assert finding.lines() == [line_of(SOURCE, f"{mark}-{act}") for act in ("write", "read")]
    assert finding.times == 64


def test_race_with_what_others_write(check):
    finding = only(check("readFirst"))
    assert finding.title.startswith("race in global memory")
    assert finding.lines() == [line_of(SOURCE, f"race-{act}") for act in ("read", "write")]


def test_texels_that_nobody_has_written(check):
    finding = only(check("unwritten"))
    assert finding.title.startswith("uninitialised device memory")
    assert finding.lines() == [line_of(SOURCE, "unwritten")]


def test_array_that_was_freed(check):
    finding = check("freed").findings[0]
    assert finding.title.startswith("device memory after cudaFree()")
    assert finding.lines() == [line_of(SOURCE, "unwritten")]


def test_the_next_launch_sees_it(check):
    report = check("nextLaunch")
    assert (report.findings, report.launches) == ([], 3)
