"""./lab list: the exercises by chapter."""

from __future__ import annotations

import argparse
from itertools import groupby
from typing import Any

from .. import catalogue
from . import arguments as shared


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "list", prog="./lab list", description="Lists the exercises by chapter.", allow_abbrev=False
    )
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    chapters = []
    for chapter, exercises in groupby(catalogue.exercises(), lambda exercise: exercise.chapter):
        lines = [chapter]
        for exercise in exercises:
            mark = " (gpu only)" if exercise.facts.gpu_only else ""
            lines.append(f"  {exercise.name:<20} {catalogue.about(exercise)}{mark}")
        chapters.append("\n".join(lines))
    print("\n\n".join(chapters))
    return 0
