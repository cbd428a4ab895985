"""Compares the rows that an exercise printed with what it launched, as the cpu profiler noted it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli.counters.raw_csv import Launch  # noqa: E402

TIMES = ("median_ms", "min_ms", "max_ms")


def is_called(row: str, kernel: str) -> bool:
    """False where the row says reduce4, and the kernel is reduce<64, 8>."""
    name, _, arguments = kernel.rstrip(">").partition("<")
    number = row[len(name) :]
    if not arguments or not row.startswith(name) or not number.isdigit():
        return True
    return number == arguments.rpartition(",")[2].strip()


def problem(rows: Sequence[dict[str, str]], launches: Sequence[Launch]) -> str:
    """Says what is wrong with the rows of a run with --profile, or returns an empty text.

    Each row with a grid must be a launch with that grid and block, in the same order, and have no time, since
    nothing was timed. Where the name of a row is that of the kernel and a number, this number must be the
    kernel's last template argument."""
    launched = [row for row in rows if row.get("grid", "-") != "-"]
    if not launched:
        return "no row has a grid"
    shapes = [(launch.grid, launch.block) for launch in launches]
    place = 0
    for row in launched:
        shape = (row["grid"], row["block"])
        if shape not in shapes[place:]:
            found = ", ".join(f"{grid} blocks of {block}" for grid, block in shapes[place:])
            return f"{row['kernel']}: {shape[0]} blocks of {shape[1]}, but launched were {found}"
        place = shapes.index(shape, place) + 1
        if not is_called(row["kernel"], launches[place - 1].kernel):
            return f"{row['kernel']}: launched was {launches[place - 1].kernel}"
        if row["reps"] != "0" or any(row[time] for time in TIMES):
            return f"{row['kernel']}: has a time with --profile"
    return ""
