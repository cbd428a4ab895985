"""What the emulator writes: the report of the hazard check and the counts of the profiler, where they
cannot be written (the program is check/stream_pairs.cu), and files that their owner shall be able to use."""

import os
import subprocess
import sys
from pathlib import Path

import cc
import pytest


@pytest.mark.parametrize(
    "variable, what", [("CUDA_EMULATOR_CHECK", "report"), ("CUDA_EMULATOR_PROFILE", "profile")]
)
def test_a_file_that_cannot_be_written(build, tmp_path, variable, what):
    def run(path):
        environment = {**os.environ, variable: path}
        program = [build / "tests" / "stream_pairs", "0", "0"]
        done = subprocess.run(
            program, env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0
        return done.stderr

    for path, reason in (
        ("/dev/full", "No space left on device"),
        ("x" * 300, "File name too long"),
    ):
        message = f"emulator: cannot write the {what} to {path} ({variable}): {reason}\n"
        assert run(path) == message
    assert run("") == ""
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "file").write_text("of before")
    assert run("file") == ""
    (file,) = tmp_path.iterdir()
    assert "of before" not in file.read_text()


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
