"""What the emulator writes. Where the report of the hazard check, the counts of the profiler or the
recording cannot be written, the program says so and does not end with status 0. The owner can use all
files that are made."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import cc
import pytest

WRITTEN = {
    "CUDA_EMULATOR_CHECK": "report",
    "CUDA_EMULATOR_PROFILE": "profile",
    "CUDA_EMULATOR_LINES": "counts by line",
    "CUDA_EMULATOR_TRACE": "recording",
}
# Ends as its argument says. What it prints waits in two buffers until then.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
__global__ void k(bool fails) { if (fails) __trap(); }
int main(int, char** argv) {
    const std::string how = argv[1];
    std::ios::sync_with_stdio(false);
    std::cout << "of a stream\n";
    std::printf("of a file\n");
    k<<<1, 32>>>(how == "fails");
    if (how == "exits") std::exit(0);
    if (how == "exits with 3") std::exit(3);
    return cudaDeviceSynchronize() == cudaSuccess || how == "fails" ? 0 : 9;
}
"""


@pytest.fixture
def run(instrumented, tmp_path):
    """run(how, environment, ...): starts the program in the folder `there`."""
    source = tmp_path / "ends.cu"
    source.write_text(PROGRAM)
    program = instrumented(source)
    (tmp_path / "there").mkdir()

    def start(how, environment, **options):
        return subprocess.run(
            [program, how],
            env={**os.environ, **environment},
            cwd=tmp_path / "there",
            capture_output=True,
            text=True,
            **options,
        )

    return start


def no_file_may_grow():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def close_stdout():
    os.close(1)


def test_a_file_that_cannot_be_written(run, tmp_path):
    def start(variable, path, how="returns", **options):
        done = run(how, {variable: path}, **options)
        assert [*(tmp_path / "there").iterdir()] == []
        lines = [line for line in done.stderr.splitlines() if "cannot write" in line]
        assert len(lines) == 1 and lines[0].startswith("emulator: ")
        assert WRITTEN[variable] in lines[0] and variable in lines[0] and path in lines[0]
        return done, lines[0]

    for variable in WRITTEN:
        for path, reason in (
            ("/dev/full", "No space left on device"),
            ("x" * 300, "File name too long"),
            ("no/such/folder", "No such file or directory"),
        ):
            done, line = start(variable, path)
            assert done.returncode == 1 and reason in line
            assert sorted(done.stdout.splitlines()) == ["of a file", "of a stream"]
        done, line = start(variable, "file", preexec_fn=no_file_may_grow)
        assert done.returncode == 1 and "File too large" in line
        done, line = start(variable, "/dev/full", preexec_fn=close_stdout)
        assert done.returncode == 1
        for how, status in (("exits", 1), ("exits with 3", 3), ("fails", 1)):
            assert start(variable, "/dev/full", how)[0].returncode == status


def test_two_files_that_cannot_be_written(run):
    both = {"CUDA_EMULATOR_CHECK": "/dev/full", "CUDA_EMULATOR_TRACE": "/dev/full"}
    done = run("returns", both)
    assert done.returncode == 1 and done.stderr.count("cannot write") == 2


def test_a_file_that_was_there_before(run, tmp_path):
    file = tmp_path / "there" / "file"
    for variable in WRITTEN:
        assert run("returns", {variable: ""}).returncode == 0
        file.write_text("of before")
        done = run("returns", {variable: "no/such/folder"})
        assert done.returncode == 1 and file.read_text() == "of before"
        done = run("returns", {variable: "file"}, preexec_fn=close_stdout)
        assert done.returncode == 0 and done.stderr == ""
        assert [*file.parent.iterdir()] == [file]
        assert "of before" not in file.read_text()
        assert "of a file" not in file.read_text() and len(file.read_text()) > 10


@pytest.mark.parametrize("umask, rights", [(0o777, 0o600), (0o322, 0o644)])
@pytest.mark.parametrize(
    "command", ["cc.py -c a.cu -o made", "translate.py a.cu -o made"], ids=["cc", "translate"]
)
def test_the_owner_can_use_what_is_made(tmp_path, command, umask, rights):
    (tmp_path / "a.cu").write_text("int main() {}\n")
    compiler = tmp_path / "compiler"  # makes the last file that is named
    compiler.write_text("#!/bin/sh\nfor output; do :; done\n: > $output\n")
    compiler.chmod(0o755)
    program, *arguments = command.split()
    done = subprocess.run(
        [sys.executable, Path(cc.__file__).with_name(program), *arguments],
        cwd=tmp_path,
        env={**os.environ, "CXX": str(compiler)},
        umask=umask,
    )
    assert done.returncode == 0
    assert (tmp_path / "made").stat().st_mode & 0o777 == rights
