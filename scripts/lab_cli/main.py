"""The command line of ./lab."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .commands import arguments as shared
from .commands import bench, cc, check, doctor, new, plot, profile, run, test, trace
from .commands import list as list_command
from .errors import LabError
from .process import say

ABOUT = """\
CUDA lab exercises, on a GPU or without one.

  ./lab run [NAME...] [-- OPTIONS]   build and run exercises: those named, or all
  ./lab test [NAME...]               build and run the tests: of exercises, or all
  ./lab profile NAME|FILE.cu         metrics of each kernel, with a GPU or without one
  ./lab check NAME|FILE.cu           races, accesses out of bounds, divergent barriers
  ./lab trace NAME                   draws what ran when: kernels and copies in their streams
  ./lab bench [NAME...]              measure exercises into results/<gpu>/
  ./lab plot [NAME...]               draw figures of results/, refresh the pages' tables
  ./lab list                         the exercises by chapter
  ./lab new CHAPTER/NAME             a first version of an exercise of your own
  ./lab doctor                       what this machine has, and what to do about the rest
  ./lab cc FILE.cu -o OUT            compile a CUDA program of your own for the CPU
"""
COMMANDS = [run, test, profile, check, trace, bench, plot, list_command, new, doctor, cc]


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lab",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="./lab COMMAND ...",
        allow_abbrev=False,
    )
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", help=argparse.SUPPRESS, required=True
    )
    for command in COMMANDS:
        command.add_parser(commands)
    return top


def dispatch(argv: Sequence[str]) -> int:
    top = parser()
    if not argv:
        top.print_help()
        return 2
    if argv[0] == "cc":
        return cc.run(argv[1:])
    split = argv.index("--") if "--" in argv else len(argv)
    arguments, unknown = top.parse_known_args(argv[:split])
    after = list(argv[split + 1 :])
    if unknown:
        has_options = arguments.takes == shared.AFTER_DASHES
        hint = "; options of an exercise follow after --" if has_options else ""
        top.error(f"unknown option {unknown[0]}{hint}")
    if after and arguments.takes == shared.NONE:
        top.error(f"{after[0]}: nothing may follow after -- here: ./lab {arguments.command} --help")
    arguments.options = after
    return arguments.handler(arguments)


def main(argv: Sequence[str]) -> int:
    try:
        try:
            return dispatch(argv)
        finally:
            sys.stdout.flush()  # here, where it is known what to do if nobody reads
    except LabError as error:
        say(f"lab: {error}")
        return error.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `./lab list | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
