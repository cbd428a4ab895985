"""The rules of scripts/diagnosis.toml as a table of a page, with links to the exercises.

    <!-- table scripts/diagnosis.toml | symptom, metrics, remedy, exercises | rule stall -->

The last part says which rows: of limits, of stalls, of rules; without it all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .. import catalogue
from ..counters import diagnosis
from ..errors import LabError

COLUMNS = ("symptom", "metrics", "remedy", "exercises")
Row = dict[str, str]


def render(names: Sequence[str], kinds: Sequence[str], folder: Path) -> str:
    """The columns `names` of the rows of these `kinds`; links are as from `folder`."""
    rows = _rows(folder)
    for asked, known in ((names, COLUMNS), (kinds, rows)):
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise LabError(f"diagnosis.toml: no {', '.join(unknown)}; it has {', '.join(known)}")
    lines = [list(names), ["---"] * len(names)]
    for kind in kinds or rows:
        lines += [[row[name] for name in names] for row in rows[kind]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rows(folder: Path) -> dict[str, list[Row]]:
    """By kind, in the order of the file."""
    file = diagnosis.load()

    def row(symptom: str, metrics: Sequence[str], remedy: str, exercises: Sequence[str]) -> Row:
        links = ", ".join(_link(exercise, folder) for exercise in exercises)
        return dict(zip(COLUMNS, (symptom, _code(metrics), remedy, links)))

    return {
        "rule": [row(r.symptom, r.quoted, r.remedy, r.exercises) for r in file.rules],
        "limit": [
            row(f"busy: {limit.part}", [limit.metric], limit.remedy, limit.exercises)
            for limit in file.limits
        ],
        "stall": [
            row(f"warps wait for {stall.symptom}", [stall.metric], stall.remedy, stall.exercises)
            for stall in file.stalls
        ],
    }


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _link(exercise: str, folder: Path) -> str:
    """A link to the exercise's page; the name alone where the exercise has been removed."""
    source = catalogue.sources().get(exercise)
    if source is None:
        return exercise
    page = catalogue.page_of(source)
    return f"[{exercise}]({Path(os.path.relpath(page, folder)).as_posix()})"
