"""Where the page and the results of an exercise are."""

from __future__ import annotations

import functools
from pathlib import Path

from lab_cli import catalogue
from lab_cli.errors import LabError
from lab_cli.paths import shown
from lab_cli.results import store


def results_file(exercise: str, kind: str = store.MAIN) -> Path:
    """What was measured of an exercise; `kind` is such as "metrics"."""
    return store.file(catalogue.results_of(catalogue.sources()[exercise]) / "h200", kind)


@functools.cache
def _sources() -> dict[Path, Path]:
    return {catalogue.page_of(source): source for source in catalogue.sources().values()}


def source_of(page: Path) -> Path:
    """NAME.cu of the exercise that the page is about. LabError where it is about none."""
    if page not in _sources():
        raise LabError(f"{shown(page)} is not the page of an exercise")
    return _sources()[page]
