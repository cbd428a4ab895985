"""./lab trace: a recording of an exercise by Nsight Systems, and its summaries."""

from __future__ import annotations

import argparse
from typing import Any

from .. import catalogue
from ..building import presets
from ..counters import nsys, profilers
from ..machine import setup
from ..paths import OUT, shown
from ..process import say
from . import arguments as shared

REPS = "--reps=5"  # unless the options say otherwise: a recording needs no statistics


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "trace",
        prog="./lab trace",
        description="Records an exercise with Nsight Systems and summarises its kernels, copies "
        "and rungs. Needs a GPU. Options of the exercise follow after --.",
        allow_abbrev=False,
    )
    command.add_argument("name", metavar="NAME", help="an exercise")
    command.set_defaults(handler=run, takes=shared.AFTER_DASHES)


def run(arguments: argparse.Namespace) -> int:
    setup.toml_reader()
    exercise = catalogue.one(arguments.name)
    choice, _ = profilers.require_gpu(
        f"\n\n    ./lab profile {exercise.name} --backend cpu\n\ncounts without a GPU."
    )
    program = nsys.find(choice.nvcc)
    cmake = setup.ensure("gpu")
    folder = presets.build(cmake, "gpu", exercise.name)
    command = [str(exercise.program(folder)), *arguments.options]
    if not any(option.split("=")[0] == "--reps" for option in arguments.options):
        command.append(REPS)
    report = OUT / "trace" / (exercise.name + nsys.SUFFIX)
    nsys.record(program, report, command)
    parts = [nsys.summarise(program, report, summary) for summary in nsys.SUMMARIES]
    parts.append(nsys.page_moves(program, report))
    print("\n".join(filter(None, parts)), end="", flush=True)
    say(f"the timeline is in {shown(report)}: open it with nsys-ui")
    return 0
