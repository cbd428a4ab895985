"""What the back ends need to be built: how to see that it is there, and which package has it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Callable

from ..paths import venv_tool
from ..process import output_of

MIN_CMAKE = (3, 25)


def version_in(text: str) -> tuple[int, ...] | None:
    """The first dotted number: 'cmake version 3.25.1' -> (3, 25, 1)."""
    match = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in match.group().split(".")) if match else None


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


def find_compiler() -> str | None:
    """The compiler that CMake will take: CXX, else the first of its usual names."""
    wanted = os.environ.get("CXX")
    names = [wanted] if wanted else ["c++", "g++", "clang++"]
    return next((path for path in map(shutil.which, names) if path), None)


def find_make() -> str | None:
    return shutil.which("make")


def find_ninja() -> str | None:
    return shutil.which("ninja") or shutil.which("ninja-build")


def find_ccache() -> str | None:
    return shutil.which("ccache")


def find_bwrap() -> str | None:
    return shutil.which("bwrap")


def cmake_version(cmake: str) -> tuple[int, ...] | None:
    return version_in(output_of([cmake, "--version"]))


def find_cmake() -> str | None:
    """The first cmake that is new enough: of PATH, or of the virtual environment."""
    for cmake in (shutil.which("cmake"), shutil.which(str(venv_tool("cmake")))):
        if cmake and (cmake_version(cmake) or ()) >= MIN_CMAKE:
            return cmake
    return None


def can_link(compiler: str | None, header: str, library: str) -> bool:
    """Does a program that includes `header` link with -l`library`?"""
    if compiler is None:
        return False
    program = f"#include <{header}>\nint main() {{}}\n"
    command = [compiler, "-std=c++17", "-x", "c++", "-", "-o", os.devnull, "-pthread"]
    try:
        done = subprocess.run(
            [*command, f"-l{library}"], input=program.encode(), capture_output=True
        )
    except OSError:
        return False
    return done.returncode == 0


@dataclass(frozen=True)
class Need:
    name: str
    package: str  # of Debian and Ubuntu
    present: Callable[[], bool]
    wheel: str = ""  # of PyPI, which takes no root
    optional: bool = False  # nothing is asked for, without root


def _library(header: str, library: str) -> Callable[[], bool]:
    return lambda: can_link(find_compiler(), header, library)


def _for_tests(name: str, package: str, present: Callable[[], bool]) -> Need:
    return Need(name, package, present, optional=True)


# With it, what was compiled once is not compiled again.
CCACHE = Need("ccache", "ccache", lambda: find_ccache() is not None, optional=True)
TOOLS = [
    Need("C++ compiler", "g++", lambda: find_compiler() is not None, "ziglang"),
    Need("CMake >= " + dotted(MIN_CMAKE), "cmake", lambda: find_cmake() is not None, "cmake"),
    Need("Ninja", "ninja-build", lambda: find_ninja() is not None, "ninja"),
    CCACHE,
]
# make is the default generator of plain `cmake -S . -B build`, which is tested, too.
TESTS = [
    _for_tests("make", "make", lambda: find_make() is not None),
    _for_tests("GoogleTest", "libgmock-dev", _library("gmock/gmock.h", "gmock")),
    _for_tests(
        "Google Benchmark", "libbenchmark-dev", _library("benchmark/benchmark.h", "benchmark")
    ),
]
# Of ./lab grade, where it is given submissions.
SANDBOX = Need("bubblewrap", "bubblewrap", lambda: find_bwrap() is not None)


def needs_of(backend: str, tests: bool = False) -> list[Need]:
    """Of the exercises; with `tests`, of the workspace's own tests as well. The gpu back end takes
    nothing but tools: the emulator and the unit tests are not built."""
    return [*TOOLS, *(TESTS if tests and backend == "cpu" else [])]
