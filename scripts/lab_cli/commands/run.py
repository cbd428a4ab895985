"""./lab run: one exercise, or several one after another and what came of each."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..building.exercises import build
from ..catalogue import Exercise
from ..errors import NO_GPU, LabError
from ..process import describe, run_lines, say
from ..process import run as run_shown
from ..time_limit import TimeLimit
from . import arguments as shared

TAIL_LINES = 8


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "run",
        prog="./lab run",
        description="Builds and runs exercises. Options of the exercises follow after --.",
        parents=[shared.backend(), shared.timeout()],
        allow_abbrev=False,
    )
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="an exercise or a chapter; default: all"
    )
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def run(arguments: argparse.Namespace) -> int:
    built = build(arguments.names, arguments.backend)
    if len(built.exercises) != 1 or not arguments.names:
        return run_all(built.exercises, built.folder, arguments.options, arguments.timeout)
    with TimeLimit(arguments.timeout):
        return run_shown([str(built.exercises[0].program(built.folder)), *arguments.options])


@dataclass(frozen=True)
class Outcome:
    name: str
    status: int
    seconds: float
    last_lines: list[str]
    late: bool = False  # and ended for that

    @property
    def result(self) -> str:
        if self.late:
            return "FAILED"
        return {0: "ok", NO_GPU: "skipped"}.get(self.status, "FAILED")

    @property
    def remark(self) -> str:
        if self.late:
            return "had not ended (--timeout)"
        return {0: "", NO_GPU: "no usable GPU"}.get(self.status, describe(self.status))


def run_showing(name: str, command: Sequence[str], timeout: float | None = None) -> Outcome:
    """Shows what the command prints as it comes, and keeps the end of it."""
    last: deque[str] = deque(maxlen=TAIL_LINES)

    def show(line: str) -> None:
        last.append(line)
        sys.stdout.write(line)
        sys.stdout.flush()

    say("")
    start = time.monotonic()
    limit = TimeLimit(timeout)
    status = 1
    try:
        with limit:
            status = run_lines(command, show)
    except LabError:
        if not limit.passed:
            raise
    return Outcome(name, status, time.monotonic() - start, list(last), limit.passed)


def run_all(
    exercises: Sequence[Exercise],
    folder: Path,
    options: Sequence[str],
    timeout: float | None = None,
) -> int:
    """Returns 1 if one failed, 77 if all were skipped, else 0."""
    outcomes = []
    for exercise in exercises:
        command = [str(exercise.program(folder)), *options]
        outcomes.append(run_showing(exercise.name, command, timeout))
    print(summary(outcomes), flush=True)
    if any(outcome.result == "FAILED" for outcome in outcomes):
        return 1
    statuses = {outcome.status for outcome in outcomes}
    return NO_GPU if statuses == {NO_GPU} else 0


def summary(outcomes: Sequence[Outcome]) -> str:
    lines = ["", f"{'exercise':<24}  {'result':<8} seconds"]
    for outcome in outcomes:
        row = f"{outcome.name:<24}  {outcome.result:<8} {outcome.seconds:7.1f}  {outcome.remark}"
        lines.append(row.rstrip())
    for outcome in outcomes:
        if outcome.result == "FAILED":
            lines.append(f"\n{outcome.name} ended with these lines:")
            lines += ["    " + line.rstrip("\n") for line in outcome.last_lines]
    return "\n".join(lines)
