"""The recording of what ran when: CUDA_EMULATOR_TRACE, which ./lab trace draws. The program is
programs/timeline.cu."""

import csv
import os
import signal
import subprocess

import pytest

MEMSET = "[CUDA memset]"
SCALE = "void scale<int, {}>(int*)"


@pytest.fixture(scope="module")
def program(build):
    return build.absolute() / "tests" / "program_timeline"


def run(program, path, *arguments, **more):
    environment = {**os.environ, "CUDA_EMULATOR_TRACE": str(path)}
    return subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, **more
    )


def recorded(program, path, *arguments):
    """The rows of work, and those of ranges."""
    done = run(program, path, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    lines = path.read_text().splitlines()
    middle = lines.index("")
    return [list(csv.DictReader(part)) for part in (lines[:middle], lines[middle + 1 :])]


@pytest.fixture(scope="module")
def tables(program, tmp_path_factory):
    return recorded(program, tmp_path_factory.mktemp("trace") / "trace.csv")


def test_work_with_its_streams_in_order(tables):
    work, _ = tables
    assert [(row["Strm"], row["Name"]) for row in work] == [
        ("7", MEMSET),
        ("7", "addOne(int*)"),
        ("13", "[CUDA memcpy Device-to-Device]"),
        ("13", "[CUDA memcpy Device-to-Host]"),
        ("14", "[CUDA memcpy Host-to-Device]"),
        ("14", SCALE.format(3)),
        ("15", "parent(int*)"),  # and what it launches in its time
        ("14", SCALE.format(2)),  # of a graph
        ("14", "[CUDA memcpy Device-to-Host]"),
        ("7", MEMSET),
    ]


def begin(row):
    return int(row["Start (ns)"])


def end(row):
    return begin(row) + int(row["Duration (ns)"])


def test_one_piece_of_work_after_the_other(tables):
    work, _ = tables
    assert all(begin(row) <= end(row) for row in work)
    assert all(end(a) <= begin(b) for a, b in zip(work, work[1:]))


def test_ranges_span_the_work_in_them(tables):
    work, ranges = tables
    parts = {
        'all, "quoted"': work[:9],
        "copies    .": work[2:4],  # no control characters
        "threads": work[6:7],
        "of the other thread": work[6:7],
        "": work[9:],
    }
    assert [row["Name"] for row in ranges] == [*parts]  # by their beginning on the host
    for row in ranges:
        part = parts[row["Name"]]
        first, last = projected(row)
        assert (first, last) == (begin(part[0]), end(part[-1])), row["Name"]
        host = int(row["Orig Start (ns)"])
        assert host <= first and last <= host + int(row["Orig Duration (ns)"]), row["Name"]


def projected(row):
    first = int(row["Projected Start (ns)"])
    return first, first + int(row["Projected Duration (ns)"])


def test_work_of_several_threads(program, tmp_path):
    """What was added first did not begin first; what began before a range is not in it."""
    work, ranges = recorded(program, tmp_path / "trace.csv", "overlap")
    kernel, copy, _, second = work
    assert begin(kernel) < begin(copy) and end(copy) <= end(kernel)
    around, within = ranges
    assert (around["Name"], within["Name"]) == ("around the kernel", "within the kernel")
    assert projected(around) == (begin(kernel), end(kernel))
    assert projected(within) == (begin(second), end(second))


@pytest.mark.parametrize("attempt", range(5))
def test_a_thread_may_work_until_the_end(program, tmp_path, attempt):
    work, ranges = recorded(program, tmp_path / "trace.csv", "endless")
    assert {row["Name"] for row in work} == {MEMSET}
    assert {row["Name"] for row in ranges} == {"endless"}


def test_without_the_variable_nothing_is_written(program, tmp_path):
    environment = {name: value for name, value in os.environ.items() if "CUDA_EMU" not in name}
    done = subprocess.run([program], env=environment, cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [*tmp_path.iterdir()] == []


def test_a_program_that_is_killed_leaves_no_file(program, tmp_path):
    assert run(program, tmp_path / "trace.csv", "killed").returncode == -signal.SIGKILL
    assert [*tmp_path.iterdir()] == []


def test_what_is_no_file_is_not_replaced(program, tmp_path):
    """A link, for one: /dev/stdout is one."""
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    done = run(program, link)
    assert (done.returncode, done.stderr) == (0, "")
    assert link.is_symlink() and file.read_text().startswith("Start (ns),")
