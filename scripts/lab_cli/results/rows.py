"""What the charts take out of the rows of a results file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..errors import LabError
from .csv_file import Row

NO_SHAPE = "-"  # grid and block of what a library launches
PEAKS = {"gbps": ("peak bandwidth", "GB/s"), "gflops": ("peak FP32", "GFLOP/s")}
AXES = {
    "us_each": "time of a launch [us]",
    "gbps": "bandwidth [GB/s]",
    "gflops": "rate [GFLOP/s]",
    "median_ms": "time [ms]",
    "percent_peak": "% of peak",
    "speedup": "speed-up",
}


def with_parameters(row: Row) -> Row:
    """`row`, with the words of its column parameters ("size=1024 block=512") as columns too."""
    words = [word.partition("=") for word in row.get("parameters", "").split()]
    return {**{name: value for name, _, value in words}, **row}


def number(row: Row, column: str) -> float:
    try:
        value = float(row[column])
        if math.isfinite(value):
            return value
    except (KeyError, ValueError):
        pass
    where = row.get("kernel", "a row")
    raise LabError(f"{where} has no number in column {column}: '{row.get(column, '')}'")


def positive(row: Row, column: str) -> float:
    """A number that can be divided by, or shown on a logarithmic axis."""
    value = number(row, column)
    if value <= 0:
        where = row.get("kernel", "a row")
        raise LabError(f"{where} has no positive number in column {column}: '{row[column]}'")
    return value


def unique(rows: Sequence[Row], column: str) -> list[str]:
    """The values of a column, in the order of their first rows."""
    return list(dict.fromkeys(row[column] for row in rows))


def is_library(row: Row) -> bool:
    return row.get("grid") == NO_SHAPE


def peaks(
    rows: Sequence[Row], value: str, names: Mapping[str, str] | None = None
) -> list[tuple[float, str]]:
    """The limits of the hardware, in units of the column `value`, and their labels; none where it is
    not known. Each exercise has one, which `names` may call otherwise than the unit says."""
    found: dict[str, tuple[float, str]] = {}
    for row in rows:
        if value in PEAKS and row.get("percent_peak"):
            limit = 100 * number(row, value) / positive(row, "percent_peak")
            name, unit = PEAKS[value]
            name = (names or {}).get(row.get("exercise", ""), name)
            found.setdefault(name, (limit, f"{name} {limit:,.0f} {unit}"))
    return list(found.values())


def axis_label(value: str) -> str:
    return AXES.get(value, value.replace("_", " "))


def short(value: float) -> str:
    """At least three digits, and no decimals that say nothing: 0.0238, 13.9, 4,629."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def count(text: str) -> str:
    """A number of elements as one reads it: 1073741824 -> '1G', as --size takes it; 8192 -> '8,192'."""
    if not text.isdigit():
        return text
    whole = int(text)
    return in_binary(whole) if whole >= 1 << 20 and whole % (1 << 20) == 0 else f"{whole:,}"


def in_binary(whole: int) -> str:
    """65536 -> '64K', as --size takes it; what is no multiple of 1024 as it is."""
    for letter, size in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if whole >= size and whole % size == 0:
            return f"{whole // size:,}{letter}"
    return f"{whole:,}"


def ticks(sizes: Sequence[int]) -> list[str]:
    """The labels of an axis, all in one way: '512', '1K', '64K' where none has to be rounded."""
    if all(size < 1024 or size % 1024 == 0 for size in sizes):
        return [in_binary(size) for size in sizes]
    return [f"{size:,}" for size in sizes]


def time_unit(most_ms: float) -> tuple[float, str]:
    """The unit in which times up to `most_ms` read well, and how many of it a millisecond has."""
    return (1000, "us") if most_ms < 1 else (1, "ms")
