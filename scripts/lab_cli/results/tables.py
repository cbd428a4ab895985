"""Writes what is generated in the pages: measured tables, code of the sources (listings.py), and the lists of exercises.

A table stands between two comments; the first says where its rows come from:

    <!-- table results/h200/table.csv | kernel, median_ms, gbps | size=16777216 -->
    ...
    <!-- end of table -->

The parts are the file as seen from the page, the columns, and (optional) the rows: those whose column `parameters` has
each of these words, or which have one of the values in the column that it names, as in
kernel=NAME,NAME. Of two files with a comma
between them a row of the one stands beside a row of the other, such as times beside the counters of
the same launch. `# name: value` lines at the top of a CSV file say where it was measured. In place of
a CSV file, scripts/diagnosis.toml: diagnosis_table says what then stands in the parts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import catalogue, metrics
from ..counters import diagnosis
from ..errors import LabError
from ..exercise_facts import Column
from ..files import write
from ..paths import ROOT, shown
from ..process import output_of
from . import diagnosis_table, exercise_list, listings
from .csv_file import Row, parse, read_text

BLOCK = re.compile(
    r"(<!-- table ([^|\n]+)\|([^|\n]+)(?:\|([^|\n]+))? -->\n).*?(<!-- end of table -->)", re.DOTALL
)
BUILT = {"build", "out", ".venv"}  # folders with nothing of the project's own
# The columns that do not belong to one exercise. Four significant digits are more than a measurement
# repeats.
SHARED = {
    "kernel": Column(text=True),
    "median_ms": Column("time [ms]", "#.4g"),
    "gbps": Column("GB/s", ",.0f"),
    "gflops": Column("GFLOP/s", ",.0f"),
    "percent_peak": Column("% of peak", ".1f"),
    "speedup": Column("speed-up", ".2f"),
    "check": Column(text=True),
    "build": Column(text=True),
    "exercise": Column(text=True),
    "benchmark": Column(text=True),
    "elements": Column(format=",.0f"),
}


def columns_of(path: Path) -> dict[str, Column]:
    """What is known of the columns of a results file: EXERCISE/results/GPU/FILE, or of no exercise."""
    exercise = catalogue.of_folder(path.absolute().parents[2])
    return with_shared(exercise.facts.columns if exercise else {})


def with_shared(own: Mapping[str, Column]) -> dict[str, Column]:
    """An exercise's own columns, and those that do not belong to one."""
    counted = {
        metric.name: Column(metric.title, metric.format)
        for metric in metrics.load().metrics.values()
    }
    return {**counted, **SHARED, **own}


def cell(value: str, column: Column) -> str:
    """`value` as a table shows it."""
    if column.text:
        return value
    try:
        return format(float(value), column.format) if column.format else value
    except ValueError:  # empty, or "12.5 (ncu: 25.0)"
        return value


def side_by_side(rows: list[Row], beside: Path) -> list[Row]:
    """Each row with the further columns of its launch in the results file `beside`."""
    others = parse(read_text(beside), beside).rows
    shapes = [[(row.get("grid"), row.get("block")) for row in part] for part in (rows, others)]
    if shapes[0] != shapes[1]:
        raise LabError(f"{shown(beside)}: other launches than in the file to its left")
    return [{**other, **row} for row, other in zip(rows, others)]


@dataclass(frozen=True)
class Selection:
    """Columns and rows of a results file, as tables show them."""

    titles: list[str]
    is_text: list[bool]
    rows: list[list[str]]


def render(
    path: Path,
    names: list[str],
    words: list[str],
    known: Mapping[str, Column],
    beside: Sequence[Path] = (),
) -> str:
    """select() as Markdown."""
    table = select(path, names, words, known, beside)
    marks = ["---" if text else "---:" for text in table.is_text]
    lines = [table.titles, marks, *table.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def select(
    path: Path,
    names: list[str],
    words: list[str],
    known: Mapping[str, Column],
    beside: Sequence[Path] = (),
) -> Selection:
    """Of the results file `path` the columns `names`, in the rows that `words` choose; also columns of
    the files `beside` it."""
    table = parse(read_text(path), path)
    rows = [row for row in table.rows if all(is_of(row, word) for word in words)]
    if not rows:
        raise LabError(f"{shown(path)}: no row with {' '.join(words)}")
    for other in beside:
        rows = side_by_side(rows, other)
    missing = [name for name in names if name not in rows[0]]
    if missing:
        has = ", ".join(rows[0])
        raise LabError(f"{shown(path)}: no column {', '.join(missing)}; it has {has}")
    columns = {name: known.get(name, Column()) for name in names}
    return Selection(
        [column.title or name.replace("_", " ") for name, column in columns.items()],
        [column.text for column in columns.values()],
        [[cell(row[name], column) for name, column in columns.items()] for row in rows],
    )


def is_of(row: Row, word: str) -> bool:
    if word in row.get("parameters", "").split():
        return True
    name, _, values = word.partition("=")
    return row.get(name) in values.split(",")


def parts_of(marker: re.Match[str], folder: Path) -> tuple[list[Path], list[str], list[str]]:
    """The files, columns and words that a match of BLOCK names, on a page in `folder`."""
    paths = [Path(os.path.normpath(folder / name.strip())) for name in marker[2].split(",")]
    return paths, [name.strip() for name in marker[3].split(",")], (marker[4] or "").split()


def with_tables(text: str, folder: Path = ROOT) -> str:
    """The text of a page in `folder`, its tables as the results are now."""

    def replace(match: re.Match[str]) -> str:
        (path, *beside), names, words = parts_of(match, folder)
        if path == diagnosis.FILE:
            table = diagnosis_table.render(names, words, folder)
        else:
            table = render(path, names, words, columns_of(path), beside)
        return match[1] + "\n" + table + "\n" + match[5]

    text = listings.with_listings(BLOCK.sub(replace, text), folder)
    return exercise_list.with_lists(text, folder)


def pages() -> list[Path]:
    """The .md files of the project: what git knows or would add; in a copy that is not git's, all."""
    asked = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = [ROOT / name for name in output_of([*asked, "*.md"]).split("\0") if name]
    if not listed:
        listed = [
            path for path in ROOT.rglob("*.md") if path.relative_to(ROOT).parts[0] not in BUILT
        ]
    return sorted(path for path in listed if path.is_file())


def refresh() -> list[Path]:
    """Writes the tables of all pages; returns the pages that changed."""
    changed = []
    for page in pages():
        old = read_text(page)
        try:
            new = with_tables(old, page.parent)
        except LabError as error:
            raise LabError(f"{shown(page)}: {error}") from error
        if new != old:
            write(page, new)
            changed.append(page)
    return changed
