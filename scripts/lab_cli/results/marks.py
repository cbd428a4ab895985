"""The points that one has so far: those of the last ./lab grade of each assignment on this machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..assignment_catalogue import Given
from ..assignments import POINTS, Assignment
from ..files import make_build_folder, write
from ..lock import take
from ..paths import OUT
from ..testing import standing

FILE = OUT / "grades.json"


def read() -> dict[str, dict[str, Any]]:
    """By assignment: points, of, and the digest() of what was graded. A file that cannot be read,
    or has something else in it, says nothing."""
    try:
        content = json.loads(FILE.read_text(encoding="utf-8"))
        return {
            name: {
                "points": float(entry["points"]),
                "of": float(entry["of"]),
                "graded": str(entry["graded"]),
            }
            for name, entry in content.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def digest(assignment: Assignment, source: Path) -> str:
    """Of what is graded, and of what counts."""
    return hashlib.sha256(f"{standing.digest(source)} {assignment}".encode()).hexdigest()


def record(assignment: str, points: float, of: float, graded: str) -> None:
    """`graded`: the digest() before it was."""
    make_build_folder(FILE.parent)
    with open(FILE.with_suffix(".lock"), "w") as lock:
        take(lock, "waiting: another lab notes what it has graded")
        known = read()
        known[assignment] = {
            "points": points,
            "of": of,
            "graded": graded,
        }
        write(FILE, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def in_points(value: float) -> str:
    """'2', '1.33'."""
    return f"{round(value, 2):g}"


def points_so_far(
    assignment: Assignment, source: Path, known: Mapping[str, Mapping[str, Any]]
) -> str:
    """'8 of 10', '8 of 10, changed since', or '- of 10'. `source` is that of the exercise."""
    mark = known.get(assignment.name)
    if not mark:
        return f"- of {POINTS}"
    changed = mark["graded"] != digest(assignment, source)
    points = f"{in_points(mark['points'])} of {in_points(mark['of'])}"
    return points + ", changed since" * changed


def is_done(assignment: Assignment, source: Path, known: Mapping[str, Mapping[str, Any]]) -> bool:
    """All points, with the sources as they are now."""
    mark = known.get(assignment.name, {})
    all_points = bool(mark) and mark["points"] == mark["of"]
    return all_points and mark["graded"] == digest(assignment, source)


def listed(given: Given) -> list[str]:
    """A line for each assignment."""
    known = read()
    longest = max(map(len, given), default=0)
    return [
        f"{name:<{longest}}  {points_so_far(assignment, exercise.source, known):<24}  {exercise.name}"
        for name, (exercise, assignment) in given.items()
    ] or ["There are no assignments here."]
