"""What is handed out: assignments, and what has to go because of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from lab_cli import catalogue
from lab_cli.assignment_catalogue import assignments
from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise, facts_of
from lab_cli.errors import BAD_USAGE, LabError, printable
from lab_cli.paths import ROOT
from lab_cli.toml_file import did_you_mean


@dataclass(frozen=True)
class Part:
    """An exercise, and the assignments of it that are handed out."""

    exercise: Exercise
    assignments: list[Assignment]
    solved: frozenset[str] = frozenset()  # assignments that are solved, and hide nothing any more

    @property
    def kernels(self) -> list[str]:
        """Those that students write."""
        return [kernel for assignment in self.assignments for kernel in assignment.kernels]

    @property
    def hidden(self) -> list[str]:
        """Those that are not there, each once."""
        left = [each for each in self.assignments if each.name not in self.solved]
        return [*dict.fromkeys(name for each in left for name in each.hides)]

    @property
    def folder(self) -> Path:
        """As seen from the checkout, as the files in it."""
        return self.exercise.folder.relative_to(ROOT)

    @property
    def source(self) -> Path:
        return self.exercise.source.relative_to(ROOT)

    @property
    def page(self) -> Path:
        return self.exercise.page.relative_to(ROOT)

    @property
    def facts(self) -> Path:
        return facts_of(self.source)


@dataclass(frozen=True)
class Choice:
    parts: list[Part]
    left_out: list[Exercise]

    @property
    def assignments(self) -> list[Assignment]:
        return [assignment for part in self.parts for assignment in part.assignments]

    def part_of(self, path: Path) -> Part | None:
        """The one to whose exercise a file belongs."""
        return next((part for part in self.parts if part.folder in path.parents), None)


def of(names: Sequence[str]) -> Choice:
    """LabError (status 2) for a name that no assignment has, and for assignments that do not go together."""
    exercises = catalogue.exercises()
    of_assignment = assignments(exercises)
    parts: dict[str, Part] = {}
    for name in dict.fromkeys(names):
        if name not in of_assignment:
            raise LabError(
                f"no assignment is named {printable(name)}{_hint(name, of_assignment)}", BAD_USAGE
            )
        exercise, assignment = of_assignment[name]
        parts.setdefault(exercise.name, Part(exercise, [])).assignments.append(assignment)
    for part in parts.values():
        for one, other in combinations(part.assignments, 2):
            _refuse_conflict(one, other)
            _refuse_conflict(other, one)
    wanted = {
        name for part in parts.values() for each in part.assignments for name in each.leaves_out
    }
    for part in parts.values():
        _refuse_left_out(part, parts.values())
    left_out = [exercise for exercise in exercises if exercise.name in wanted]
    return Choice(list(parts.values()), left_out)


def _hint(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    if not names:
        return ": no exercise.toml has an [[assignment]]"
    return did_you_mean(name, names) or f"; there are {', '.join(names)}"


def _refuse_conflict(one: Assignment, other: Assignment) -> None:
    both = sorted({*one.kernels} & {*other.kernels})
    if both:
        raise LabError(
            f"{one.name} and {other.name}: {both[0]} is written in both: hand out one of them",
            BAD_USAGE,
        )
    hidden = sorted({*one.hides} & {*other.kernels})
    if hidden:
        raise LabError(
            f"{one.name} hides {hidden[0]}, which is written in {other.name}: hand them out one after "
            "the other",
            BAD_USAGE,
        )


def _refuse_left_out(part: Part, parts: Iterable[Part]) -> None:
    for other in parts:
        for assignment in other.assignments:
            if part.exercise.name in assignment.leaves_out:
                raise LabError(
                    f"{assignment.name} leaves {part.exercise.name} out, of which "
                    f"{part.assignments[0].name} is: hand them out one after the other",
                    BAD_USAGE,
                )
