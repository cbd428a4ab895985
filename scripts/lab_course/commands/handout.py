"""./lab handout: a workspace for students, without what they are to write."""

from __future__ import annotations

import argparse
from typing import Any

from lab_cli.commands import arguments as shared
from lab_cli.errors import printable
from lab_cli.process import say

from ..handouts import choice, workspace


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "handout",
        prog="./lab handout",
        description="Makes a workspace for students: this one, in which the kernels of assignments have a "
        "TODO in place of their bodies, without what gives their solutions away, and without the tests of "
        "the workspace itself. It is written only if nothing of a solution is found in it.",
        allow_abbrev=False,
    )
    command.add_argument(
        "names",
        nargs="+",
        metavar="ASSIGNMENT",
        help="the name of an [[assignment]] in exercise.toml",
    )
    command.add_argument(
        "-o",
        "--output",
        type=shared.file,
        metavar="DIR",
        required=True,
        help="the folder, which is made; it may be there if it is empty",
    )
    command.add_argument(
        "--no-answers", action="store_true", help="leaves out the answers of all pages; hints stay"
    )
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    workspace.check_folder(arguments.output)
    chosen = choice.of(arguments.names)
    is_repository = workspace.make(chosen, arguments.output, answers=not arguments.no_answers)
    for part in chosen.parts:
        written = ", ".join(part.kernels)
        hidden = f"; not there: {', '.join(part.hidden)}" if part.hidden else ""
        say(f"{part.exercise.name}: students write {written}{hidden}")
    if chosen.left_out:
        say(f"left out: {', '.join(exercise.name for exercise in chosen.left_out)}")
    if not is_repository:
        say("note: no git is there, so the hand-out is no repository")
    say(f"written: {printable(str(arguments.output))}")
    return 0
