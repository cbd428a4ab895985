"""./lab check: races, accesses out of bounds and divergent barriers, found without a GPU."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import catalogue
from ..building import instrumented
from ..machine import setup
from . import arguments as shared

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
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def run(arguments: argparse.Namespace) -> int:
    """0: there are no hazards. 1: there are, and stdout tells them, or the program failed."""
    catalogue.check_at(arguments.name)
    setup.toml_reader("cpu")
    exercise = catalogue.at(arguments.name)
    report = check([*instrumented.built(exercise, Path(arguments.name)), *arguments.options])
    print(report, end="", flush=True)
    return 0 if report.splitlines()[-1].startswith(NOTHING) else 1


def check(program: Sequence[str]) -> str:
    """The report on an instrumented program. LabError if it fails without a hazard."""
    outcome = instrumented.run(program, VARIABLE)
    last = outcome.report.splitlines()[-1] if outcome.report else ""
    if not last or (outcome.status != 0 and last.startswith(NOTHING)):
        raise outcome.failure(f"; until then, {last}" if last else "")
    return outcome.report
