"""Configures and builds a preset."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..paths import OUT, ROOT
from ..process import must_run


def shortest(program: str) -> str:
    """As one types it: the bare name where PATH leads to the same program."""
    name = os.path.basename(program)
    return name if shutil.which(name) == program else program


def ctest_beside(cmake: str) -> str:
    return shortest(os.path.join(os.path.dirname(cmake), "ctest"))


def build(cmake: str, preset: str, *targets: str) -> Path:
    """Builds `targets`, or everything, and returns the build folder.

    Configures only a new folder: afterwards ninja sees itself when CMake has to run again.
    """
    folder = OUT / preset
    cmake = shortest(cmake)
    if not (folder / "build.ninja").exists():
        must_run([cmake, "--preset", preset], cwd=ROOT)
    chosen = ["--target", *targets] if targets else []
    must_run([cmake, "--build", "--preset", preset, *chosen], cwd=ROOT)
    return folder
