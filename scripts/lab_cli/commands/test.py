"""./lab test: builds everything and runs ctest."""

from __future__ import annotations

import argparse
from typing import Any

from .. import toml_file
from ..building import presets
from ..machine import backend, setup
from ..paths import ROOT
from ..process import run as run_shown
from ..process import say
from . import arguments as shared


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "test",
        prog="./lab test",
        description="Builds everything and runs ctest. All other options are ctest's.",
        parents=[shared.backend()],
        allow_abbrev=False,
    )
    command.set_defaults(handler=run, takes=shared.ALL)


def run(arguments: argparse.Namespace) -> int:
    chosen_backend = backend.pick(arguments.backend)
    modules = []
    if chosen_backend == "cpu":
        modules = ["pytest", "matplotlib", *toml_file.packages()]
    else:
        say("note: the unit tests of common/ and emulator/ belong to the cpu back end")
    cmake = setup.ensure(chosen_backend, modules)
    presets.build(cmake, chosen_backend)
    ctest = presets.ctest_beside(cmake)
    return run_shown([ctest, "--preset", chosen_backend, *arguments.options], cwd=ROOT)
