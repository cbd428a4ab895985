"""Kernels of exercises on a roofline: how fast they were measured to be, and how many operations they do for
each byte that a profiler counted, of device memory or of another one."""

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
from .rows import number, positive, with_parameters

# Bytes, of columns of metrics.csv. Those of device memory are counted in 10^6 bytes.
MOVED = "1e6 * (dram_read_bytes + dram_write_bytes)"


def beside(folder: Path, exercise: str) -> Path:
    """Where that exercise has the results of the same GPU as `folder`."""
    return catalogue.results_of(catalogue.sources()[exercise]) / folder.name


def rows(folder: Path, entries: Sequence[dict[str, Any]]) -> list[Row]:
    """A row with exercise, kernel, intensity and gflops for each of `entries`, [figures.FIGURE] placed, that
    has results with the metrics of `moved` of the same GPU as `folder`. LabError where such results lack
    the kernel, or where another size was profiled."""
    found = []
    for entry in entries:
        if entry["exercise"] not in catalogue.sources():
            continue
        other = beside(folder, entry["exercise"])
        times, counts = store.file(other), store.file(other, store.METRICS)
        if not (times.exists() and counts.exists()):
            continue
        launches = csv_file.parse(csv_file.read_text(counts), counts).rows
        if not all(name in launches[0] for name in moved_by(entry).names):
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


def moved_by(entry: dict[str, Any]) -> Formula:
    try:
        return Formula(entry.get("moved", MOVED))
    except ValueError as error:
        raise LabError(f"{entry['kernel']}, moved: {error}") from error


def _placed(entry: dict[str, Any], row: Row, launch: Row) -> Row:
    seconds = 1e-3 * positive(row, "median_ms")
    if "operations" in entry:
        try:
            operations = Formula(entry["operations"]).value(names_of(row))
        except ValueError as error:
            raise LabError(f"{entry['kernel']}, operations: {error}") from error
    else:
        operations = 1e9 * positive(row, "gflops") * seconds
    formula = moved_by(entry)
    moved = formula.value({name: number(launch, name) for name in formula.names})
    if moved <= 0:
        raise LabError(f"{entry['kernel']}: no bytes were counted")
    return {
        "exercise": entry["exercise"],
        "kernel": entry.get("label", entry["kernel"]),
        "intensity": f"{operations / moved:.9g}",
        "gflops": f"{operations / seconds / 1e9:.9g}",
    }
