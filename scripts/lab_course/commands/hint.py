"""./lab hint: one more hint on the assignment at hand, or the hint on a task of an exercise's page."""

from __future__ import annotations

import argparse
from typing import Any

from lab_cli import catalogue
from lab_cli.catalogue import Exercise
from lab_cli.commands import arguments as shared
from lab_cli.commands.layout import wrapped
from lab_cli.errors import BAD_USAGE, LabError
from lab_cli.paths import shown

from ..loop import current, hints
from ..loop.screen import WIDTH


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "hint",
        prog="./lab hint",
        description="Gives one more hint on the assignment of a started exercise, or with TASK the hint on "
        "this task of the exercise's page.",
        allow_abbrev=False,
    )
    current.add_name(command)
    command.add_argument("task", nargs="?", type=int, metavar="TASK", help="number of a task")
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    if arguments.task is not None:
        lines = [_on_task(catalogue.one(arguments.name), arguments.task)]
    else:
        lines = _on_assignment(current.exercise(arguments.name))
    print("\n".join(wrapped(line, WIDTH) for line in lines))
    return 0


def _on_task(exercise: Exercise, task: int) -> str:
    found = exercise.facts.hints
    if task not in found:
        known = ", ".join(map(str, sorted(found)))
        has = f"there are hints on tasks {known}" if known else f"see {shown(exercise.page)}"
        raise LabError(f"{exercise.name} has no hint on task {task}; {has}", BAD_USAGE)
    return f"{exercise.name}, task {task}: {found[task]}"


def _on_assignment(exercise: Exercise) -> list[str]:
    assignment = current.assignment(exercise)
    if assignment is None:
        raise LabError(f"{exercise.name}: {hints.instead(exercise)}")
    return hints.next_of(assignment)
