"""The tests that ctest knows in a build folder."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from ..building import presets
from ..errors import LabError
from ..process import output_of

# Labels of cmake/LabExercise.cmake. Each test is either quick or full.
EXERCISE, QUICK = "exercise", "quick"
# What the tests of an exercise are about that a student runs.
RESULTS = "results"
ABOUT = (RESULTS, "hazards", "counts", "options")
# The line of CTestTestfile.cmake for a test: its name and its command.
ADDED = re.compile(r'^add_test\(\[=\[(.+?)]=] "(.*)"\)$', re.MULTILINE)


@dataclass(frozen=True)
class CTest:
    """A test as `ctest --show-only` lists it."""

    number: int  # by which `ctest -I` selects it
    name: str
    command: tuple[str, ...]
    labels: frozenset[str]
    environment: tuple[str, ...] = ()

    @property
    def exercise(self) -> str:
        """The exercise that it tests; empty for a test of another part."""
        return self.name.partition("/")[0] if EXERCISE in self.labels else ""

    @property
    def about(self) -> str:
        return next((about for about in ABOUT if about in self.labels), "")

    @property
    def is_quick(self) -> bool:
        return QUICK in self.labels

    def files(self, folder: Path) -> list[Path]:
        """The files below `folder` that its command names, whether they are there or not."""
        paths = (Path(os.path.normpath(word)) for word in self.command if os.path.isabs(word))
        return [path for path in paths if folder in path.parents]


def tests_in(cmake: str, folder: Path) -> list[CTest]:
    """All tests of a build folder."""
    command = [presets.ctest_beside(cmake), "--test-dir", str(folder), "--show-only=json-v1"]
    tests = parsed(output_of(command))
    if all(test.command for test in tests):
        return tests
    # ctest leaves out the command of a program that is not built.
    commands = _commands(folder)
    return [replace(test, command=test.command or commands.get(test.name, ())) for test in tests]


def _commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """The command of each test, by its name, as CMake has written it for ctest."""
    return {
        name: tuple(words.split('" "'))
        for file in folder.rglob("CTestTestfile.cmake")
        for name, words in ADDED.findall(file.read_text(encoding="utf-8"))
    }


def parsed(text: str) -> list[CTest]:
    """The tests in what `ctest --show-only=json-v1` prints. LabError where it is something else."""
    try:
        return [_test(number, entry) for number, entry in enumerate(json.loads(text)["tests"], 1)]
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(f"cannot read the list of tests that ctest printed: {error}") from error


def _test(number: int, entry: dict) -> CTest:
    properties = {each["name"]: each["value"] for each in entry["properties"]}
    return CTest(
        number,
        entry["name"],
        tuple(entry.get("command", [])),
        frozenset(properties.get("LABELS", [])),
        tuple(properties.get("ENVIRONMENT", [])),
    )
