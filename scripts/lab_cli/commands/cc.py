"""./lab cc: a CUDA program of one's own on the cpu back end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..building import own_program, presets
from ..machine import setup
from ..paths import ROOT
from ..process import run as run_shown


def add_parser(commands: Any) -> None:
    """For the list of commands alone: all arguments, --help too, are those of the driver."""
    commands.add_parser("cc", add_help=False)


def run(options: Sequence[str]) -> int:
    """Hands over to the emulator's driver, which links with the emulator's library and, for programs
    that include lab.cuh, with that of common/."""
    driver = [presets.shortest(sys.executable), str(ROOT / "emulator" / "cc.py")]
    if options and not {"-h", "--help"} & set(options):
        target = "cuda_emulator_instrument" if "--instrument" in options else "cuda_emulator"
        targets = [target, "cuda_emulator_precompiled", "lab_common"]
        folder = presets.build(setup.ensure("cpu"), "cpu", *targets)
        driver += own_program.emulator_library(folder)
        driver += own_program.common_library(folder)
    return run_shown([*driver, *options])
