"""The assignments of the exercises: what [[assignment]] names is there, and adds up. Whether the bounds
tell right from wrong, graded_assignments.py tries."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import graded_assignments
import pytest
from lab_cli import assignment_catalogue, catalogue
from lab_cli.assignments import Assignment
from lab_cli.catalogue import FACTS, Exercise
from lab_cli.paths import ROOT
from lab_cli.results import csv_file, store
from lab_cli.results.csv_file import Row
from lab_course.grading.kernel_source import Function, KernelSource
from lab_course.handouts import pages

LEAST = 15
FULL = 10  # points without a GPU
ROOM = 0.95  # of what was measured, for a GPU that has other things to do
COMMON = {"kernel", "reps", "seed"}  # options that all exercises have
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

GIVEN = list(assignment_catalogue.assignments().values())
of_assignments = pytest.mark.parametrize(
    ("exercise", "assignment"), GIVEN, ids=[assignment.name for _, assignment in GIVEN]
)
WITH_BODIES = sorted(ROOT.glob("*/*/tests/assignments.toml"))


def source_of(exercise: Exercise) -> KernelSource:
    return KernelSource(exercise.source.read_text(encoding="utf-8"), exercise.source.name)


def checked_kernel(source: KernelSource, name: str) -> Function:
    function = source.function(name)  # or LabError
    assert "__global__" in function.signature, f"{name} is no kernel"
    return function


def all_options(assignment: Assignment) -> list[str]:
    of_bounds = [bound.options for bound in assignment.bounds]
    of_speed = [assignment.speed.options] if assignment.speed else []
    return [*assignment.results.sizes, assignment.check.options, *of_bounds, *of_speed]


def option_values(options: str) -> dict[str, str]:
    """By name; numbers in full: 64K is 65536."""
    values = dict(word.lstrip("-").split("=", 1) for word in shlex.split(options))
    for name, value in values.items():
        if re.fullmatch(r"\d+[KMG]", value):
            values[name] = str(int(value[:-1]) * UNITS[value[-1]])
    return values


def test_there_are_some_in_every_chapter() -> None:
    assert len(GIVEN) >= LEAST
    chapters = {exercise.chapter for exercise in catalogue.exercises()}
    assert {exercise.chapter for exercise, _ in GIVEN} == chapters


@of_assignments
def test_its_task_is_on_the_page(exercise: Exercise, assignment: Assignment) -> None:
    page = exercise.page.read_text(encoding="utf-8")
    tasks = page.partition("\n## Tasks\n")[2].partition("\n## ")[0]
    assert re.search(rf"^{assignment.task}\. ", tasks, re.MULTILINE)


@of_assignments
def test_it_is_told_in_one_sentence(exercise: Exercise, assignment: Assignment) -> None:
    assert re.fullmatch(r"[A-Z][^.\n]*\.", assignment.sentence)


@of_assignments
def test_its_kernels_are_there(exercise: Exercise, assignment: Assignment) -> None:
    source = source_of(exercise)
    named = [*assignment.kernels, assignment.before, *assignment.hides]
    for name in named:
        checked_kernel(source, name)
    assert len(set(named)) == len(named)


@of_assignments
def test_its_rows_are_in_the_table(exercise: Exercise, assignment: Assignment) -> None:
    printed = exercise.folder / "tests" / "printed.txt"
    rows = printed.read_text(encoding="utf-8")
    for name in assignment.rows:
        assert re.search(rf"^{name} ", rows, re.MULTILINE), name


@of_assignments
def test_nothing_that_stays_uses_what_is_hidden(exercise: Exercise, assignment: Assignment) -> None:
    gone = {*assignment.kernels, *assignment.hides}
    for function in source_of(exercise).functions:
        if function.name not in gone:
            assert not function.names & {*assignment.hides}, function.name


@of_assignments
def test_what_is_left_out_are_other_exercises(exercise: Exercise, assignment: Assignment) -> None:
    others = {other.name for other in catalogue.exercises()} - {exercise.name}
    assert set(assignment.leaves_out) <= others
    assert len(set(assignment.leaves_out)) == len(assignment.leaves_out)


@of_assignments
def test_no_other_answer_has_its_kernels(exercise: Exercise, assignment: Assignment) -> None:
    page = exercise.page.read_text(encoding="utf-8")
    gone = {assignment.task, *assignment.answers}
    seen: set[int] = set()
    for answer in pages.ANSWER.finditer(page):
        tasks = {int(number) for number in re.findall(r"\d+", answer["title"])}
        seen |= tasks
        for name in assignment.kernels:
            assert tasks & gone or not re.search(rf"__global__[^;{{]*\b{name}\(", answer[0]), tasks
    assert gone <= seen


@of_assignments
def test_its_points_are_ten(exercise: Exercise, assignment: Assignment) -> None:
    assert assignment.points == FULL
    assert assignment.bounds


@of_assignments
def test_its_options_are_those_of_the_exercise(exercise: Exercise, assignment: Assignment) -> None:
    text = exercise.source.read_text(encoding="utf-8")
    for options in all_options(assignment):
        for name in option_values(options):
            assert name in COMMON or re.search(rf'option\("{name}"|\("{name}", &', text), options


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
        (own,) = [float(row["median_ms"]) for row in rows if row["kernel"] == name]
        assert other / own * ROOM >= speed.least, name


@pytest.mark.parametrize("path", WITH_BODIES, ids=lambda path: path.parents[1].name)
def test_bodies_are_of_assignments(path: Path) -> None:
    folder = path.parents[1]
    names = {assignment.name for exercise, assignment in GIVEN if exercise.folder == folder}
    tables = graded_assignments.bodies_of(folder / FACTS)
    assert tables and set(tables) <= names
    for table in tables.values():
        assert table and set(table) <= {"before", "also", "fails"}


@of_assignments
def test_the_kernel_before_it_can_stand_in_its_place(
    exercise: Exercise, assignment: Assignment
) -> None:
    source = source_of(exercise)
    tables = graded_assignments.bodies_of(exercise.folder / FACTS)
    if "before" in tables.get(assignment.name, {}):
        return
    (kernel,) = assignment.kernels
    before = source.function(assignment.before)
    assert graded_assignments.can_stand_for(before, source.function(kernel)), (
        "tests/assignments.toml must have its body"
    )
