"""Which launches belong to each row of an exercise: one run on the cpu back end prints the rows, counts the
launches, and records the NVTX range that each of them ran in, which has the name of its row."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from ..building import instrumented
from ..catalogue import Exercise
from ..time_limit import TimeLimit
from ..verdicts import only_wrong
from . import nsys, raw_csv, recording
from .collect import VARIABLE
from .raw_csv import Launch, RawTable, Value

TRACE = "CUDA_EMULATOR_TRACE"  # names the file that a program writes its recording to
RATIOS = (".ratio", ".pct")


@dataclass(frozen=True)
class Rungs:
    """The rows that have launches, and of each the counts of all its launches together."""

    rows: list[dict[str, str]]
    counts: RawTable


def count(exercise: Exercise, options: Sequence[str], timeout: float | None) -> Rungs | None:
    """Builds and runs the program that counts, each kernel once. None where it fails, which the exercise
    itself has said; LabError where the program cannot be built."""
    program = [*instrumented.built(exercise, []), *options, "--csv"]
    with TimeLimit(timeout):
        outcome = instrumented.run(program, VARIABLE, TRACE)
    if outcome.status != 0 and not only_wrong(outcome.status, outcome.output):
        return None
    rows = rows_of(exercise.name, outcome.output)
    return matched(rows, raw_csv.parse(outcome.report), *outcome.others)


def rows_of(exercise: str, output: str) -> list[dict[str, str]]:
    """The rows in what the program of an exercise printed with --csv: notes for the reader stand among them."""
    heads = ("exercise,", f"{exercise},")
    lines = [line for line in output.splitlines() if line.startswith(heads)]
    return list(csv.DictReader(lines))


def matched(rows: Sequence[dict[str, str]], counts: RawTable, recorded: str) -> Rungs | None:
    """None where nothing was launched for any row."""
    found = launches_of(rows, counts, recorded)
    if not found:
        return None
    launches = [_together(row["kernel"], launches) for row, launches in found]
    return Rungs([row for row, _ in found], RawTable(counts.units, launches))


def launches_of(
    rows: Sequence[dict[str, str]], counts: RawTable, recorded: str
) -> list[tuple[dict[str, str], list[Launch]]]:
    """The rows that have launches, each with these, in their order."""
    by_range = _of_ranges(counts.launches, recorded)
    found: list[tuple[dict[str, str], list[Launch]]] = []
    for name in dict.fromkeys(row.get("kernel", "") for row in rows):
        own = [row for row in rows if row.get("kernel") == name]
        ranges = by_range.get(name, [])
        if len(own) == len(ranges):  # else some rows have none, and which is not known
            found += zip(own, ranges)
    found.sort(key=lambda pair: rows.index(pair[0]))
    return found


def _of_ranges(launches: Sequence[Launch], recorded: str) -> dict[str, list[list[Launch]]]:
    """The launches of each range, by its name, in the order of the ranges. They are counted and recorded
    in the order in which the host makes them."""
    work = nsys.parse(recorded, recording.FIRST_OF_WORK)
    if not work:
        return {}
    known = recording.read(work, nsys.parse(recorded, recording.FIRST_OF_RANGES))
    kernels = [item for item in known.work if item.kernel]
    if len(kernels) != len(launches):
        return {}
    found: dict[str, list[list[Launch]]] = {}
    for span in known.ranges:
        inside = [
            launch
            for kernel, launch in zip(kernels, launches)
            if span.begin <= kernel.begin <= span.end
        ]
        if inside:
            found.setdefault(span.name, []).append(inside)
    return found


def _together(name: str, launches: Sequence[Launch]) -> Launch:
    """Sums of what is counted. A ratio has a value where all launches have the same."""
    first = launches[0]
    values: dict[str, Value] = {}
    for metric in first.values:
        each = [launch.values.get(metric) for launch in launches]
        numbers = [value for value in each if isinstance(value, float)]
        if len(set(each)) == 1 and (len(each) == 1 or metric.endswith(RATIOS)):
            values[metric] = each[0]
        elif len(numbers) == len(each) and metric.endswith(".sum"):
            values[metric] = sum(numbers)
        else:
            values[metric] = None
    return Launch(name, first.grid, first.block, first.device, values)
