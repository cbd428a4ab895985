"""Configures and builds a preset."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..files import check_writable, make_build_folder
from ..paths import OUT, shown
from ..process import say
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
    with _alone_in(folder):
        if not (folder / "build.ninja").exists():
            cmake_runs.configure([cmake, "--preset", preset, "-B", str(folder)])
        wanted = ["--target", *targets] if targets else []
        cmake_runs.build([cmake, "--build", str(folder), *wanted])
    return folder


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Holds a lock, which ends with this process at the latest."""
    path = folder / "lab.lock"
    check_writable(path)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: another lab builds in {shown(folder)}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
