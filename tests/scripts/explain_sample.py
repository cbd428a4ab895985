"""What `./lab profile NAME --explain --output FILE` kept of real runs under Nsight Compute on an H200.

`own` is a program of one's own: a copy with a stride of 33 floats, one of 1024 floats without, and the
steps of Collatz's sequences, a number to a thread.
"""

from __future__ import annotations

import csv
from pathlib import Path

from lab_cli import metrics
from lab_cli.counters.metric_table import LABELS, MetricTable, Row
from lab_cli.paths import ROOT

RECORDED = ROOT / "tests/scripts/counters/recorded"


def path(name: str) -> Path:
    return RECORDED / f"{name}.explain.csv"


def table(name: str) -> MetricTable:
    """As it was before it was written."""
    with path(name).open() as file:
        rows = list(csv.DictReader(file))
    asked = [metric for metric in rows[0] if metric not in LABELS]
    return MetricTable(
        metrics.load().find(asked),
        [
            Row(*(row[label] for label in LABELS), [_number(row[metric]) for metric in asked])
            for row in rows
        ],
        "recorded",
    )


def values(name: str, kernel: str) -> dict[str, float]:
    """The metrics that have a value in the kernel's first launch."""
    kept = table(name)
    row = next(row for row in kept.rows if row.kernel == kernel)
    return {m.name: v for m, v in zip(kept.metrics, row.values) if isinstance(v, float)}


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
