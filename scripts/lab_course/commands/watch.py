"""./lab watch: says after each save what the copy of an exercise is worth."""

from __future__ import annotations

import argparse
from typing import Any

from lab_cli.commands import arguments as shared

from ..loop import current
from ..loop.copy import Copy
from ..loop.keyboard import Keyboard
from ..loop.watching import Watch


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "watch",
        prog="./lab watch",
        description="Looks at your copy of an exercise, and says after each save: does it compile, is it right, "
        "has it hazards, what does it count beside the goal, how many points is it, and what comes next. Needs "
        "no GPU; with one, it says what your kernel takes as well. The key q ends it. Where stdin is no terminal, "
        "it gives one verdict, and the status is 0 if all points are there.",
        allow_abbrev=False,
    )
    current.add_name(command)
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    copy = Copy(current.exercise(arguments.name))
    copy.refresh()
    keyboard = Keyboard()
    with keyboard.ready():
        watch = Watch(copy, keyboard)
        watch.run()
    return 0 if keyboard.somebody or watch.is_solved else 1
