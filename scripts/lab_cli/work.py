"""The student's own copies: work/NAME/NAME.cu of each exercise that `./lab start` has started.

While there is one, NAME means it in every command, unless --shipped asks for the exercise as it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .paths import WORK, shown
from .process import say

if TYPE_CHECKING:
    from .catalogue import Exercise

# Ends the name of the target that CMake has for the original of a started exercise.
SHIPPED = "_shipped"
OWN = ".lab"  # a folder beside a copy, for lab alone
_shipped = False


def mean_shipped() -> None:
    """From now on, NAME means the exercise as it came."""
    global _shipped
    _shipped = True


@contextmanager
def meaning_shipped(shipped: bool) -> Iterator[None]:
    """In its block, NAME means the exercise as it came, or else what it means anyway."""
    global _shipped
    before = _shipped
    _shipped = before or shipped
    try:
        yield
    finally:
        _shipped = before


def blank_of(name: str) -> Path:
    """Where the text is that the copy began as."""
    return copy_of(name).parent / OWN / "blank.cu"


def means_shipped() -> bool:
    return _shipped


def copy_of(name: str) -> Path:
    """Where the copy of an exercise is, if it was started."""
    return WORK / name / f"{name}.cu"


def source_of(exercise: Exercise) -> Path:
    """The NAME.cu that NAME means."""
    return copy_of(exercise.name) if is_meant(exercise.name) else exercise.source


def is_meant(name: str) -> bool:
    """Whether NAME means the student's copy."""
    return not _shipped and copy_of(name).exists()


def started() -> list[str]:
    """The exercises that have a copy, by name."""
    return sorted(path.stem for path in WORK.glob("*/*.cu") if path.stem == path.parent.name)


def target(name: str) -> str:
    """What CMake calls the program that NAME means."""
    return name + SHIPPED if _shipped and copy_of(name).exists() else name


def announce(name: str) -> None:
    """Says that NAME means the student's copy."""
    say(f"{name}: yours, {shown(copy_of(name))} (--shipped takes the original)")
