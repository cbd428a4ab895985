"""Exercises of the cpu back end where there is little memory: right results, or one clear line."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.catalogue import Exercise
from lab_cli.paths import ROOT

BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
KIBIBYTES = [60_000, 100_000, 170_000, 250_000, 400_000, 600_000, 1_000_000, 2_000_000]


@pytest.mark.parametrize("sms", [2, 32])
@pytest.mark.parametrize("exercise", catalogue.exercises(), ids=lambda e: e.name)
def test_little_address_space(exercise: Exercise, sms: int) -> None:
    program = exercise.program(BUILD)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    for kibibytes in KIBIBYTES:
        limit = kibibytes * 1024
        done = subprocess.run(
            [program, "--reps=1"],
            env={**os.environ, "CUDA_EMULATOR_SMS": str(sms)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),  # noqa: B023
            capture_output=True,
            text=True,
        )
        told = done.stderr.count("\n") == 1 and "cannot allocate" in done.stderr
        assert (done.returncode == 0 and not done.stderr) or (done.returncode == 1 and told), (
            f"{kibibytes} KiB: status {done.returncode}: {done.stderr}"
        )
