"""How the kernels that a student has added are described."""

from __future__ import annotations

import launches
from lab_cli import metrics
from lab_cli.counters.raw_csv import Launch
from lab_cli.results.csv_file import Row

METRICS = metrics.load().find(["gld_efficiency", "shared_ld_bank_conflict"])
NAMES = [metric.nsight for metric in METRICS]
SHIPPED = {"first", "tile8"}


def row(kernel: str, grid: str = "4", reps: str = "0") -> Row:
    times = dict.fromkeys(launches.TIMES, "")
    return {"kernel": kernel, "grid": grid, "block": "32", "reps": reps, **times}


def launch(
    kernel: str, grid: str = "4", efficiency: float = 50.0, conflicts: float = 192.0
) -> Launch:
    return Launch(kernel, grid, "32", "0", dict(zip(NAMES, (efficiency, conflicts))))


def described(rows: list[Row], launched: list[Launch]) -> list[str]:
    return [*launches.descriptions(rows, launched, SHIPPED, METRICS)]


def test_a_kernel_of_ones_own_is_compared_with_the_row_before() -> None:
    rows = [row("first"), row("host", "-"), row("mine"), row("again")]
    launched = [launch("first"), launch("mine", conflicts=0.0)] + [launch("again")]
    mine, again = described(rows, launched)
    assert "mine" in mine and "first" in mine
    assert "shared_ld_bank_conflict 0 (192 before)" in mine
    assert "gld_efficiency" not in mine  # is the same
    assert "against mine" in again and "192 (0 before)" in again


def test_a_kernel_of_ones_own_may_come_first_or_count_the_same() -> None:
    (first, second) = described([row("mine"), row("more")], [launch("mine"), launch("more")])
    assert "gld_efficiency 50" in first and "before" not in first
    assert "against mine" in second and "50" not in second


def test_what_is_shipped_is_not_described() -> None:
    assert described([row("first")], [launch("first")]) == []
    assert [*launches.descriptions([row("mine")], [launch("mine")], set(), METRICS)] == []
