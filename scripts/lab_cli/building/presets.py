"""Configures and builds a preset."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ..files import make_build_folder
from ..lock import LOCK, alone_in
from ..paths import OUT, ROOT, WORK, WORK_VARIABLE, programs, shown
from ..process import say
from . import cmake as cmake_runs


def shortest(program: str) -> str:
    """As one types it: the bare name where the user's PATH leads to the same program."""
    name = os.path.basename(program)
    is_own = os.path.dirname(program) in programs()
    return name if shutil.which(name) == program and not is_own else program


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
        _remove_what_is_not_of_here(folder)
        configure = [cmake, "--preset", preset, "-B", str(folder)]
        if not (folder / "build.ninja").exists():
            cmake_runs.configure(configure)
        elif _cached(folder, WORK_VARIABLE) not in ("", str(WORK)):
            cmake_runs.configure([*configure, f"-D{WORK_VARIABLE}={WORK}"])
        wanted = ["--target", *targets] if targets else []
        cmake_runs.build([cmake, "--build", str(folder), *wanted])
    return folder


def _remove_what_is_not_of_here(folder: Path) -> None:
    """CMake's files name the folders that they were made in and for: where the checkout was moved or
    copied since, they are of no use."""
    for variable, here in (("CMAKE_CACHEFILE_DIR", folder), ("CMAKE_HOME_DIRECTORY", ROOT)):
        found = _cached(folder, variable)
        if found and not (os.path.exists(found) and os.path.samefile(found, here)):
            say(f"{shown(folder)} was made for {found}, not for {here}: it is built anew")
            _empty(folder)
            return


def _cached(folder: Path, variable: str) -> str:
    """The value of a variable in CMake's cache; empty where there is none."""
    try:
        cache = (folder / "CMakeCache.txt").read_text(errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{variable}:\w+=(.*)$", cache, re.MULTILINE)
    return found[1] if found else ""


def _empty(folder: Path) -> None:
    """But for the lock that is held."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
