"""./lab test: builds what is asked for, runs its tests through ctest, and says what they say."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import catalogue, work
from ..building import presets
from ..building.exercises import build
from ..errors import BAD_USAGE, LabError
from ..machine import backend, python_packages, setup, zig
from ..machine.needs import find_compiler
from ..paths import ROOT, shown
from ..process import say, show
from ..progress import Progress
from ..testing import affected, checkout, ctest, inputs, summary
from ..testing.ctest_output import Reader
from ..testing.listing import CTest, tests_in
from ..verdicts import styled
from . import arguments as shared

QUICK_TESTS = "quick_tests"  # the target of CMake


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "test",
        prog="./lab test",
        description="Builds and tests exercises: those named, or all, and what they share. Shows the output of "
        "tests that fail, and a summary; into a pipe or a file also a line for each test. A test that passed "
        "is not run again until something that it depends on has changed. Options of ctest follow after --: "
        "with them, all that it prints.",
        parents=[shared.shipped(), shared.backend()],
        allow_abbrev=False,
    )
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="an exercise or a chapter; default: all"
    )
    command.add_argument(
        "-R", dest="regex", metavar="REGEX", help="only the tests whose names match, as in ctest"
    )
    command.add_argument(
        "--all",
        action="store_true",
        help="also the tests that maintainers run: of the workspace's own parts, and whether the tests of the "
        "exercises notice mistakes",
    )
    command.add_argument(
        "--for",
        dest="files",
        nargs="+",
        metavar="FILE",
        help="all tests that can notice a change of these files",
    )
    command.add_argument(
        "--changed", action="store_true", help="the same of the files that git says have changed"
    )
    command.add_argument(
        "--fresh", action="store_true", help="also the tests that passed and need not run again"
    )
    command.set_defaults(handler=run, beforehand=_check, takes=shared.AFTER_DASHES)


def _check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) for a name of nothing, for a regular expression that is none, and for choices that
    contradict one another."""
    catalogue.check(arguments.names)
    ways = {
        "names": arguments.names,
        "--all": arguments.all,
        "--for": arguments.files,
        "--changed": arguments.changed,
    }
    given = [way for way, value in ways.items() if value]
    if len(given) > 1:
        raise LabError(f"{given[0]} and {given[1]}: choose tests in one of these ways", BAD_USAGE)
    try:
        re.compile(arguments.regex or "")
    except re.error as error:
        message = f"-R {arguments.regex}: expected a regular expression: {error}"
        raise LabError(message, BAD_USAGE) from error
    for name in arguments.files or []:
        if not Path(name).exists():
            raise LabError(f"--for {name}: there is no such file", BAD_USAGE)
        if ROOT not in Path(name).resolve().parents:
            raise LabError(f"--for {name}: expected a file below {ROOT}", BAD_USAGE)


@dataclass(frozen=True)
class Chosen:
    """A build folder, and which of its tests are run."""

    cmake: str
    folder: Path
    tests: list[CTest]
    chosen: list[CTest]


def run(arguments: argparse.Namespace) -> int:
    """ctest's status: 0, or 8 where a test failed."""
    _check(arguments)
    if arguments.names:
        chosen = _of_exercises(arguments)
    elif arguments.all or arguments.files or arguments.changed:
        chosen = _of_all(arguments)
    elif arguments.regex:
        chosen = _by_name(arguments)
    else:
        chosen = _quick(arguments)
    with Progress("testing") as progress:
        reader = Reader(progress, sys.stdout.isatty(), bool(arguments.options))
        ran = ctest.run(
            chosen.cmake,
            chosen.folder,
            chosen.tests,
            chosen.chosen,
            arguments.options,
            lambda line: show(reader.shown(line)),
            arguments.fresh,
        )
    if ran.cases:
        table, failed, names = summary.summary(ran.cases).partition("\nfailed:\n")
        show(f"{reader.gap}{styled(table, sys.stdout)}{failed}{names}\n")
    if ran.kept:
        say(f"{ran.kept} of {len(chosen.chosen)} tests passed before, and nothing that they depend on has "
            "changed (--fresh runs them again)")  # fmt: skip
    for name in _assignments(arguments.names):
        say(f"These tests give no points: ./lab grade {name} says what your copy is worth.")
    return ran.status


