"""./lab alone: which exercises have passed their tests here, which one comes next, and which assignments
are open."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from .. import catalogue
from ..catalogue import Exercise
from ..machine import backend
from ..paths import shown
from ..results import marks
from ..testing import standing
from ..testing.standing import CHANGED, FAILED, PASSED, UNTESTED
from .layout import LEAST_BESIDE, two_columns, wrapped

WIDTH = 80
NO_BREAK = "\0"
MOST_NAMES = 4  # of a kind in a chapter, and of assignments
WHY = {
    FAILED: "tests of it failed the last time.",
    CHANGED: "it has changed since it was tested.",
}


@dataclass(frozen=True)
class Stand:
    exercise: Exercise
    state: str
    needs_gpu: bool  # and none has been seen here: it cannot come next

    @property
    def name(self) -> str:
        return self.exercise.name

    @property
    def chapter(self) -> str:
        return self.exercise.chapter


def run() -> int:
    """Builds nothing, and writes nothing."""
    width = min(shutil.get_terminal_size().columns, WIDTH)
    stands = all_stands()
    print(text(stands, open_assignments(stand.exercise for stand in stands), width))
    return 0


def open_assignments(exercises: Iterable[Exercise]) -> list[str]:
    """'padTheTile 8 of 10', for each that has not all its points; first those that have some."""
    known = marks.read()
    open_ones = [
        (assignment.name not in known, f"{assignment.name} {so_far}")
        for exercise in exercises
        for assignment in exercise.facts.assignments
        if not marks.is_done(assignment, exercise.source, known)
        for so_far in [marks.points_so_far(assignment, exercise.source, known)]
    ]
    return [text for _, text in sorted(open_ones, key=lambda each: each[0])]


def all_stands() -> list[Stand]:
    """Of all exercises, in order."""
    results = standing.read()
    on_gpu = backend.CACHE.exists() or any("gpu" in by_backend for by_backend in results.values())
    stands = []
    for exercise in catalogue.exercises():
        own = results.get(exercise.name, {})
        state = standing.state(own, standing.digest(exercise.source))
        needs_gpu = exercise.facts.gpu_only and state == UNTESTED and not on_gpu
        stands.append(Stand(exercise, state, needs_gpu))
    return stands


def text(stands: Sequence[Stand], open_ones: Sequence[str] = (), width: int = WIDTH) -> str:
    possible = [stand for stand in stands if not stand.needs_gpu]
    begun = any(stand.state != UNTESTED for stand in stands)
    paragraphs = [
        wrapped(_headline(stands, possible, begun), width),
        _table(stands, width),
        _what_next(_next(possible), begun, width),
        *_assignments(open_ones, width),
        "./lab --help lists all commands.",
    ]
    return "\n\n".join(paragraphs)


def _assignments(open_ones: Sequence[str], width: int) -> list[str]:
    """A paragraph, where there are any."""
    if not open_ones:
        return []
    # Points stay on the line of their assignment.
    words = [one.replace(" ", NO_BREAK) for one in open_ones[:MOST_NAMES]]
    more = len(open_ones) - len(words)
    rest = f" and {more} more" if more else ""
    head = "Open assignments, with your points so far (./lab grade lists all):"
    return [wrapped(f"{head} {'; '.join(words)}{rest}.", width).replace(NO_BREAK, " ")]


def _count(stands: Sequence[Stand], state: str) -> int:
    return sum(stand.state == state for stand in stands)


def _headline(stands: Sequence[Stand], possible: Sequence[Stand], begun: bool) -> str:
    chapters = len({stand.chapter for stand in stands})
    if not begun:
        return f"{len(stands)} CUDA exercises in {chapters} chapters. None has been tested here so far."
    passed = _count(possible, PASSED)
    if passed == len(possible):
        return f"All {passed} exercises have passed their tests here."
    return f"{passed} of {len(possible)} exercises have passed their tests here."


def _table(stands: Sequence[Stand], width: int) -> str:
    """A line for each chapter, and more where many of its exercises have failed or have changed."""
    longest = max((len(stand.chapter) for stand in stands), default=0)
    lines = []
    for chapter, group in groupby(stands, lambda stand: stand.chapter):
        own = list(group)
        possible = [stand for stand in own if not stand.needs_gpu]
        begin = (
            f"  {chapter:<{longest}}  {_count(possible, PASSED):>2} of {len(possible):>2} passed"
        )
        remark = "; ".join(_remarks(own))
        indent = " " * (len(begin) + 2 if len(begin) + LEAST_BESIDE < width else 6)
        lines.append(wrapped(f"{begin}  {remark}".rstrip(), width, others=indent))
    return "\n".join(lines)


def _remarks(stands: Sequence[Stand]) -> list[str]:
    remarks = []
    for state, words in ((FAILED, "failed"), (CHANGED, "changed since")):
        names = [stand.name for stand in stands if stand.state == state]
        if names:
            more = len(names) - MOST_NAMES
            rest = f" and {more} more" if more > 0 else ""
            remarks.append(f"{words}: {', '.join(names[:MOST_NAMES])}{rest}")
    left_out = sum(stand.needs_gpu for stand in stands)
    if left_out:
        remarks.append(f"{left_out} more need{'s' if left_out == 1 else ''} a GPU")
    return remarks


def _next(possible: Sequence[Stand]) -> Stand | None:
    """One that failed, else one that has changed, else the first that was never tested."""
    for state in (FAILED, CHANGED, UNTESTED):
        for stand in possible:
            if stand.state == state:
                return stand
    return None


def _about(source: Path) -> str:
    """': ' and the exercise in a sentence; empty where it has none."""
    try:
        sentence = catalogue.sentence_about(source.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return f": {sentence}" if sentence else ""


def _what_next(stand: Stand | None, begun: bool, width: int) -> str:
    if stand is None:
        sentence = (
            "Next: an exercise of your own. ./lab new CHAPTER/NAME writes its first version, and "
            "CONTRIBUTING.md says what belongs to it."
        )
        return wrapped(sentence, width)
    if stand.state in WHY:
        sentence = f"Next is {stand.name}: {WHY[stand.state]}"
        actions = {f"./lab test {stand.name}": "says what is wrong, or that nothing is"}
    else:
        source = stand.exercise.source
        sentence = f"{'Next is' if begun else 'Begin with'} {stand.name}{_about(source)}"
        actions = {
            shown(catalogue.page_of(source)): "its page",
            f"./lab run {stand.name}": "builds and runs it",
            f"./lab test {stand.name}": "is it right? Then ./lab names the next",
        }
    return f"{wrapped(sentence, width)}\n\n{two_columns(actions, width)}"
