"""./lab cc: a CUDA program of one's own on the cpu back end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from .. import signals
from ..building import own_program, presets
from ..machine import setup
from ..process import say, shown

NEEDS_NOTHING = {"-h", "-help", "--help", "-V", "-version", "--version"}
DEBUGS = {"-G", "-device-debug", "--device-debug", "-O0"}
SHOWS = {"-v", "-verbose", "--verbose", "-dryrun", "--dryrun"}


def add_parser(commands: Any) -> None:
    """For the list of commands alone: all arguments, --help too, are those of the driver."""
    commands.add_parser("cc", add_help=False)


def run(options: Sequence[str]) -> int:
    """Hands over to the emulator's driver, which links with the emulator's library and, for programs
    that include lab.cuh, with that of common/. As of a compiler, one sees nothing of it unless one asks."""
    driver = [sys.executable, str(own_program.DRIVER)]
    if options and not NEEDS_NOTHING & set(options):
        folder = presets.build(setup.ensure("cpu"), "cpu", *own_program.targets(_kind(options)))
        driver += own_program.emulator_library(folder)
        driver += own_program.common_library(folder)
    if SHOWS & set(options):
        say("+ " + shown([presets.shortest(sys.executable), *driver[1:], *options]))
    _become([*driver, *options])
    return 1


def _kind(options: Sequence[str]) -> str:
    """Of the program, by what the driver precompiles its headers for. Where options say it in other
    words than these, that takes the headers themselves, which is slower."""
    if "--instrument" in options:
        return own_program.INSTRUMENTED
    return own_program.DEBUG if DEBUGS & set(options) else own_program.OPTIMISED


def _become(command: Sequence[str]) -> None:
    """Runs the command in place of this program."""
    signals.hold()
    os.execv(command[0], command)
