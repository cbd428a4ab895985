"""Builds the exercises that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import catalogue
from ..catalogue import Exercise
from ..machine import backend, setup
from . import presets


@dataclass(frozen=True)
class Built:
    exercises: list[Exercise]
    backend: str
    folder: Path


def targets(exercise: Exercise, backend: str) -> list[str]:
    """Of CMake: what the tests of the exercise run."""
    instrumented = [exercise.instrumented] if backend == "cpu" else []
    return [exercise.name, *instrumented]


def build(names: Sequence[str], request: str) -> Built:
    """Those of `names` on the back end that --backend asks for; for no names, all that it has."""
    setup.toml_reader()
    exercises = catalogue.exercises(names)
    chosen_backend = backend.pick(request)
    exercises = catalogue.of_backend(exercises, chosen_backend, bool(names))
    cmake = setup.ensure(chosen_backend)
    wanted = [exercise.name for exercise in exercises] if names else ["exercises"]
    return Built(exercises, chosen_backend, presets.build(cmake, chosen_backend, *wanted))
