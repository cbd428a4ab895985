"""./lab profile: the metrics of an exercise's kernels, or of those of a student's own program."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import catalogue, files
from ..counters.collect import collect
from ..errors import BAD_USAGE, LabError, printable
from ..machine import backend
from ..process import say
from . import arguments as shared
from . import by_line
from .explained import explained

WIDTH_OF_A_FILE = 100  # characters of a line where stdout is no terminal


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "profile",
        prog="./lab profile",
        description="Profiles the kernels of an exercise, each launched once, or those of a CUDA "
        "program of your own: with Nsight Compute on the gpu back end, counted by the emulation on "
        "the cpu back end. Options of the program follow after --.",
        parents=[shared.shipped(), shared.backend(), shared.timeout()],
        allow_abbrev=False,
    )
    shared.add_program(command)
    command.add_argument(
        "--metrics",
        type=_names,
        metavar="A,B",
        help="names as in textbooks (scripts/metrics.toml) or of Nsight Compute; by default those "
        "that tell the story of the exercise",
    )
    command.add_argument(
        "--debug", action="store_true", help="gpu: the debug build (-G), which keeps every branch"
    )
    command.add_argument(
        "--explain",
        action="store_true",
        help="in place of the table, in words: what limits each kernel, what it waits for, what to do "
        "about it; without a GPU, what the counts show",
    )
    by_line.add_options(command)
    command.add_argument("--csv", action="store_true", help="CSV in place of the table")
    command.add_argument(
        "--output", type=shared.file, metavar="FILE", help="writes the CSV to FILE, too"
    )
    command.set_defaults(handler=run, beforehand=_check, takes=shared.AFTER_DASHES)


def _check(arguments: argparse.Namespace) -> None:
    """LabError (status 2) for what cannot be, whatever the back end."""
    if arguments.explain:
        _check_explain(arguments)
    by_line.check(arguments)
    catalogue.check_at(*arguments.names)
    if arguments.output:
        _check_output(arguments.output, arguments.names)


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    if by_line.is_asked(arguments):
        return by_line.run(arguments)
    chosen = backend.pick("auto") if arguments.backend == "auto" else arguments.backend
    wrong_too = not (arguments.csv or arguments.output)  # a file would not say which are
    if arguments.explain:
        table, shown = explained(
            arguments.names,
            chosen,
            arguments.options,
            arguments.timeout,
            wrong_too,
            _width(),
        )
    else:
        table = collect(
            arguments.names,
            chosen,
            arguments.debug,
            arguments.metrics or [],
            arguments.options,
            arguments.timeout,
            wrong_too=wrong_too,
        )
        shown = table.csv_text() if arguments.csv else table.text(_width())
    if arguments.output:
        files.write(arguments.output, table.csv_text())
    print(shown, end="", flush=True)
    if arguments.csv:
        for line in [table.source, *table.notes]:
            say(line)
    if table.failure:
        raise table.failure
    return 0


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(
            f"{printable(text)}: expected names, such as gld_efficiency,divergent_branch"
        )
    return names


def _check_output(path: Path, names: Sequence[str]) -> None:
    """LabError (status 2) where the table cannot be kept there."""
    files.check_writable(path)
    for name in names:
        if path.exists() and os.path.exists(name) and path.samefile(name):
            raise LabError(f"--output {printable(str(path))}: that is the program", BAD_USAGE)


def _check_explain(arguments: argparse.Namespace) -> None:
    """LabError (status 2) for an option that does not go with --explain."""
    others = {
        "--metrics": (arguments.metrics, "it takes the metrics that its rules need"),
        "--debug": (
            arguments.debug,
            "waits and shares of the peaks are those of an optimised build",
        ),
        "--csv": (arguments.csv, "it prints sentences; --output FILE keeps their numbers"),
    }
    for option, (given, reason) in others.items():
        if given:
            raise LabError(f"--explain does not go with {option}: {reason}", BAD_USAGE)


def _width() -> int:
    if not sys.stdout.isatty():
        return WIDTH_OF_A_FILE
    return shutil.get_terminal_size((WIDTH_OF_A_FILE, 0)).columns
