"""Writes the drawn concepts of the pages: for each drawing.py of a chapter or an exercise the file drawing.svg
beside it. An exercise may have more of them, drawingOf....py.

    python3 scripts/draw.py

A drawing.py has a function draw(), which returns a Drawing.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from lab_cli import catalogue, files
from lab_cli.errors import LabError


def sources() -> list[Path]:
    of_exercises = (source.parent for source in catalogue.sources().values())
    folders = [*catalogue.chapters(), *of_exercises]
    return sorted(path for folder in folders for path in folder.glob("drawing*.py"))


def drawn(source: Path) -> str:
    """What the SVG file must hold."""
    svg: str = runpy.run_path(str(source))["draw"]().svg()
    return svg


if __name__ == "__main__":
    try:
        for path in sources():
            files.write(path.with_suffix(".svg"), drawn(path))
    except LabError as error:
        sys.exit(f"draw.py: {error}")
