"""./lab reset: begins an exercise anew."""

from __future__ import annotations

import argparse
from typing import Any

from lab_cli.commands import arguments as shared
from lab_cli.paths import shown

from ..loop import current
from ..loop.copy import Copy


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "reset",
        prog="./lab reset",
        description="Makes a started exercise blank again, and keeps what you have written beside it.",
        allow_abbrev=False,
    )
    current.add_name(command)
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    copy = Copy(current.exercise(arguments.name))
    kept = copy.reset()
    print(f"{shown(copy.file)} is blank again; your version is kept in {shown(kept)}")
    return 0
