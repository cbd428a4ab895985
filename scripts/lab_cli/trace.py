"""./lab trace: a recording of an exercise by Nsight Systems, and its summaries."""

from __future__ import annotations

import argparse
from typing import Any

from . import build, catalogue, nsys, profilers, setup
from .paths import BUILD, ROOT
from .process import say

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
    command.set_defaults(handler=run)


def run(arguments: argparse.Namespace, options: list[str]) -> int:
    exercise = catalogue.pick([arguments.name], catalogue.exercises())[0]
    choice, _ = profilers.require_gpu(
        f"\n\n    ./lab profile {exercise.name} --backend cpu\n\ncounts without a GPU."
    )
    program = nsys.find(choice.nvcc)
    cmake = setup.ensure("gpu")
    folder = build.build(cmake, "gpu", exercise.name)
    command = [str(folder / exercise.chapter / exercise.name), *options]
    if not any(option.split("=")[0] == "--reps" for option in options):
        command.append(REPS)
    report = BUILD / "trace" / (exercise.name + nsys.SUFFIX)
    nsys.record(program, report, command)
    parts = [nsys.summarise(program, report, summary) for summary in nsys.SUMMARIES]
    print("\n".join(parts), end="", flush=True)
    say(f"the timeline is in {report.relative_to(ROOT)}: open it with nsys-ui")
    return 0
