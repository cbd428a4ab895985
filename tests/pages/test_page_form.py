"""The form of an exercise's page: the idea with its code, the assignment, then graded tasks. Nothing gives the
assignment away before its answer is unfolded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_cli import assignment_catalogue, catalogue
from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise
from lab_cli.results import listings
from lab_course.grading.kernel_source import KernelSource
from page_text import prose

CHAPTERS = ("ch03_execution_model", "ch04_memory", "ch05_performance")  # whose pages have this form
MOST_WORDS = 1500  # before the tasks
TASK = re.compile(r"^(\d+)\. (.{12})", re.MULTILINE)
GRADED = re.compile(r"★{1,3} \*")
FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
ASSIGNMENTS = list(assignment_catalogue.assignments().values())
EXERCISES = [
    exercise for exercise in catalogue.exercises() if exercise.source.parents[1].name in CHAPTERS
]

of_exercises = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def before_the_tasks(text: str) -> str:
    return text.partition("\n## Tasks\n")[0]


def words_of(text: str) -> list[str]:
    """What is read: not code, drawings, the targets of links, and what is folded."""
    unfolded = COMMENT.sub("", FOLD.sub("", text))
    lines = [line for _, line in prose(unfolded) if not line.startswith("| ---")]
    return re.findall(r"\w[^\s|]*", LINK.sub(r"\1", "\n".join(lines)))


def test_words_are_those_that_are_read() -> None:
    page = (
        "# One\n<!-- no -->\ntwo `three` [four](no.md) | 5 |\n```\nno\n```\n<details>no</details>\n"
    )
    assert len(words_of(page)) == 5


@of_exercises
def test_the_idea_is_read_in_ten_minutes(exercise: Exercise) -> None:
    words = words_of(before_the_tasks(text_of(exercise.page)))
    assert len(words) <= MOST_WORDS, f"{len(words)} words before the tasks"


@of_exercises
def test_the_idea_comes_with_code_of_the_source(exercise: Exercise) -> None:
    assert listings.BLOCK.search(before_the_tasks(text_of(exercise.page)))


@of_exercises
def test_tasks_are_graded(exercise: Exercise) -> None:
    tasks = text_of(exercise.page).partition("\n## Tasks\n")[2].partition("\n## ")[0]
    found = TASK.findall(tasks)
    assert found and all(GRADED.match(words) for _, words in found), found


@of_exercises
def test_hints_are_those_of_its_tasks(exercise: Exercise) -> None:
    tasks = text_of(exercise.page).partition("\n## Tasks\n")[2].partition("\n## ")[0]
    assert {*exercise.facts.hints} <= {int(number) for number, _ in TASK.findall(tasks)}


@pytest.mark.parametrize(
    ("exercise", "assignment"), ASSIGNMENTS, ids=[assignment.name for _, assignment in ASSIGNMENTS]
)
def test_a_kernel_that_students_write_is_only_in_folds_behind_the_tasks(
    exercise: Exercise, assignment: Assignment
) -> None:
    """No line of it that says something and stands in no other function."""
    source = KernelSource(text_of(exercise.source), str(exercise.source))
    bodies = {name: source.body(name) for name in assignment.kernels}
    others = lines_of(source.with_bodies(dict.fromkeys(bodies, "")))
    own = {line for body in bodies.values() for line in lines_of(body) - others if len(line) > 24}
    before, _, behind = text_of(exercise.page).partition("\n## Tasks\n")
    assert own & lines_of(before + FOLD.sub("", behind)) == set()


def lines_of(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if not line.strip().startswith("//")}
