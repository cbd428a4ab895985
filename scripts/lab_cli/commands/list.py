"""./lab list: the exercises by chapter, and how far the student is with the assignments of each."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from .. import catalogue
from ..catalogue import Exercise
from ..results import marks
from ..results.marks import Mark
from . import arguments as shared


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "list",
        prog="./lab list",
        description="Lists the exercises by chapter, and the assignments of each, with their stars and your "
        "points.",
        allow_abbrev=False,
    )
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    known = marks.read()
    chapters = []
    for chapter, exercises in groupby(catalogue.exercises(), lambda exercise: exercise.chapter):
        chapters.append("\n".join([chapter, *(_entry(each, known) for each in exercises)]))
    print("\n\n".join(chapters))
    return 0


def _entry(exercise: Exercise, known: Mapping[str, Mark]) -> str:
    """A line for the exercise, and one for each of its assignments."""
    mark = " (gpu only)" if exercise.facts.gpu_only else ""
    lines = [f"  {exercise.name:<20} {catalogue.about(exercise)}{mark}"]
    for each in exercise.facts.assignments:
        stars = "★" * each.stars
        lines.append(f"    {stars:>17}  {each.name}: {known.get(each.name, Mark())}")
    return "\n".join(lines)
