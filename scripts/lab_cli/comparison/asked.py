"""What somebody who types ./lab compare wants to have compared."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import catalogue, work
from ..catalogue import Exercise
from ..errors import BAD_USAGE, LabError, printable

SHIPPED, YOURS = "shipped", "yours"
FORMS = "./lab compare --help shows what it takes"


@dataclass(frozen=True)
class Program:
    """An exercise, as it came or as NAME means it, or a .cu file of somebody's own."""

    exercise: Exercise | None
    file: str = ""
    shipped: bool = False

    @property
    def title(self) -> str:
        """As a person calls it."""
        return self.exercise.name if self.exercise else Path(self.file).name

    @property
    def sources(self) -> list[str]:
        return [] if self.exercise else [self.file]


@dataclass(frozen=True)
class Side:
    """A program and, in it, the kernels to look at."""

    program: Program
    kernel: str = ""  # as it was typed: a row of the exercise or a kernel; empty for all
    label: str = ""  # what a reader calls this side where both have the same name


@dataclass(frozen=True)
class Asked:
    before: Side
    after: Side

    @property
    def programs(self) -> list[Program]:
        """Each once."""
        before, after = self.before.program, self.after.program
        return [before] if before == after else [before, after]


def read(words: Sequence[str], shipped: bool) -> Asked:
    """One to three words: NAME; A B; NAME KERNEL KERNEL. LabError (status 2) for anything else, and for an
    exercise or a file that is not there."""
    if len(words) > 3:
        raise LabError(f"{printable(words[3])}: two versions are compared; {FORMS}", BAD_USAGE)
    if len(words) == 3:
        return _kernels_of_one(*words, shipped)
    if len(words) == 1:
        return _yours_and_shipped(words[0], shipped)
    before, after = (_side(word, shipped) for word in words)
    if before == after:
        what = "a kernel with itself" if before.kernel else f"{words[0]} with itself"
        raise LabError(f"that compares {what}: {_two_kernels(before.program)}", BAD_USAGE)
    if before.program == after.program and not (before.kernel and after.kernel):
        raise LabError(
            f"{words[0]} and {words[1]} are of one program: {_two_kernels(before.program)}",
            BAD_USAGE,
        )
    return Asked(before, after)


def _two_kernels(program: Program) -> str:
    name = program.exercise.name if program.exercise else program.file
    return f"./lab compare {name} KERNEL KERNEL takes two of its kernels"


def _kernels_of_one(name: str, before: str, after: str, shipped: bool) -> Asked:
    program = _program(name, shipped)
    for word in (before, after):
        if not word or _is_program(word):
            raise LabError(
                f"{printable(word)}: expected a kernel of {printable(name)}; {FORMS}", BAD_USAGE
            )
    if before == after:
        raise LabError(f"{printable(before)} twice: name two kernels", BAD_USAGE)
    return Asked(Side(program, before), Side(program, after))


def _is_program(word: str) -> bool:
    return word.endswith(".cu") or word in catalogue.sources()


def _yours_and_shipped(word: str, shipped: bool) -> Asked:
    """Both versions of an exercise that was started."""
    name, kernel = _split(word)
    if name.endswith(".cu"):
        raise LabError(f"{printable(word)}: with what? {FORMS}", BAD_USAGE)
    exercise = catalogue.one(name)
    if not work.copy_of(exercise.name).exists():
        raise LabError(
            f"{name}: with what? You have no copy of your own (./lab start {name}); "
            f"./lab compare {name} KERNEL KERNEL compares two of its kernels",
            BAD_USAGE,
        )
    if shipped:
        raise LabError(
            f"--shipped: ./lab compare {name} compares the exercise as it came with your copy",
            BAD_USAGE,
        )
    before, after = Program(exercise, shipped=True), Program(exercise)
    return Asked(Side(before, kernel, SHIPPED), Side(after, kernel, YOURS))


def _side(word: str, shipped: bool) -> Side:
    name, kernel = _split(word)
    return Side(_program(name, shipped), kernel)


def _split(word: str) -> tuple[str, str]:
    """The program and the kernel of PROGRAM:KERNEL. A name of a kernel may have colons itself, a path too."""
    if os.path.exists(word):
        return word, ""
    name, colon, kernel = word.partition(":")
    if colon and not kernel:
        raise LabError(f"{printable(word)}: a kernel is missing behind the colon", BAD_USAGE)
    return name, kernel


def _program(name: str, shipped: bool) -> Program:
    catalogue.check_at(name)
    exercise = catalogue.at(name)
    return Program(exercise, "", shipped) if exercise else Program(None, name)
