"""How far the student is with each assignment: points, hints, and whether the solution was seen. Kept
beside the copies of the exercises, whatever becomes of builds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..assignment_catalogue import Given
from ..assignments import POINTS
from ..files import make_folder, write
from ..lock import take
from ..paths import WORK, WORK_VARIABLE

FILE = WORK / "progress.json"
ELSEWHERE = f"; {WORK_VARIABLE}=FOLDER in the environment puts your work elsewhere"


@dataclass(frozen=True)
class Mark:
    """Of one assignment."""

    points: float | None = None  # the last time that it was judged
    hints: int = 0  # that were shown
    seen: bool = False  # the solution was shown before it was solved
    solved: bool = False  # it has had all points

    @property
    def by_own_work(self) -> bool:
        return self.solved and not self.seen

    def __str__(self) -> str:
        if self.solved:
            return "solved" if self.by_own_work else "solved, solution seen"
        return "-" if self.points is None else f"{in_points(self.points)} of {POINTS}"


def read() -> dict[str, Mark]:
    """By assignment. A file that cannot be read, or has something else in it, says nothing."""
    try:
        content = json.loads(FILE.read_text(encoding="utf-8"))
        return {name: _mark(entry) for name, entry in content.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _mark(entry: Any) -> Mark:
    mark = Mark(**{field.name: entry[field.name] for field in fields(Mark) if field.name in entry})
    if not isinstance(mark.points, (int, float, type(None))) or not isinstance(mark.hints, int):
        raise TypeError
    return mark


def of(assignment: str) -> Mark:
    return read().get(assignment, Mark())


def record(assignment: str, **changes: Any) -> None:
    """`changes` are fields of its mark."""
    make_folder(FILE.parent, ELSEWHERE)
    with open(FILE.with_suffix(".lock"), "w") as lock:
        take(lock, "waiting: another lab notes how far you are")
        known = read()
        known[assignment] = replace(known.get(assignment, Mark()), **changes)
        content = {name: asdict(mark) for name, mark in sorted(known.items())}
        write(FILE, json.dumps(content, indent=1) + "\n")


def record_points(assignment: str, points: float) -> None:
    solved = {"solved": True} if points >= POINTS else {}
    record(assignment, points=points, **solved)


def in_points(value: float) -> str:
    """'2', '1.33'."""
    return f"{round(value, 2):g}"


def listed(given: Given) -> list[str]:
    """A line for each assignment."""
    known = read()
    longest = max(map(len, given), default=0)
    return [
        f"{name:<{longest}}  {'★' * assignment.stars:<3}  {str(known.get(name, Mark())):<22}  {exercise.name}"
        for name, (exercise, assignment) in given.items()
    ] or ["There are no assignments here."]
