"""./lab solution: the difference between the student's kernels and those that were shipped."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from typing import Any

from lab_cli.assignments import Assignment
from lab_cli.commands import arguments as shared
from lab_cli.errors import BAD_USAGE, LabError
from lab_cli.paths import ROOT, shown
from lab_cli.process import say
from lab_cli.results import marks
from lab_cli.verdicts import in_colour

from ..grading.kernel_source import KernelSource
from ..handouts.workspace import MARK
from ..loop import current
from ..loop.copy import Copy

COLOURS = {"-": "31", "+": "32", "@": "36"}


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "solution",
        prog="./lab solution",
        description="Shows how your code differs from the exercise's own. It asks first: an assignment that you "
        'solve afterwards counts as "solution seen".',
        allow_abbrev=False,
    )
    current.add_name(command)
    command.add_argument("--yes", action="store_true", help="does not ask")
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    if (ROOT / MARK).exists():
        raise LabError(f"this is a hand-out ({MARK}): the solution is not in it")
    exercise = current.exercise(arguments.name)
    assignment = current.assignment(exercise)
    if assignment is None:
        raise LabError(f"{exercise.name} has no assignment yet: there is no solution to show")
    mark = marks.of(assignment.name)
    if not (mark.solved or mark.seen or arguments.yes or _agrees(assignment)):
        return 1
    if not (mark.solved or mark.seen):
        marks.record(assignment.name, seen=True)
    copy = Copy(exercise)
    yours = KernelSource(copy.file.read_text(encoding="utf-8"), shown(copy.file))
    ours = KernelSource(exercise.source.read_text(encoding="utf-8"), shown(exercise.source))
    print("\n".join(_painted(difference(assignment, yours, ours))))
    return 0


def _agrees(assignment: Assignment) -> bool:
    """Asks whoever sits there."""
    if not sys.stdin.isatty():
        raise LabError(
            "stdin is not a terminal, so nobody can be asked: --yes shows the solution", BAD_USAGE
        )
    hints = len(assignment.hints) - marks.of(assignment.name).hints
    say(f'{assignment.name} will count as "solution seen", even if you solve it')
    if hints:
        say(f"{hints} hint{'s are' if hints > 1 else ' is'} left: ./lab hint")
    try:
        return input("Show the solution? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def difference(assignment: Assignment, yours: KernelSource, ours: KernelSource) -> Iterator[str]:
    """The lines of a unified diff, of each function of the assignment."""
    for name in assignment.kernels:
        before, after = (_definition(source, name) for source in (yours, ours))
        names = f"{yours.path}: {name}", f"{ours.path}: {name}"
        found = [*difflib.unified_diff(before, after, *names, n=1000, lineterm="")]
        yield from found or [f"{name}: your code is the same as ours"]


def _definition(source: KernelSource, name: str) -> list[str]:
    function = source.function(name)
    return source.text[function.start : function.end + 1].splitlines()


def _painted(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        colour = COLOURS.get(line[:1]) if in_colour(sys.stdout) else None
        yield f"\x1b[{colour}m{line}\x1b[0m" if colour else line
