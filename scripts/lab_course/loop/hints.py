"""Hints on an assignment, one at a time."""

from __future__ import annotations

from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise
from lab_cli.paths import shown
from lab_cli.results import marks


def next_of(assignment: Assignment) -> list[str]:
    """One more than was shown so far, and what comes behind it. Takes note of it."""
    given = marks.of(assignment.name).hints
    number = min(given + 1, len(assignment.hints))
    if number > given:
        marks.record(assignment.name, hints=number)
    left = len(assignment.hints) - number
    more = f"{left} more" if left else "the last one: ./lab solution compares your code with ours"
    return [
        f"{assignment.name}, hint {number} of {len(assignment.hints)}: {assignment.hints[number - 1]}",
        f"({more})",
    ]


def instead(exercise: Exercise) -> str:
    """Where the hints are of an exercise that has no assignment."""
    gives = (
        f"./lab hint {exercise.name} TASK gives"
        if exercise.facts.hints
        else f"{shown(exercise.page)} has"
    )
    return f"there is no assignment yet; {gives} hints on its tasks"
