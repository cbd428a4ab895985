"""Which exercise a command of the loop is about: the one that is named, or else the last that was worked on."""

from __future__ import annotations

import argparse

from lab_cli import catalogue, work
from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise
from lab_cli.commands import arguments as shared
from lab_cli.errors import BAD_USAGE, LabError
from lab_cli.machine import backend
from lab_cli.results import marks

from .copy import Copy


def add_name(command: argparse.ArgumentParser) -> None:
    """What exercise() takes."""
    command.add_argument(
        "name", nargs="?", type=shared.name, metavar="NAME", help="default: the last one worked on"
    )


def exercise(name: str | None) -> Exercise:
    """LabError (status 2) where none is started, or not this one."""
    if name:
        found = catalogue.one(name)
        if not Copy(found).is_there:
            raise LabError(f"{name} is not started: ./lab start {name}", BAD_USAGE)
        return found
    known = catalogue.sources()
    started = [each for each in work.started() if each in known]
    if not started:
        raise LabError(
            "no exercise is started: ./lab start begins the one that comes first", BAD_USAGE
        )
    return catalogue.one(max(started, key=lambda each: work.copy_of(each).stat().st_mtime_ns))


def assignment(found: Exercise) -> Assignment | None:
    """The first of the exercise that is not solved, else its last; None where it has none."""
    known = marks.read()
    for each in found.facts.assignments:
        if not known.get(each.name, marks.Mark()).solved:
            return each
    return found.facts.assignments[-1] if found.facts.assignments else None


def next_after(found: Exercise | None = None) -> Exercise | None:
    """The first exercise behind this one, or of all, that has an assignment which is not solved; where there is
    none behind it, the first of all. Those that a GPU alone can judge come last where there is none. None where
    all are solved."""
    known = marks.read()
    everything = catalogue.exercises()
    place = next((i for i, each in enumerate(everything) if found and each.name == found.name), -1)
    left = [
        each
        for each in [*everything[place + 1 :], *everything[: place + 1]]
        if any(not known.get(a.name, marks.Mark()).solved for a in each.facts.assignments)
        and (found is None or each.name != found.name)
    ]
    return next(
        (each for each in left if not each.facts.gpu_only or backend.has_gpu()), None
    ) or next(iter(left), None)
