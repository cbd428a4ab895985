"""./lab start: a copy of an exercise to work in, its assignments blanked."""

from __future__ import annotations

import argparse
from typing import Any

from lab_cli import catalogue
from lab_cli.commands import arguments as shared
from lab_cli.commands.layout import two_columns, wrapped
from lab_cli.errors import LabError
from lab_cli.paths import shown
from lab_cli.results import marks

from ..loop import current
from ..loop.copy import Copy
from ..loop.screen import WIDTH, stars


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "start",
        prog="./lab start",
        description="Puts a copy of an exercise into work/NAME/, with the code that you are to write left out. "
        "From then on NAME means your copy in all commands. Builds nothing.",
        allow_abbrev=False,
    )
    command.add_argument(
        "name", nargs="?", type=shared.name, metavar="NAME", help="default: the one that comes next"
    )
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    exercise = catalogue.one(arguments.name) if arguments.name else current.next_after()
    if exercise is None:
        raise LabError("you have solved all assignments: ./lab list shows the exercises")
    copy = Copy(exercise)
    was_there = copy.is_there
    if was_there:
        copy.refresh()
    else:
        copy.start()
    print(text(copy, was_there))
    return 0


def text(copy: Copy, was_there: bool) -> str:
    """What there is to do, and where."""
    exercise = copy.exercise
    file = shown(copy.file)
    words = (
        f"is started already: your copy is {file}, with what you have written"
        if was_there
        else f"is started: your own copy is {file}"
    )
    found = [wrapped(f"{exercise.name} {words}.", WIDTH), ""]
    known = marks.read()
    for each in exercise.facts.assignments:
        mark = known.get(each.name, marks.Mark())
        state = f" ({mark})" if mark.points is not None else ""
        line = copy.line_of(each.kernels)
        found += [
            f"  {each.name} {stars(each)}{state}",
            wrapped(each.sentence, WIDTH, "    ", "    "),
            f"    Write {', '.join(each.kernels)}: {file}:{line}",
            "",
        ]
    if not exercise.facts.assignments:
        found += [
            wrapped(
                "It has no assignment yet. Its page has tasks; change and add what you like.", WIDTH
            ),
            "",
        ]
    left_out = copy.left_out()
    if left_out:
        about = (
            f"Left out, since they tell too much (./lab run {exercise.name} --shipped has them): "
        )
        found += [wrapped(about + ", ".join(left_out) + ".", WIDTH), ""]
    commands = {shown(exercise.page): "read this page as far as the tasks"}
    where = "on a machine with a GPU, " if exercise.facts.gpu_only else ""
    commands["./lab watch"] = f"{where}keep it running: it gives a verdict each time you save"
    if exercise.facts.assignments:
        commands["./lab hint"] = "gives one more hint when you are stuck"
    found.append(two_columns(commands, WIDTH))
    return "\n".join(found)
