"""Kernels of other exercises on a roofline: how fast they were measured to be, and how many operations they
do for each byte of device memory that a profiler counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import catalogue
from ..errors import LabError
from ..formula import Formula
from ..paths import shown
from . import csv_file, store
from .csv_file import Row
from .numbers import names_of
from .rows import positive, with_parameters

# In 10^6 bytes, in metrics.csv.
COUNTED = ("dram_read_bytes", "dram_write_bytes")


def beside(folder: Path, exercise: str) -> Path:
    """Where that exercise has the results of the same GPU as `folder`."""
    return catalogue.results_of(catalogue.sources()[exercise]) / folder.name


def rows(folder: Path, entries: Sequence[dict[str, Any]]) -> list[Row]:
    """A row with exercise, kernel, intensity and gflops for each of `entries`, [figures.FIGURE] placed, that
    has results with these metrics of the same GPU as `folder`. LabError where such results lack the
    kernel, or where another size was profiled."""
    found = []
    for entry in entries:
        if entry["exercise"] not in catalogue.sources():
            continue
        other = beside(folder, entry["exercise"])
        times, counts = store.file(other), store.file(other, store.METRICS)
        if not (times.exists() and counts.exists()):
            continue
        launches = csv_file.parse(csv_file.read_text(counts), counts).rows
        if not all(name in launches[0] for name in COUNTED):
            continue
        launch = _first(launches, {"kernel": entry["profiled"], "build": "optimised"}, counts)
        results = csv_file.parse(csv_file.read_text(times), times).rows
        wanted = {"kernel": entry["kernel"], **entry.get("where", {})}
        row = _first([with_parameters(each) for each in results], wanted, times)
        if row["grid"] != launch["grid"]:
            raise LabError(
                f"{entry['kernel']}: a grid of {row['grid']} in {shown(times)}, but of {launch['grid']} "
                f"in {shown(counts)}"
            )
        found.append(_placed(entry, row, launch))
    return found


def _first(rows: Sequence[Row], wanted: dict[str, Any], path: Path) -> Row:
    for row in rows:
        if all(row.get(column) == str(value) for column, value in wanted.items()):
            return row
    words = " ".join(f"{column}={value}" for column, value in wanted.items())
    raise LabError(f"{shown(path)}: no row with {words}")


def _placed(entry: dict[str, Any], row: Row, launch: Row) -> Row:
    seconds = 1e-3 * positive(row, "median_ms")
    if "operations" in entry:
        try:
            operations = Formula(entry["operations"]).value(names_of(row))
        except ValueError as error:
            raise LabError(f"{entry['kernel']}, operations: {error}") from error
    else:
        operations = 1e9 * positive(row, "gflops") * seconds
    moved = 1e6 * sum(float(launch[name]) for name in COUNTED)
    if moved <= 0:
        raise LabError(f"{entry['kernel']}: no bytes of device memory were counted")
    return {
        "exercise": entry["exercise"],
        "kernel": entry["kernel"],
        "intensity": f"{operations / moved:.9g}",
        "gflops": f"{operations / seconds / 1e9:.9g}",
    }
