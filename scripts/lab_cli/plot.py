"""./lab plot: draws the figures of results/<gpu>/, and refreshes the READMEs' tables."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from . import catalogue, setup
from .build import shortest
from .errors import LabError
from .paths import SCRIPTS
from .process import run as run_shown


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "plot",
        prog="./lab plot",
        description="Draws the figures of scripts/plots.toml from results/<gpu>/NAME.csv as SVG and "
        "PNG, and writes the tables of the READMEs. ./lab bench measures what they show.",
        allow_abbrev=False,
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="default: every exercise")
    command.add_argument(
        "--gpu",
        default="",
        metavar="FOLDER",
        help="one folder of results/, e.g. h200; default: all but that of the emulation (cpu)",
    )
    command.set_defaults(handler=run)


def run(arguments: argparse.Namespace, options: list[str]) -> int:
    if options:
        raise LabError(f"{options[0]}: nothing may follow after --, for no exercise runs", status=2)
    catalogue.pick(arguments.names, catalogue.exercises())  # names that are wrong end here
    python = setup.python_for(["matplotlib"])
    gpu = [f"--gpu={arguments.gpu}"] if arguments.gpu else []
    status = run_shown([shortest(python), "-B", str(SCRIPTS / "plot.py"), *arguments.names, *gpu])
    if status != 0:
        return status
    return run_shown([shortest(sys.executable), "-B", str(SCRIPTS / "readme_tables.py")])
