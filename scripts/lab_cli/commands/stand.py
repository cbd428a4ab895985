"""./lab alone: the course as a path. What is solved, what is started, and what comes next."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from .. import catalogue, work
from ..assignments import Assignment
from ..catalogue import Exercise
from ..machine import backend
from ..paths import shown
from ..results import marks
from ..results.marks import Mark
from .layout import LEAST_BESIDE, two_columns, wrapped

WIDTH = 80


@dataclass(frozen=True)
class Step:
    """An assignment on the path."""

    exercise: Exercise
    assignment: Assignment
    mark: Mark
    is_started: bool


def run() -> int:
    """Builds nothing, and writes nothing."""
    width = min(shutil.get_terminal_size().columns, WIDTH)
    exercises = catalogue.exercises()
    print(text(exercises, steps(exercises, marks.read()), width))
    return 0


def steps(exercises: Sequence[Exercise], known: Mapping[str, Mark]) -> list[Step]:
    """All assignments, in order."""
    started = {*work.started()}
    return [
        Step(exercise, each, known.get(each.name, Mark()), exercise.name in started)
        for exercise in exercises
        for each in exercise.facts.assignments
    ]


def text(exercises: Sequence[Exercise], path: Sequence[Step], width: int = WIDTH) -> str:
    paragraphs = [
        wrapped(_headline(exercises, path), width),
        _table(exercises, path, width),
        _what_next(following(path), width),
        "./lab --help lists all commands, ./lab list all exercises.",
    ]
    return "\n\n".join(filter(None, paragraphs))


def _headline(exercises: Sequence[Exercise], path: Sequence[Step]) -> str:
    chapters = len({exercise.chapter for exercise in exercises})
    own = sum(step.mark.by_own_work for step in path)
    seen = sum(step.mark.solved for step in path) - own
    sentence = (
        f"{len(exercises)} CUDA exercises in {chapters} chapters, with {len(path)} assignments."
    )
    if not own and not seen:
        return sentence
    after = f", and {seen} after seeing the solution" if seen else ""
    return f"{sentence} You have solved {own}{after}."


def _table(exercises: Sequence[Exercise], path: Sequence[Step], width: int) -> str:
    """A line for each chapter, with what is started."""
    longest = max((len(exercise.chapter) for exercise in exercises), default=0)
    lines = []
    for chapter, group in groupby(exercises, lambda exercise: exercise.chapter):
        names = {exercise.name for exercise in group}
        own = [step for step in path if step.exercise.name in names]
        solved = sum(step.mark.solved for step in own)
        begin = f"  {chapter:<{longest}}  {solved:>2} of {len(own):>2} solved"
        begun = [f"{step.assignment.name} ({step.mark})" for step in own if _is_open(step)]
        remark = f"started: {', '.join(begun)}" if begun else ""
        indent = " " * (len(begin) + 2 if len(begin) + LEAST_BESIDE < width else 6)
        lines.append(wrapped(f"{begin}  {remark}".rstrip(), width, others=indent))
    return "\n".join(lines)


def _is_open(step: Step) -> bool:
    return step.is_started and not step.mark.solved


def following(path: Sequence[Step]) -> Step | None:
    """The first that is started and not solved, else the first that is not solved. Those that a GPU alone can judge
    come last where there is none."""
    open_ones = [step for step in path if not step.mark.solved]
    started = next((step for step in open_ones if step.is_started), None)
    here = (step for step in open_ones if not step.assignment.on_gpu or backend.has_gpu())
    return started or next(here, None) or next(iter(open_ones), None)


def _what_next(step: Step | None, width: int) -> str:
    if step is None:
        sentence = (
            "All assignments are solved. Next: an exercise of your own. ./lab new CHAPTER/NAME writes its "
            "first version, and CONTRIBUTING.md says what belongs to it."
        )
        return wrapped(sentence, width)
    name, assignment = step.exercise.name, step.assignment
    stars = "★" * assignment.stars
    sentence = f"Next is {name}, {assignment.name} {stars}: {assignment.sentence}"
    actions = {shown(step.exercise.page): "its page"}
    if step.is_started:
        actions = {shown(work.copy_of(name)): "your copy", **actions}
        actions[f"./lab watch {name}"] = "a verdict after each save"
    else:
        actions[f"./lab start {name}"] = "your own copy, with the code for you to write"
    return f"{wrapped(sentence, width)}\n\n{two_columns(actions, width)}"
