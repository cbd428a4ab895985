"""Builds the exercises that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import catalogue
from ..catalogue import Exercise
from ..errors import LabError
from ..machine import backend, setup, zig
from ..machine.needs import find_compiler
from ..process import say
from . import presets


@dataclass(frozen=True)
class Built:
    exercises: list[Exercise]
    backend: str
    folder: Path
    cmake: str


def build(names: Sequence[str], request: str, instrumented: bool = False) -> Built:
    """Those of `names` on the back end that --backend asks for; for no names, all that it has. Of
    named ones also, if `instrumented`, the programs that their tests on the cpu back end run."""
    if any(not name.strip() for name in names):
        raise LabError("a name is empty; ./lab list shows those of the exercises", status=2)
    catalogue.check(names)
    chosen_backend = backend.pick(request)
    exercises = catalogue.of_backend(catalogue.exercises(names), chosen_backend, bool(names))
    cmake = setup.ensure(chosen_backend)
    if instrumented and zig.is_compiler(find_compiler()):
        say(
            "note: tests of hazards and counts are left out: they cannot be built with zig's compiler"
        )
        instrumented = False
    wanted = [] if names else ["exercises"]
    for exercise in exercises if names else []:
        wanted.append(exercise.target)
        if instrumented and chosen_backend == "cpu":
            wanted.append(exercise.instrumented)
    folder = presets.build(cmake, chosen_backend, *wanted)
    return Built(exercises, chosen_backend, folder, cmake)
