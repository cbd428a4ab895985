"""The report of the hazard check and the counts of the profiler, where they cannot be written. The
program is check/stream_pairs.cu."""

import os
import subprocess

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
