"""./lab test: builds what is asked for, runs its tests through ctest, and says what they say."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import catalogue
from ..building import presets
from ..building.exercises import build
from ..machine import backend, python_packages, setup, zig
from ..machine.needs import find_compiler
from ..paths import ROOT
from ..process import say, show
from ..progress import Progress
from ..results import standing, test_summary
from ..results.ctest import run_cases
from ..results.ctest_output import Reader
from ..verdicts import styled
from . import arguments as shared


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "test",
        prog="./lab test",
        description="Builds and tests exercises: those named, or everything there is, the workspace's "
        "own parts included. Shows the output of tests that fail, and a summary; into a pipe or a file also "
        "a line for each test. Options of ctest follow after --: with them, all that it prints.",
        parents=[shared.backend()],
        allow_abbrev=False,
    )
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="an exercise or a chapter; default: everything"
    )
    command.add_argument(
        "-R", dest="regex", metavar="REGEX", help="only the tests whose names match, as in ctest"
    )
    command.set_defaults(handler=run, beforehand=_check, takes=shared.AFTER_DASHES)


def _check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) where nothing is named so."""
    catalogue.check(arguments.names)


def run(arguments: argparse.Namespace) -> int:
    """ctest's status: 0, or 8 where a test failed."""
    sources = standing.digests()
    options = ["-R", arguments.regex] if arguments.regex else []
    if arguments.names:
        built = build(arguments.names, arguments.backend, instrumented=True)
        folder, cmake = built.folder, built.cmake
        names = "|".join(exercise.name for exercise in built.exercises)
        options = ["-L", f"^({names})$", *options]
    else:
        folder, cmake = _build_all(backend.pick(arguments.backend))
    in_short = bool(arguments.names)
    return _ctest(cmake, folder, options, arguments.options, in_short, sources)


def _build_all(chosen_backend: str) -> tuple[Path, str]:
    modules = []
    own_tests = (ROOT / "tests" / "CMakeLists.txt").exists()  # which a hand-out has not
    if not own_tests:
        pass
    elif chosen_backend == "gpu":
        say("note: the unit tests of common/ and emulator/ belong to the cpu back end")
    elif zig.is_compiler(find_compiler()):
        say("note: with zig's compiler tests of hazards, counts and lab itself are left out")
    else:
        modules = [*python_packages.OF_TESTS]
    cmake = setup.ensure(chosen_backend, modules, tests=own_tests)
    return presets.build(cmake, chosen_backend), cmake


def _ctest(
    cmake: str,
    folder: Path,
    chosen: Sequence[str],
    options: Sequence[str],
    in_short: bool,
    sources: Mapping[str, str],
) -> int:
    """Runs the tests that are `chosen`, with a student's `options`, and shows the summary; `in_short`, in
    place of ctest's own: a share of passed tests says nothing about an exercise. `sources` are those that
    were built."""
    with Progress("testing") as progress:
        reader = Reader(progress, sys.stdout.isatty(), bool(options), in_short)
        status, ran = run_cases(
            cmake, folder, [*chosen, *options], sources, lambda line: show(reader.shown(line))
        )
    if ran is not None:
        table, failed, names = test_summary.summary(ran).partition("\nfailed:\n")
        show(f"{reader.gap}{styled(table, sys.stdout)}{failed}{names}\n")
    return status
