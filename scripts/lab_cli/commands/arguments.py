"""What the parsers of several commands share."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Sequence
from pathlib import Path

from .. import catalogue
from ..errors import BAD_USAGE, LabError, printable

# What becomes of options that are not the command's own: it has no use for any; or all that follow
# after -- go to the program that it runs.
NONE, AFTER_DASHES = "none", "after dashes"


def add_program(command: argparse.ArgumentParser) -> None:
    """`names`: what a command looks at."""
    command.add_argument(
        "names",
        nargs="+",
        metavar="NAME|FILE.cu",
        help="an exercise, or a file of your own; or all files of a program of your own",
    )


def backend() -> argparse.ArgumentParser:
    """--backend, as a parent of the parser of a command."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "--backend",
        type=_backend,
        default="auto",
        metavar="{auto,gpu,cpu}",
        help="gpu: on an NVIDIA GPU; cpu: on the emulation; auto (the default): gpu where nvcc and a "
        "usable GPU are there, else cpu",
    )
    return parent


def shipped() -> argparse.ArgumentParser:
    """--shipped, as a parent of the parser of a command."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "--shipped",
        action="store_true",
        help="the exercise as it came, also where you have started your own copy of it",
    )
    return parent


def timeout() -> argparse.ArgumentParser:
    """--timeout, as a parent of the parser of a command."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="ends a program that takes longer; by default it may take for ever",
    )
    return parent


def _backend(text: str) -> str:
    if text not in ("auto", "gpu", "cpu"):
        raise argparse.ArgumentTypeError(f"{printable(text)}: expected auto, gpu or cpu")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(
            f"{printable(text)}: expected a number of seconds, above 0"
        )
    return seconds


def name(text: str) -> str:
    """The value of an option that names something."""
    if not text:
        raise argparse.ArgumentTypeError("'': expected a name")
    return text


def file(text: str) -> Path:
    """The value of an option that names a file to write."""
    return Path(name(text))


def exercises_or_files(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of what is named, the exercises and chapters, or else the files of one program of somebody's own, the
    .cu files first. LabError (status 2) for both at once, and for a file that cannot be read."""
    files = [name for name in names if Path(name).suffix]  # no exercise or chapter has one
    files.sort(key=lambda file: not file.endswith(".cu"))
    if not files:
        return [*names], []
    if len(files) < len(names):
        other = next(name for name in names if name not in files)
        raise LabError(
            f"{other} and {files[0]}: name exercises and chapters, or the files of one program of your "
            "own",
            BAD_USAGE,
        )
    catalogue.check_at(*files)
    found = [catalogue.at(file) for file in files if file.endswith(".cu")]
    exercises = [exercise.name for exercise in found if exercise]
    return (exercises, []) if len(exercises) == len(files) else ([], files)
