"""./lab check: races, accesses out of bounds and divergent barriers, found without a GPU."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from .. import catalogue
from ..building import instrumented
from ..building.instrumented import CHECK, NO_HAZARDS, NO_LAUNCH
from ..process import say
from ..time_limit import TimeLimit
from . import arguments as shared


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "check",
        prog="./lab check",
        description="Looks for hazards in an exercise, each kernel launched once, or in a CUDA program "
        "of your own: races in shared and global memory, accesses out of bounds, memory that nobody "
        "wrote, barriers in divergent code, errors that nobody looks at, device memory that the host "
        "uses. Needs no GPU. Options of the program follow after --.",
        parents=[shared.shipped(), shared.timeout()],
        allow_abbrev=False,
    )
    shared.add_program(command)
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def run(arguments: argparse.Namespace) -> int:
    """0: there are no hazards. 1: there are, and stdout tells them, or there was nothing to look at, or
    the program failed."""
    catalogue.check_at(*arguments.names)
    exercise = catalogue.at(*arguments.names)
    program = [*instrumented.built(exercise, arguments.names), *arguments.options]
    report = check(program, arguments.timeout)
    print(report, end="", flush=True)
    return 0 if report.splitlines()[-1].startswith(NO_HAZARDS) else 1


def check(program: Sequence[str], timeout: float | None = None) -> str:
    """The report on an instrumented program. LabError if it fails without a hazard, or takes more than
    `timeout` seconds: then the hazards until then are on stdout."""
    with TimeLimit(timeout) as limit:
        outcome = instrumented.run(program, CHECK)
        if limit.passed:
            print(outcome.report, end="", flush=True)
            say(outcome.output.rstrip())
    last = outcome.report.splitlines()[-1] if outcome.report else ""
    if not last or (outcome.status != 0 and last.startswith((NO_HAZARDS, NO_LAUNCH))):
        raise outcome.failure(f"; until then, {last}" if last else "")
    return outcome.report
