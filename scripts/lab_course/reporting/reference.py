"""What a report shows of a row that was measured on the GPU of the pages."""

from __future__ import annotations

import math

from lab_cli.results.csv_file import Row
from lab_cli.results.reference import sizes

from .facts import Reference

UNITS = {"gbps": "GB/s", "gflops": "GFLOP/s"}


def of(row: Row) -> Reference:
    unit = next((unit for name, unit in UNITS.items() if row.get(name)), "")
    rate = next((number(row[name]) for name in UNITS if row.get(name)), None)
    median, percent = (number(row.get(name, "")) for name in ("median_ms", "percent_peak"))
    return Reference(sizes(row.get("parameters", "")), "", median, rate, unit, percent)


def number(text: str) -> float | None:
    """None where it is none, or not finite: JSON has no such numbers."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
