"""The assignments of the exercises: their speed. Whether the kernels, rows and options that
[[assignment]] names are there, test_handouts.py and graded_assignments.py try, which hand out and grade each."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import graded_assignments
import pytest
from lab_cli import assignment_catalogue
from lab_cli.assignments import Assignment
from lab_cli.catalogue import FACTS, Exercise
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, store
from lab_cli.results.csv_file import Row
from lab_course.grading.kernel_source import KernelSource

ROOM = 0.95  # of what was measured, for a GPU that has other things to do
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

GIVEN = list(assignment_catalogue.assignments().values())
of_assignments = pytest.mark.parametrize(
    ("exercise", "assignment"), GIVEN, ids=[assignment.name for _, assignment in GIVEN]
)
WITH_BODIES = sorted(ROOT.glob("*/*/tests/assignments.toml"))


def option_values(options: str) -> dict[str, str]:
    """By name; numbers in full: 64K is 65536."""
    values = dict(word.lstrip("-").split("=", 1) for word in shlex.split(options))
    for name, value in values.items():
        if re.fullmatch(r"\d+[KMG]", value):
            values[name] = str(int(value[:-1]) * UNITS[value[-1]])
    return values


@of_assignments
def test_the_kernel_before_it_is_there(exercise: Exercise, assignment: Assignment) -> None:
    """Also where tests/assignments.toml has another body for it."""
    source = KernelSource(exercise.source.read_text(encoding="utf-8"), exercise.source.name)
    kernels = [source.function(name) for name in assignment.kernels]
    before = source.function(assignment.before)
    assert before.of_host == all(kernel.of_host for kernel in kernels)
    assert before.is_kernel or not any(kernel.is_kernel for kernel in kernels)


def reference_rows(exercise: Exercise, options: str) -> list[Row]:
    """The rows of the H200 with these options."""
    path = store.file(exercise.results / "h200")
    wanted = option_values(options)
    found = []
    for row in csv_file.parse(csv_file.read_text(path), path).rows:
        parameters = dict(word.split("=", 1) for word in row["parameters"].split())
        if all({**row, **parameters}.get(name) == wanted[name] for name in wanted):
            found.append(row)
    return found


@pytest.mark.parametrize(
    ("exercise", "assignment"),
    [each for each in GIVEN if each[1].speed],
    ids=[assignment.name for _, assignment in GIVEN if assignment.speed],
)
def test_its_speed_is_reached_with_room(exercise: Exercise, assignment: Assignment) -> None:
    speed = assignment.speed
    assert speed
    rows = reference_rows(exercise, speed.options)
    (other,) = [float(row["median_ms"]) for row in rows if row["kernel"] == speed.of]
    for name in assignment.rows:
        own = [float(row["median_ms"]) for row in rows if row["kernel"] == name]
        assert own and other / max(own) * ROOM >= speed.least, name


@pytest.mark.parametrize("path", WITH_BODIES, ids=lambda path: path.parents[1].name)
def test_bodies_are_of_assignments(path: Path) -> None:
    folder = path.parents[1]
    names = {assignment.name for exercise, assignment in GIVEN if exercise.folder == folder}
    tables = graded_assignments.bodies_of(folder / FACTS)
    assert tables and set(tables) <= names
    for table in tables.values():
        assert set(table) <= {"before", *graded_assignments.VERDICTS}
