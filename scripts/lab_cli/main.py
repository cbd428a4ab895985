"""The command line of ./lab."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence

from lab_course import additions
from lab_course.commands import grade, handout, hint, report, reset, solution, start, watch
from lab_course.loop.copy import Copy

from . import __version__, assignment_catalogue, catalogue, work
from .commands import arguments as shared
from .commands import (
    bench,
    cc,
    check,
    compare,
    doctor,
    new,
    plot,
    profile,
    run,
    stand,
    test,
    trace,
)
from .commands import list as list_command
from .commands.layout import two_columns
from .commands.parser import Parser
from .errors import BAD_USAGE, LabError, printable
from .files import reason
from .process import say
from .streams import CannotWrite, drop
from .toml_file import did_you_mean

COMMANDS = [
    start,
    watch,
    hint,
    solution,
    reset,
    run,
    test,
    profile,
    compare,
    check,
    trace,
    report,
    bench,
    plot,
    list_command,
    grade,
    handout,
    new,
    doctor,
    cc,
]
ABOUT = {
    "./lab": "where you stand, and what comes next",
    "./lab start [NAME]": "your own copy of an exercise, with code for you to write",
    "./lab watch": "after each save: right? hazards? counts? points? what next?",
    "./lab hint": "one more hint",
    "./lab solution": "your code against the exercise's own; asks first",
    "./lab reset": "begin anew; what you have is kept",
    "./lab run [NAME...]": "build and run exercises: those named, or all",
    "./lab test [NAME...]": "build and run the tests: of exercises, or of all",
    "./lab profile NAME|FILE.cu": "metrics of each kernel, with or without a GPU",
    "./lab compare NAME A B": "two kernels, or two versions: what differs, and why",
    "./lab check NAME|FILE.cu": "races, wrong accesses, divergent barriers",
    "./lab trace NAME": "draws what ran when, and in which stream",
    "./lab report NAME|FILE.cu": "a page to hand in: results, tests, metrics",
    "./lab bench [NAME...]": "measure exercises into results/<gpu>/",
    "./lab plot [NAME...]": "draw figures of results/, refresh pages' tables",
    "./lab list": "the exercises by chapter",
    "./lab grade [ASSIGNMENT]": "the points of an assignment: yours, or students'",
    "./lab handout ASSIGNMENT": "a workspace for students, without the solution",
    "./lab new CHAPTER/NAME": "a first version of an exercise of your own",
    "./lab doctor": "what this machine has, and how to get the rest",
    "./lab cc FILE.cu -o OUT": "compile a CUDA program of your own for the CPU",
}


def about() -> str:
    """What the commands do."""
    rows = two_columns(ABOUT, shutil.get_terminal_size().columns - 2)
    return f"CUDA lab exercises, on a GPU or without one.\n\n{rows}"


def parsers() -> tuple[Parser, dict[str, Parser]]:
    """Of lab, and of its commands by name."""
    top = Parser(
        prog="./lab",
        description=about(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="./lab COMMAND ...",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"lab {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", help=argparse.SUPPRESS)
    for command in COMMANDS:
        command.add_parser(commands)
    additions.add_to(commands.choices)
    return top, commands.choices


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """What a command line of ./lab says, that of cc excepted. LabError (status 2) where it is wrong."""
    top, commands = parsers()
    if argv[0] == "--":
        raise LabError("--: a command is missing before it; ./lab --help lists them", BAD_USAGE)
    if argv[0].startswith("-") and argv[0] != "-":
        top.parsed(argv[:1])
    if argv[0] not in commands:
        raise LabError(
            f"{printable(argv[0])}: no such command{_hint(argv[0], commands)}", BAD_USAGE
        )
    split = argv.index("--") if "--" in argv else len(argv)
    command = commands[argv[0]]
    arguments = command.parsed(argv[1:split])
    arguments.words = list(argv)
    arguments.options = list(argv[split + 1 :])
    if arguments.options and arguments.takes == shared.NONE:
        command.error(f"{printable(arguments.options[0])}: nothing may follow after -- here")
    return arguments


def _hint(word: str, commands: Sequence[str]) -> str:
    if word in catalogue.sources():
        return f"; ./lab run {word} runs the exercise of this name"
    if word.endswith(".cu"):
        return "; ./lab --help says what to do with a .cu file"
    return did_you_mean(word, commands) or "; ./lab --help lists them"


def dispatch(argv: Sequence[str]) -> int:
    if not argv:
        return stand.run()
    if argv[0] == "cc":
        return cc.run(argv[1:])
    arguments = parsed(argv)
    _announce(arguments)
    return arguments.handler(arguments)


def _announce(arguments: argparse.Namespace) -> None:
    """Says which of the exercises that a command is about are the student's copies, and brings those up to date
    with their originals."""
    if not hasattr(arguments, "shipped"):
        return
    if arguments.shipped:
        work.mean_shipped()
        return
    names = _names(arguments)
    if names is None:
        return
    known = catalogue.sources()
    for name in work.started():
        chapter = known[name].parents[1].name if name in known else ""
        if chapter and (not names or name in names or any(map(chapter.startswith, names))):
            Copy(catalogue.one(name)).refresh()
            work.announce(name)


def _names(arguments: argparse.Namespace) -> Sequence[str] | None:
    """Of the exercises and chapters that a command is about; empty: of all. None: it is about none."""
    if hasattr(arguments, "assignment"):
        if arguments.submissions or not arguments.assignment:
            return None
        return [assignment_catalogue.one(arguments.assignment)[0].name]
    names = arguments.names if hasattr(arguments, "names") else [arguments.name]
    return [name.partition(":")[0] for name in names]  # PROGRAM:KERNEL


def main(argv: Sequence[str]) -> int:
    try:
        try:
            status = _status_of(argv)
            sys.stdout.flush()  # here, where it is known what to do if nobody reads
            return status
        except CannotWrite as error:
            drop(1)
            say(f"lab: {error}")
    except BrokenPipeError:  # `./lab list | head`: nobody reads on
        drop(1)
        drop(2)
    return 1


def _status_of(argv: Sequence[str]) -> int:
    try:
        return dispatch(argv)
    except LabError as error:
        say(f"{error.who}: {error}")
        return error.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        raise
    except OSError as error:
        say(f"lab: {reason(error)}")
        return 1
    except SystemExit as end:  # of --help, and of a signal
        return end.code if isinstance(end.code, int) else 1
