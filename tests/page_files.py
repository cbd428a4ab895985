"""Where the page and the results of an exercise are."""

from __future__ import annotations

import functools
from pathlib import Path

from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_cli.paths import ROOT, shown


def page_of(source: Path) -> Path:
    """The page of an exercise with this NAME.cu."""
    return source.with_suffix(".md")


def results_file(exercise: str, kind: str = "") -> Path:
    """What was measured of an exercise; `kind` is such as "metrics"."""
    return ROOT / "results" / "h200" / (f"{exercise}.{kind}.csv" if kind else f"{exercise}.csv")


@functools.cache
def _sources() -> dict[Path, Path]:
    return {page_of(source): source for source in catalogue.sources().values()}


def source_of(page: Path) -> Path:
    """NAME.cu of the exercise that the page is about. LabError where it is about none."""
    if page not in _sources():
        raise LabError(f"{shown(page)} is not the page of an exercise")
    return _sources()[page]
