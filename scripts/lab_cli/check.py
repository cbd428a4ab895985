"""./lab check: races, accesses out of bounds and divergent barriers, found without a GPU."""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import build, own_program, profile, setup, targets
from .errors import LabError
from .process import describe, say, shown, status_of

VARIABLE = "CUDA_EMULATOR_CHECK"  # names the file that the program writes its report to
NOTHING = "no hazards found"  # how the last line of the report begins if that is so


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "check",
        prog="./lab check",
        description="Looks for hazards in the kernels of an exercise, each launched once, or in "
        "those of a CUDA program of your own: races in shared memory, accesses out of bounds, "
        "uninitialised shared memory, barriers in divergent code. Needs no GPU. Options of the "
        "program follow after --.",
        allow_abbrev=False,
    )
    command.add_argument("name", metavar="NAME|FILE.cu", help="an exercise, or a file of your own")
    command.set_defaults(handler=run)


def run(arguments: argparse.Namespace, options: list[str]) -> int:
    """0: there are no hazards. 1: there are, and stdout tells them, or the program failed."""
    exercise = profile.find_exercise(arguments.name)
    targets.of_backend([exercise] if exercise else [], "cpu", by_name=True)
    cmake = setup.ensure("cpu")
    if exercise:
        folder = build.build(cmake, "cpu-profile", exercise.name)
        command = profile.once_each(folder, exercise)
    else:
        command = [str(own_program.for_cpu(Path(arguments.name), cmake))]
    report = check([*command, *options])
    print(report, end="", flush=True)
    return 0 if report.splitlines()[-1].startswith(NOTHING) else 1


def check(program: Sequence[str]) -> str:
    """The report on an instrumented program. What the program prints is shown, on stderr, only if
    it fails without a hazard; then LabError."""
    with tempfile.TemporaryDirectory(prefix="lab-check-") as folder:
        file = Path(folder) / "report"
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
        report = file.read_text(errors="replace") if file.exists() else ""
    status = status_of(done.returncode)
    last = report.splitlines()[-1] if report else ""
    if not last or (status != 0 and last.startswith(NOTHING)):
        say(done.stdout.decode(errors="replace").rstrip())
        found = f"; until then, {last}" if last else ""
        message = f"the program ended with {describe(status)}; what it printed is above{found}"
        raise LabError(message, 2 if status == 2 else 1)
    return report
