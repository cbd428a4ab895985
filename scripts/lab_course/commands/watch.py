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
        description="Watches your copy of an exercise. After each save it says whether the copy compiles, is "
        "right and is free of hazards, what it counts beside the goal, how many points it gets, and what comes "
        "next. Needs no GPU; with one, it also shows the times of your kernel. An exercise that runs on a GPU alone is "
        "judged there, by its results and its speed. The key q ends it. If stdin is not "
        "a terminal, it gives one verdict, and ends with status 0 if all points are there.",
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
