"""Compares the rows that an exercise printed with what it launched, as the cpu profiler noted it, and describes
the kernels that a student has added by what the profiler counted."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli.counters.raw_csv import Launch  # noqa: E402
from lab_cli.metrics import Metric  # noqa: E402
from lab_cli.results.csv_file import Row  # noqa: E402

TIMES = ("median_ms", "min_ms", "max_ms")


def is_called(row: str, kernel: str) -> bool:
    """False where the row says reduce4, and the kernel is reduce<64, 8>."""
    name, _, arguments = kernel.rstrip(">").partition("<")
    number = row[len(name) :]
    if not arguments or not row.startswith(name) or not number.isdigit():
        return True
    return number == arguments.rpartition(",")[2].strip()


def matched(
    rows: Sequence[Row], launches: Sequence[Launch]
) -> Iterator[tuple[Row, Launch | None, Sequence[Launch]]]:
    """Each row with a grid, the next launch of its grid and block, and all launches behind that of the row
    before. Ends with a row that has no such launch."""
    left = launches
    for row in rows:
        if row.get("grid", "-") == "-":
            continue
        shape = (row["grid"], row["block"])
        place = next((i for i, one in enumerate(left) if (one.grid, one.block) == shape), None)
        yield row, None if place is None else left[place], left
        if place is None:
            return
        left = left[place + 1 :]


def problem(rows: Sequence[Row], launches: Sequence[Launch]) -> str:
    """Says what is wrong with the rows of a run with --profile, or returns an empty text.

    Each row with a grid must be a launch with that grid and block, in the same order, and have no time, since
    nothing was timed."""
    pairs = [*matched(rows, launches)]
    for row, launch, left in pairs:
        if not launch:
            found = ", ".join(f"{one.grid} blocks of {one.block}" for one in left)
            return f"{row['kernel']}: {row['grid']} blocks of {row['block']}, but launched were {found}"
        if row["reps"] != "0" or any(row[time] for time in TIMES):
            return f"{row['kernel']}: has a time with --profile"
    return "" if pairs else "no row has a grid"


def name_problem(rows: Sequence[Row], launches: Sequence[Launch]) -> str:
    """Where the name of a row is that of its kernel and a number, this number must be the kernel's last template
    argument."""
    for row, launch, _ in matched(rows, launches):
        if launch and not is_called(row["kernel"], launch.kernel):
            return f"{row['kernel']}: launched was {launch.kernel}"
    return ""


def descriptions(
    rows: Sequence[Row],
    launches: Sequence[Launch],
    shipped: Collection[str],
    metrics: Sequence[Metric],
) -> Iterator[str]:
    """Of each row that is not one of the `shipped` kernels, how its counts compare with those of the row
    before it. Nothing where it is not known what was shipped."""
    before: tuple[str, Launch] | None = None
    for row, launch, _ in matched(rows, launches):
        if not launch:
            return
        if shipped and row["kernel"] not in shipped:
            yield f"yours, {row['kernel']}, {_compared(launch, before, metrics)}"
        before = row["kernel"], launch


def _compared(launch: Launch, before: tuple[str, Launch] | None, metrics: Sequence[Metric]) -> str:
    name, other = before or ("", None)
    differences = []
    for metric in metrics:
        now = launch.values.get(metric.nsight)
        then = other.values.get(metric.nsight) if other else None
        if isinstance(now, float) and now != then:
            was = f" ({_number(then)} before)" if isinstance(then, float) else ""
            differences.append(f"{metric.name} {_number(now)}{was}")
    against = f"against {name}" if name else "the first row"
    return f"{against}: {', '.join(differences) or 'the same counts'}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"
