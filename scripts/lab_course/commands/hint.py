"""./lab hint: one more hint on the assignment at hand."""

from __future__ import annotations

import argparse
from typing import Any

from lab_cli.commands import arguments as shared
from lab_cli.commands.layout import wrapped
from lab_cli.errors import LabError
from lab_cli.paths import shown

from ..loop import current, hints
from ..loop.screen import WIDTH


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "hint",
        prog="./lab hint",
        description="Gives one more hint on the assignment of a started exercise.",
        allow_abbrev=False,
    )
    current.add_name(command)
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    exercise = current.exercise(arguments.name)
    assignment = current.assignment(exercise)
    if assignment is None:
        raise LabError(
            f"{exercise.name} has no assignment yet; {shown(exercise.page)} has hints on its tasks"
        )
    print("\n".join(wrapped(line, WIDTH) for line in hints.next_of(assignment)))
    return 0
