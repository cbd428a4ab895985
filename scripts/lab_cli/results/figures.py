"""The figures that exercises have: [figures.NAME] of their .toml files. Needs no matplotlib."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import catalogue
from ..catalogue import Exercise
from ..errors import LabError
from ..exercise_facts import FIGURE
from . import images, placed, store
from .csv_file import Row, parse, read_text
from .rows import count, number, with_parameters

WARPS, WARPS_FILE = "warps", "warps.csv"  # the chart of what the cpu back end counts


@dataclass(frozen=True)
class Spec:
    exercise: str
    name: str
    entry: dict[str, Any]  # as the .toml has it
    results: Path  # the exercise's folder of results

    @property
    def options(self) -> dict[str, Any]:
        """What is the chart's own."""
        return {key: value for key, value in self.entry.items() if key not in FIGURE}

    @property
    def is_image(self) -> bool:
        return self.entry.get("chart") == "image"

    @property
    def is_counted(self) -> bool:
        """It shows what the cpu back end counts: the same for all GPUs, in none of their folders."""
        return self.entry.get("chart") == WARPS

    def source(self, folder: Path) -> Path:
        """The file that has the rows, or is the image."""
        if self.is_counted:
            return self.results / WARPS_FILE
        if "rows_of" in self.entry:
            folder = placed.beside(folder, self.entry["rows_of"])
        suffix = images.suffix(self.entry.get("colour", False)) if self.is_image else ".csv"
        return store.file(folder, self.entry.get("source", ""), suffix)

    def text(self, folder: Path) -> str:
        """That of the file, with the rows of `also` and `placed` behind its own, in the file's columns."""
        source = self.source(folder)
        if self.is_image:
            return images.read(source).decode("latin-1")  # a character for each byte
        text = read_text(source)
        more = []
        for exercise in self.entry.get("also", []):
            if exercise not in catalogue.sources():
                continue
            path = store.file(placed.beside(folder, exercise))
            more += parse(read_text(path), path).rows
        more += placed.rows(folder, self.entry.get("placed", []))
        if not more:
            return text
        rows = io.StringIO()
        columns = parse(text, source).columns
        writer = csv.DictWriter(rows, columns, extrasaction="ignore", lineterminator="\n")
        writer.writerows(more)
        return text + rows.getvalue()

    def file(self, folder: Path) -> Path:
        return (self.results if self.is_counted else folder) / f"{self.name}.svg"

    def identifier(self, text: str) -> str:
        """Of this figure drawn from the results file `text`: a stale one has another."""
        data = json.dumps([self.entry, text]).encode()
        return "sha256:" + hashlib.sha256(data).hexdigest()

    def select(self, rows: list[Row]) -> list[Row]:
        """The rows that the figure shows. LabError if there is none, or a column is missing."""
        rows = [with_parameters(row) for row in rows]
        for column, value in self.entry.get("where", {}).items():
            require(rows, [column])
            wanted = [str(item) for item in (value if isinstance(value, list) else [value])]
            rows = [row for row in rows if row[column] in wanted]
            if not rows:
                raise LabError(f"no row with {column}={' or '.join(wanted)}")
        column = self.entry.get("largest")
        if column:
            require(rows, [column])
            most = max(number(row, column) for row in rows)
            rows = [row for row in rows if number(row, column) == most]
        return rows

    def title(self, row: Row, gpu: str) -> str:
        values = {column: count(value) for column, value in row.items()}
        try:
            text = str(self.entry["title"]).format(**values)
        except KeyError as error:
            raise LabError(f"no column {error.args[0]}, which the title names") from error
        except (IndexError, ValueError) as error:
            raise LabError(f"title: {error}") from error
        return f"{self.exercise}: {text}, {gpu.removeprefix('none, ')}"


def require(rows: list[Row], columns: list[str]) -> None:
    """LabError if a row lacks one of `columns`."""
    for column in columns:
        if any(column not in row for row in rows):
            raise LabError(f"no column {column}; there are {', '.join(rows[0])}")


def of(exercises: Sequence[Exercise]) -> list[Spec]:
    """All figures of these exercises, except those with rows of an exercise that somebody has removed."""
    return [
        Spec(exercise.name, name, entry, exercise.results)
        for exercise in exercises
        for name, entry in exercise.facts.figures.items()
        if entry.get("rows_of", exercise.name) in catalogue.sources()
    ]
