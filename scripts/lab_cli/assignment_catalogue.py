"""The assignments of all exercises."""

from __future__ import annotations

from collections.abc import Iterable

from . import catalogue
from .assignments import Assignment
from .catalogue import Exercise, facts_of
from .errors import BAD_USAGE, LabError, printable
from .paths import shown
from .toml_file import did_you_mean

Given = dict[str, tuple[Exercise, Assignment]]


def assignments(exercises: Iterable[Exercise] = ()) -> Given:
    """By name, in the order of the exercises: of these, or of all. LabError where two have one name."""
    found: Given = {}
    for exercise in exercises or catalogue.exercises():
        for assignment in exercise.facts.assignments:
            other = found.setdefault(assignment.name, (exercise, assignment))
            if other[1] is not assignment:
                raise LabError(
                    f"{shown(facts_of(exercise.source))}: the assignment {assignment.name} has the name of one of "
                    f"{other[0].name}"
                )
    return found


def one(name: str) -> tuple[Exercise, Assignment]:
    """LabError (status 2) where no assignment has this name."""
    known = assignments()
    if name not in known:
        own = [each for each, (exercise, _) in known.items() if exercise.name == name]
        hint = f"; the exercise has {' and '.join(own)}" if own else did_you_mean(name, known)
        hint = hint or "; ./lab grade lists them all"
        raise LabError(f"no assignment is named {printable(name)}{hint}", BAD_USAGE)
    return known[name]
