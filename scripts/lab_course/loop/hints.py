"""Hints on an assignment, one at a time."""

from __future__ import annotations

from lab_cli.assignments import Assignment
from lab_cli.results import marks


def next_of(assignment: Assignment) -> list[str]:
    """One more than was shown so far, and what comes behind it. Takes note of it."""
    shown = marks.of(assignment.name).hints
    number = min(shown + 1, len(assignment.hints))
    if number > shown:
        marks.record(assignment.name, hints=number)
    left = len(assignment.hints) - number
    more = f"{left} more" if left else "the last one: ./lab solution compares your code with ours"
    return [
        f"{assignment.name}, hint {number} of {len(assignment.hints)}: {assignment.hints[number - 1]}",
        f"({more})",
    ]
