"""Configures and builds a preset."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..files import make_build_folder
from ..lock import alone_in
from ..paths import OUT
from . import cmake as cmake_runs


def shortest(program: str) -> str:
    """As one types it: the bare name where PATH leads to the same program."""
    name = os.path.basename(program)
    return name if shutil.which(name) == program else program


def ctest_beside(cmake: str) -> str:
    return shortest(os.path.join(os.path.dirname(cmake), "ctest"))


def build(cmake: str, preset: str, *targets: str) -> Path:
    """Builds `targets`, or everything, and returns the build folder.

    Configures only a new folder: afterwards ninja sees itself when CMake has to run again. Of two
    that build the same preset, one waits for the other.
    """
    folder = OUT / preset
    cmake = shortest(cmake)
    make_build_folder(folder)
    with alone_in(folder, "builds"):
        if not (folder / "build.ninja").exists():
            cmake_runs.configure([cmake, "--preset", preset, "-B", str(folder)])
        wanted = ["--target", *targets] if targets else []
        cmake_runs.build([cmake, "--build", str(folder), *wanted])
    return folder
