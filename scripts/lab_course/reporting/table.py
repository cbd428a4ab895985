"""The table of an exercise, out of what it prints with --csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab_cli.catalogue import Exercise
from lab_cli.exercise_facts import Column as Known
from lab_cli.results import csv_file, tables
from lab_cli.results.csv_file import Row as CsvRow
from lab_cli.results.reference import References, common, sizes
from lab_cli.verdicts import WRONG

from . import facts, reference
from .facts import Cell, Column, Reference, Table
from .reference import number
from .text import Cleaner, short

MOST_ROWS = 500
# An emulation has none, whatever its CSV says: as in the terminal's table (common/result_table.cpp).
RATES = ("gbps", "gflops", "percent_peak", "speedup")
# Stand above the table, or in the JSON alone.
NOT_SHOWN = ("exercise", "device", "parameters", "reps", "min_ms", "max_ms")
VARYING = "options"  # a column of the options that differ
WORDS = {"grid": Known(text=True), "block": Known(text=True), VARYING: Known(text=True)}


@dataclass(frozen=True)
class Printed:
    """The rows of an exercise, and whether an emulation has printed them."""

    exercise: Exercise
    rows: Sequence[CsvRow]
    emulated: bool


def read(exercise: Exercise, text: str, emulated: bool) -> Printed:
    """LabError where it is no CSV."""
    found = csv_file.parse(text, Path(f"{exercise.name} --csv"))
    return Printed(exercise, found.rows, emulated)


def wrong(printed: Printed) -> bool:
    return any(row.get("check") == WRONG for row in printed.rows)


def build(printed: Printed, references: References, clean: Cleaner) -> Table:
    rows = printed.rows
    of_rows = common([row.get("parameters", "") for row in rows])
    cells = [_with_varying(row, of_rows) for row in rows]
    if printed.emulated:
        cells = [{name: cell for name, cell in row.items() if name not in RATES} for row in cells]
    known = {**tables.with_shared(printed.exercise.facts.columns), **WORDS}
    columns = _columns(cells, known)
    measured = references.beside(rows, printed.exercise.facts)
    beside, of_all = _abbreviated(rows, [row and reference.of(row) for row in measured])

    def line(cell: str) -> str:
        return short(clean(cell))

    found = []
    for row, other in zip(cells[:MOST_ROWS], beside):
        values = {line(name): _value(line(cell)) for name, cell in row.items()}
        shown = {line(c.name): line(_shown(row, c.name, known)) for c in columns}
        found.append(facts.Row(values, shown, other))
    return Table(
        device=line(rows[0].get("device", "")),
        parameters=line(sizes(" ".join(of_rows))),
        columns=[Column(line(c.name), line(c.title), c.numeric) for c in columns],
        rows=found,
        rows_left_out=len(rows) - len(found),
        reference_gpu=references.gpu if any(beside) else "",
        reference_parameters=" ".join(of_all),
    )


def _abbreviated(
    rows: Sequence[CsvRow], beside: Sequence[Reference | None]
) -> tuple[list[Reference | None], list[str]]:
    """The references, each showing the options that not all of them have, and that the row beside it has
    not; and those that all have."""
    of_all = common([other.parameters for other in beside if other])
    found: list[Reference | None] = []
    for row, other in zip(rows, beside):
        if other:
            own = [*of_all, *sizes(row.get("parameters", "")).split()]
            left = [word for word in other.parameters.split() if word not in own]
            other = replace(other, shown=" ".join(left))
        found.append(other)
    return found, of_all


def _with_varying(row: CsvRow, of_rows: Sequence[str]) -> CsvRow:
    """With the row's own options behind its kernel, but for those that have a column."""
    words = [
        word
        for word in row.get("parameters", "").split()
        if word not in of_rows and word.partition("=")[0] not in row
    ]
    found: CsvRow = {}
    for name, cell in row.items():
        if name not in ("exercise", "device", "parameters"):
            found[name] = cell
            if name == "kernel":
                found[VARYING] = sizes(" ".join(words))
    return found


def _columns(rows: Sequence[CsvRow], known: Mapping[str, Known]) -> list[Column]:
    """Those that have something in them."""
    found = []
    for name in rows[0]:
        cells = [row[name] for row in rows if row[name]]
        if name in NOT_SHOWN or not cells:
            continue
        column = known.get(name, Known())
        numeric = not column.text and all(number(cell) is not None for cell in cells)
        found.append(Column(name, column.title or name.replace("_", " "), numeric))
    return found


def _shown(row: CsvRow, name: str, known: Mapping[str, Known]) -> str:
    return tables.cell(row[name], known.get(name, Known()))


def _value(text: str) -> Cell:
    value = number(text)
    return (text or None) if value is None else value