def _assignments(names: Sequence[str]) -> list[str]:
    """Of the exercises that are named, of those which the student works on."""
    own = [catalogue.one(name) for name in names if work.is_meant(name)]
    return [each.name for exercise in own for each in exercise.facts.assignments]


def _chosen(
    arguments: argparse.Namespace, cmake: str, folder: Path, wanted: Callable[[CTest], bool]
) -> Chosen:
    """The tests that are wanted and match -R. LabError where there is none."""
    tests = tests_in(cmake, folder)
    chosen = [test for test in tests if wanted(test) and _matches(test, arguments.regex)]
    if not chosen:
        about = f" whose name matches {arguments.regex}" if arguments.regex else ""
        raise LabError(
            f"there is no such test{about}; ctest --test-dir {shown(folder)} -N lists all"
        )
    return Chosen(cmake, folder, tests, chosen)


def _matches(test: CTest, regex: str | None) -> bool:
    return not regex or re.search(regex, test.name) is not None


def _of_exercises(arguments: argparse.Namespace) -> Chosen:
    """The quick tests of the exercises that are named."""
    built = build(arguments.names, arguments.backend, instrumented=True)
    names = {exercise.target for exercise in built.exercises}
    return _chosen(
        arguments,
        built.cmake,
        built.folder,
        lambda test: test.exercise in names and test.is_quick,
    )


def _quick(arguments: argparse.Namespace) -> Chosen:
    """The quick tests of all exercises and of common/."""
    chosen_backend = backend.pick(arguments.backend)
    cmake = _set_up(chosen_backend, [])
    folder = presets.build(cmake, chosen_backend, QUICK_TESTS)
    return _chosen(arguments, cmake, folder, lambda test: test.is_quick)


def _of_all(arguments: argparse.Namespace) -> Chosen:
    """All tests, or those that can notice a change of some files. Everything is built."""
    chosen_backend = backend.pick(arguments.backend)
    cmake = _set_up(chosen_backend, [*python_packages.OF_TESTS])
    folder = presets.build(cmake, chosen_backend)
    if arguments.all:
        return _chosen(arguments, cmake, folder, lambda test: True)
    files = [Path(name).resolve() for name in arguments.files or []] or checkout.changed()
    if not files:
        raise LabError("nothing has changed since the last commit", status=0)
    noticing = {test.name for test in affected.tests_for(files, tests_in(cmake, folder), folder)}
    if not noticing:
        names = ", ".join(map(shown, files))
        raise LabError(f"no test can notice a change of {names}; ./lab test --all runs all tests")
    return _chosen(arguments, cmake, folder, lambda test: test.name in noticing)


def _by_name(arguments: argparse.Namespace) -> Chosen:
    """All tests whose name matches, quick or not. What they need is built, which their commands name."""
    chosen_backend = backend.pick(arguments.backend)
    cmake = _set_up(chosen_backend, [*python_packages.OF_TESTS])
    folder = presets.build(cmake, chosen_backend, "build.ninja")  # brings CMake's files up to date
    chosen = _chosen(arguments, cmake, folder, lambda test: True)
    programs = {path for test in chosen.chosen for path in test.files(folder)}
    targets = sorted(str(path.relative_to(folder)) for path in programs)
    known = all(inputs.names_its_programs(test) for test in chosen.chosen)
    presets.build(cmake, chosen_backend, *(targets if known else []))
    return _chosen(arguments, cmake, folder, lambda test: True)


def _set_up(chosen_backend: str, modules: Sequence[str]) -> str:
    """Sets up what these tests take, and returns the cmake."""
    own_tests = (ROOT / "tests" / "CMakeLists.txt").exists()  # which a hand-out has not
    if not own_tests:
        modules = []
    elif chosen_backend == "gpu":
        say("note: the unit tests of common/ and emulator/ belong to the cpu back end")
        modules = []
    elif zig.is_compiler(find_compiler()):
        say("note: with zig's compiler tests of hazards, counts and lab itself are left out")
        modules = []
    return setup.ensure(chosen_backend, modules, tests=own_tests)
