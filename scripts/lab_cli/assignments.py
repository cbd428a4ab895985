"""Assignments: what a student writes in an exercise, and what it is worth. [[assignment]] in exercise.toml:

name              what one types; of all assignments, one has it
sentence          what the student does
stars             how hard it is: 1, 2 or 3
kernels           functions of NAME.cu whose bodies the student writes: kernels, functions that kernels call, or
                  functions of the host. Their signatures and calls stay
rows              kernels of the table's rows that are judged (default: `kernels`)
launches          kernels whose launches are counted (default: `kernels`)
before            the kernel before it in the ladder, with which the student's is compared
hides             kernels that give the answer away: a student's copy has neither them nor their rows
leaves_out        exercises that give it away: a hand-out has not got them
answers           tasks of the page whose answers give it away: a hand-out has not got these answers
comment           in a student's copy, what stands above the kernel in place of the comment that gives it away
listed            likewise, what the list of kernels in the header comment says of it
hints             at least three, from a nudge to nearly the answer
sizes             options of runs whose rows must be right. A teacher may add more
check             options of a run in which the hazard check must find nothing
bounds            a list, empty where right rows are all that is asked for; each has a count, a bound on what
                  the cpu back end counts: "gld_efficiency >= 95 %",
                  which must hold for each of these launches; options of the run; and goal = true where the
                  assignment is about this bound. The kernel before it misses each goal
speed             on a GPU alone: of, another row of the same run; least, the share of its speed that the rows
                  must have; options

An assignment of an exercise that is gpu_only is judged on a GPU, by right rows and by speed. It has neither
check nor bounds, and speed is its goal.

Every assignment is worth 10 points. points_of() has the rule.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import metrics
from .errors import LabError
from .toml_file import FLAG, LIST, NUMBER, TABLE, TEXT, TEXTS, WHOLE, Rule, checked

NAME = re.compile(r"[a-z][A-Za-z0-9]*", re.ASCII)
BOUND = re.compile(r"(\w+) (<=|>=|==|<|>) (\d+(?:\.\d+)?)(?: %)?")
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
POINTS = 10
OF_RIGHT = 3  # right at all sizes and free of hazards, and nothing more
MOST_WITH_A_MISS = 5  # where a bound is missed
OF_SPEED = 2  # beyond the 10, on a GPU
LEAST_HINTS = 3


@dataclass(frozen=True)
class Bound:
    """On a metric of each launch that is counted."""

    count: str  # as it is written: "gld_efficiency >= 95 %"
    metric: str
    comparison: str
    limit: float
    options: str
    goal: bool = False  # the assignment is about it

    def holds(self, value: float) -> bool:
        return COMPARE[self.comparison](value, self.limit)

    def worst(self, values: Sequence[float]) -> float | None:
        """The value of the launch that comes last by this bound; None without a launch."""
        if self.comparison[0] in "<>":
            return (max if self.comparison[0] == "<" else min)(values, default=None)
        return max(values, key=lambda value: abs(value - self.limit), default=None)


@dataclass(frozen=True)
class Speed:
    of: str
    least: float
    options: str


@dataclass(frozen=True)
class Assignment:
    name: str
    sentence: str
    stars: int
    kernels: list[str]
    rows: list[str]
    launches: list[str]
    before: str
    hides: list[str]
    leaves_out: list[str]
    answers: list[int]
    comment: str
    listed: str
    hints: list[str]
    sizes: list[str]
    check: str
    bounds: list[Bound]
    speed: Speed | None = None
    on_gpu: bool = False  # it is judged there: the exercise is gpu_only


def points_of(right: bool, kept: bool, goals: Sequence[bool]) -> float:
    """What a solution is worth. To be `right`, at all sizes and without a hazard, is the condition. The points
    are for the `goals`, and count only where all other bounds are `kept`."""
    if not right:
        return 0
    if not kept:
        return OF_RIGHT
    if all(goals):
        return POINTS
    return OF_RIGHT + (MOST_WITH_A_MISS - OF_RIGHT) * sum(goals) / len(goals)


STARS = Rule("1, 2 or 3", lambda value: type(value) is int and 1 <= value <= 3)
HINTS = Rule(
    f"a list of at least {LEAST_HINTS} texts",
    lambda value: TEXTS.fits(value) and len(value) >= LEAST_HINTS,
)
TASKS = Rule(
    "a list of numbers of tasks",
    lambda value: isinstance(value, list) and all(map(WHOLE.fits, value)),
)
OPTIONS = Rule("options", lambda value: isinstance(value, str) and _splits(value))
SIZES = Rule(
    "a list of options",
    lambda value: isinstance(value, list) and bool(value) and all(map(OPTIONS.fits, value)),
)
_ASSIGNMENT = {
    "name": Rule("a name in camelCase", lambda value: bool(NAME.fullmatch(str(value)))),
    "sentence": TEXT,
    "stars": STARS,
    "kernels": Rule("a list of kernels", lambda value: TEXTS.fits(value) and bool(value)),
    "rows": TEXTS.or_nothing(),
    "launches": TEXTS.or_nothing(),
    "before": TEXT,
    "hides": TEXTS.or_nothing(),
    "leaves_out": TEXTS.or_nothing(),
    "answers": TASKS.or_nothing(),
    "comment": TEXT.or_nothing(),
    "listed": TEXT.or_nothing(),
    "hints": HINTS,
    "sizes": SIZES,
    "check": OPTIONS,
    "bounds": LIST,
    "speed": TABLE.or_nothing(),
}
ON_CPU = ("check", "bounds")  # what the cpu back end looks at
_ASSIGNMENT_ON_GPU = {
    **{key: rule for key, rule in _ASSIGNMENT.items() if key not in ON_CPU},
    "speed": TABLE,
}
_BOUND = {"options": OPTIONS, "count": TEXT, "goal": FLAG.or_nothing()}
_SPEED = {"options": OPTIONS, "of": TEXT, "least": NUMBER}


def _splits(options: str) -> bool:
    try:
        shlex.split(options)
    except ValueError:
        return False
    return True


def of_file(
    entries: Sequence[Any], problems: list[str], gpu_only: bool = False
) -> list[Assignment]:
    """Those of [[assignment]] in a exercise.toml; what is wrong with them is added to `problems`."""
    found = [
        _assignment(entry, f"[[assignment]], entry {number}: ", problems, gpu_only)
        for number, entry in enumerate(entries, 1)
    ]
    return [assignment for assignment in found if assignment]


def _assignment(entry: Any, place: str, problems: list[str], gpu_only: bool) -> Assignment | None:
    """None where something is wrong with it."""
    before = len(problems)
    rules = _ASSIGNMENT_ON_GPU if gpu_only else _ASSIGNMENT
    keys = checked(entry if isinstance(entry, dict) else {}, rules, place, problems)
    bounds = [
        _bound(bound, f"{place}bounds, entry {number}: ", problems)
        for number, bound in enumerate(keys.get("bounds", []), 1)
    ]
    speed = None
    if "speed" in keys:
        speed = checked(keys["speed"], _SPEED, f"{place}speed: ", problems)
    if keys.get("bounds") and not any(bound.goal for bound in bounds if bound):
        problems.append(f"{place}bounds: none has goal = true")
    if len(problems) > before:
        return None
    return Assignment(
        name=keys["name"],
        sentence=keys["sentence"],
        stars=keys["stars"],
        kernels=keys["kernels"],
        rows=keys.get("rows", keys["kernels"]),
        launches=keys.get("launches", keys["kernels"]),
        before=keys["before"],
        hides=keys.get("hides", []),
        leaves_out=keys.get("leaves_out", []),
        answers=keys.get("answers", []),
        comment=keys.get("comment", ""),
        listed=keys.get("listed", ""),
        hints=keys["hints"],
        sizes=keys["sizes"],
        check=keys.get("check", ""),
        bounds=[bound for bound in bounds if bound],
        speed=Speed(**speed) if speed else None,
        on_gpu=gpu_only,
    )


def _bound(entry: Any, place: str, problems: list[str]) -> Bound | None:
    keys = checked(entry if isinstance(entry, dict) else {}, _BOUND, place, problems)
    if not {"count", "options"} <= {*keys}:
        return None
    parts = BOUND.fullmatch(keys["count"])
    if not parts:
        problems.append(f'{place}{keys["count"]!r}: expected such as "gld_efficiency >= 95 %"')
        return None
    try:
        (metric,) = metrics.load().find([parts[1]])
    except LabError as error:
        problems.append(f"{place}{error}")
        return None
    if not metric.cpu:
        problems.append(f"{place}{metric.name} depends on the machine, or takes a GPU")
        return None
    return Bound(metric=metric.name, comparison=parts[2], limit=float(parts[3]), **keys)
