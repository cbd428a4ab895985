"""Exercises of the cpu back end where there is little memory: right results, or one clear line."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.catalogue import Exercise
from lab_cli.paths import ROOT

BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
# What the watchdog says where the machine is slow.
TAKES_LONG = re.compile(r"^emulator: kernel .* has been running for .*\n", re.MULTILINE)
# Each of several threads of the host may be about to say so.
LACKS = re.compile(r"cannot (allocate|start a thread)")
KIBIBYTES = [60_000, 100_000, 170_000, 250_000, 400_000, 600_000, 1_000_000, 2_000_000]


def problem(status: int, errors: str) -> str:
    """What is wrong with how a program ended; empty where it is right, or says what it lacks."""
    errors = TAKES_LONG.sub("", errors)
    told = errors != "" and all(LACKS.search(line) for line in errors.splitlines())
    right = (status == 0 and not errors) or (status == 1 and told)
    return "" if right else f"status {status}: {errors}"


def test_what_counts_as_told() -> None:
    slow = "emulator: kernel k has been running for 10 s: block (0,0,0). Ctrl-C ends the program.\n"
    for before in ("", slow):
        assert problem(0, before) == ""
        assert problem(1, f"{before}cannot allocate 1 KiB\n") == ""
        assert problem(1, f"{before}cannot start a thread\ncannot allocate 1 KiB\n") == ""
        assert problem(1, before) == "status 1: "
        assert problem(0, f"{before}x\n") == "status 0: x\n"
        assert problem(1, f"{before}cannot allocate 1 KiB\nx\n")
        assert problem(0, f"{before}cannot allocate 1 KiB\n")
        assert problem(-6, f"{before}cannot allocate 1 KiB\n")


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
        wrong = problem(done.returncode, done.stderr)
        assert not wrong, f"{kibibytes} KiB: {wrong}"
