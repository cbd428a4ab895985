"""Reads what `ncu --csv --page raw` prints; the cpu back end's profiler writes the same form.

A line of column names, a line of units, then a line for each kernel launch. With ncu, its own lines
(==PROF== ...) and those of the program may stand before, between and after.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, field
from typing import Optional, Union

Value = Optional[Union[float, str]]  # None: not available. Text: what ncu has as text

# The header, perhaps behind something that the program printed without a line end.
_HEADER = re.compile(r'"ID",.*"Kernel Name",.*')


@dataclass(frozen=True)
class Launch:
    kernel: str  # without return type and parameters
    grid: str  # as in the exercises' tables: 8192, 64x64
    block: str
    device: str  # ordinal
    values: dict[str, Value]  # by Nsight name


@dataclass(frozen=True)
class RawTable:
    units: dict[str, str] = field(default_factory=dict)  # by Nsight name
    launches: list[Launch] = field(default_factory=list)


def number(text: str) -> Value:
    """'1,564,672' -> 1564672; 'n/a' -> None."""
    text = text.strip()
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None if text.lower() in ("", "n/a", "(!) n/a") else text
    return value if math.isfinite(value) else None


def shape(text: str) -> str:
    """'(64, 64, 1)' -> '64x64': dimensions of 1 at the end are left out, but for the first."""
    sizes = re.findall(r"\d+", text)
    while len(sizes) > 1 and sizes[-1] == "1":
        sizes.pop()
    return "x".join(sizes)


def short_name(kernel: str) -> str:
    """'void matmulTiled<(unsigned int)16>(const float *, ...)' -> 'matmulTiled<16>'"""
    name = kernel.strip()
    if name.endswith(")"):
        depth = 0
        for place in range(len(name) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(name[place], 0)
            if depth == 0:
                name = name[:place]
                break
    name = name[5:] if name.startswith("void ") else name
    arguments = name.find("<")
    if arguments > 0:  # casts of constants say nothing that the constant does not
        casts = re.sub(r"\([a-z][a-z ]*\)(?=-?[\w'])", "", name[arguments:])
        name = name[:arguments] + casts
    return name.strip()


def parse(text: str) -> RawTable:
    """The table in the output of ncu; an empty one where there is none."""
    columns: list[str] = []
    units: dict[str, str] = {}
    launches = []
    for line in text.splitlines():
        header = _HEADER.search(line)
        if header:
            columns = next(csv.reader([header.group()]))
            units = {}
            continue
        if not columns or not line.startswith('"'):
            continue
        cells = next(csv.reader([line]))
        row = dict(zip(columns, cells))
        if len(cells) != len(columns) or not {"ID", "Kernel Name"} <= set(row):
            continue
        metrics = {name: cell for name, cell in row.items() if "__" in name}
        if not row["ID"]:
            units = metrics
        elif isinstance(number(row["ID"]), float):
            launches.append(
                Launch(
                    short_name(row["Kernel Name"]),
                    shape(row.get("Grid Size", "")),
                    shape(row.get("Block Size", "")),
                    row.get("Device", ""),
                    {name: number(cell) for name, cell in metrics.items()},
                )
            )
    return RawTable(units, launches)
