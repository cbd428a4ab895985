"""What `./lab profile NAME --explain --output FILE` kept of real runs under Nsight Compute on an H200.

`own` is a program of one's own: a copy with a stride of 33 floats, one of 1024 floats without, and the
steps of Collatz's sequences, a number to a thread.
"""

from __future__ import annotations

import csv
from pathlib import Path

from lab_cli import metrics
from lab_cli.counters import diagnosis
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


def launches(name: str) -> list[tuple[str, diagnosis.Values]]:
    """The kernels, and what has a value."""
    kept = table(name)
    names = [metric.name for metric in kept.metrics]
    return [
        (row.kernel, {n: v for n, v in zip(names, row.values) if isinstance(v, float)})
        for row in kept.rows
    ]


def values(name: str, kernel: str) -> dict[str, float]:
    """Of the kernel's first launch."""
    return dict(next(values for found, values in launches(name) if found == kernel))


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
