"""./lab plot: draws the figures of results/<gpu>/, and refreshes the tables of the pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from .. import catalogue
from ..building.presets import shortest
from ..errors import LabError
from ..machine import setup
from ..paths import ROOT, shown
from ..process import run as run_shown
from ..process import say
from ..results import figures, tables
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
    command.set_defaults(handler=run, takes=shared.NONE)


def run(arguments: argparse.Namespace) -> int:
    names, gpu = arguments.names, arguments.gpu or ""
    specs = figures.of(catalogue.exercises(names))
    python = setup.python_for(["matplotlib"])
    if python != sys.executable:  # the same once more, in the Python that can draw
        options = [*names, *([f"--gpu={gpu}"] if gpu else [])]
        return run_shown([shortest(python), "-B", str(ROOT / "lab"), "plot", *options])
    status = draw_figures(specs, names, gpu)
    if status == 0:
        for page in tables.refresh():
            say(f"tables written: {shown(page)}")
    return status


def draw_figures(specs: Sequence[Spec], names: Sequence[str], gpu: str) -> int:
    """Draws what it can; 1 if a figure could not be drawn. LabError where there is nothing to draw.

    `names` are those of the exercises that were asked for: of others, results need not be there.
    """
    from ..results.plots import draw  # takes matplotlib

    without = sorted(set(names) - {spec.exercise for spec in specs})
    if without:
        raise LabError(f"{', '.join(without)}: no [figures] in exercise.toml", status=2)
    status = 0
    for name in draw.gpus(specs, gpu):
        for spec in specs:
            folder = spec.results / name
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
