"""./lab plot: draws the figures of results/<gpu>/, and refreshes the tables of the pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from .. import catalogue
from ..building.presets import shortest
from ..catalogue import Exercise
from ..errors import LabError
from ..files import write
from ..machine import setup
from ..paths import ROOT, shown
from ..process import run as run_shown
from ..process import say
from ..results import figures, tables, warps
from ..results.figures import Spec
from . import arguments as shared


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "plot",
        prog="./lab plot",
        description="Draws the figures of exercises from their results/<gpu>/ as SVG, and writes the tables of "
        "the pages. ./lab bench measures what they show.",
        epilog="For slides that take no SVG: rsvg-convert -w 1600 FIGURE.svg -o FIGURE.png",
        allow_abbrev=False,
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="default: every exercise")
    command.add_argument(
        "--gpu",
        type=shared.name,
        metavar="FOLDER",
        help="one GPU's folder of results, e.g. h200; default: all but that of the emulation (cpu)",
    )
    command.add_argument(
        "--count",
        action="store_true",
        help="first counts anew what pictures of warps show (results/warps.csv), on the cpu back end",
    )
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    names, gpu = arguments.names, arguments.gpu or ""
    exercises = catalogue.exercises(names)
    specs = figures.of(exercises)
    if arguments.count:
        count(exercises)
    python = setup.python_for(["matplotlib"])
    if python != sys.executable:  # the same once more, in the Python that can draw
        options = [*names, *([f"--gpu={gpu}"] if gpu else [])]
        return run_shown([shortest(python), "-B", str(ROOT / "lab"), "plot", *options])
    status = draw_figures(specs, names, gpu)
    if status == 0:
        for page in tables.refresh():
            say(f"tables written: {shown(page)}")
    return status


def count(exercises: Sequence[Exercise]) -> None:
    for exercise in exercises:
        if warps.entries(exercise):
            path = exercise.results / figures.WARPS_FILE
            write(path, warps.record(exercise))
            say(f"counted: {shown(path)}")


def draw_figures(specs: Sequence[Spec], names: Sequence[str], gpu: str) -> int:
    """Draws what it can; 1 if a figure could not be drawn. LabError where there is nothing to draw.

    `names` are those of the exercises that were asked for: of others, results need not be there.
    """
    from ..results.plots import draw  # takes matplotlib

    without = sorted(set(names) - {spec.exercise for spec in specs})
    if without:
        raise LabError(f"{', '.join(without)}: no [figures] in exercise.toml", status=2)
    counted = [(spec, spec.results) for spec in specs if spec.is_counted]
    measured = [spec for spec in specs if not spec.is_counted]
    gpus = draw.gpus(measured, gpu) if measured or gpu else []
    of_gpus = [(spec, spec.results / name) for name in gpus for spec in measured]
    status = 0
    for spec, folder in [*counted, *of_gpus]:
        source = spec.source(folder)
        if not names and not source.exists():
            say(f"{shown(source)} is not there: figure {spec.name} is left out")
            continue
        try:
            say(f"drawn: {shown(draw.draw(spec, folder))}")
        except LabError as error:
            say(f"lab: {error}")
            status = 1
    return status
