"""Runs an instrumented program of the cpu back end, which counts what its kernels do."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import raw_csv
from .errors import LabError
from .process import describe, say, shown, status_of

VARIABLE = "CUDA_EMULATOR_PROFILE"  # names the file that the program writes


def run(program: Sequence[str]) -> raw_csv.RawTable:
    """What the program prints is shown, on stderr, only if it fails."""
    with tempfile.TemporaryDirectory(prefix="lab-profile-") as folder:
        file = Path(folder) / "profile.csv"
        say(f"+ {VARIABLE}=... {shown(program)}")
        try:
            done = subprocess.run(
                program,
                env={**os.environ, VARIABLE: str(file)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise LabError(f"cannot run {program[0]}: {error.strerror}") from error
        status = status_of(done.returncode)
        if status != 0:
            say(done.stdout.decode(errors="replace").rstrip())
            message = f"the program ended with {describe(status)}; what it printed is above"
            raise LabError(message, 2 if status == 2 else 1)
        text = file.read_text(errors="replace") if file.exists() else ""
    return raw_csv.parse(text)
