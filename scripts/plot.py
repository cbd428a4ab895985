"""Draws the figures of scripts/plots.toml from results/<gpu>/*.csv: what ./lab plot runs.

python3 scripts/plot.py [NAME...] [--gpu SLUG]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from lab_cli.process import say
from lab_cli.results import shown
from plots import config, draw

RESULTS = ROOT / "results"


def plot(names: list[str], gpu: str, results: Path = RESULTS) -> int:
    """Draws what it can; 1 if a figure could not be drawn. LabError where there is nothing to draw."""
    specs = config.load()
    wanted = [spec for spec in specs if not names or spec.exercise in names]
    without = sorted(set(names) - {spec.exercise for spec in wanted})
    if without:
        raise LabError(f"{', '.join(without)}: no figure in scripts/plots.toml", status=2)
    status = 0
    for folder in draw.folders(results, gpu, specs):
        for spec in wanted:
            source = spec.source(folder)
            if not names and not source.exists():
                say(f"{shown(source)} is not there: figure {spec.name} is left out")
                continue
            try:
                for path in draw.draw(spec, folder):
                    say(f"drawn: {shown(path)}")
            except LabError as error:
                say(f"lab: {error}")
                status = 1
    return status


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--gpu", default="")
    arguments = parser.parse_args(argv)
    try:
        return plot(arguments.names, arguments.gpu)
    except LabError as error:
        say(f"lab: {error}")
        return error.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
