#!/usr/bin/env python3
"""Writes what the cpu profiler counts for each exercise beside what ncu read on an H200.

    exercise_table.py BUILD_FOLDER OUTPUT.csv

BUILD_FOLDER is that of the preset cpu. compare.py says where an exercise counts something else than the
table that was written last. A cell is one number where both are equal, else
"counted (ncu: read)", the latter as recorded of builds with nvcc -G; some of those with -O3, as
expected_counts.py says. What is counted is "varies" where it is another number each time. A cell is
empty where ncu was not asked.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from compare import GPU, Launch, kernel_name, read_recorded, run_profiled, without_arguments
from expected_counts import DEBUG, OPTIMISED
from lab_cli import catalogue
from lab_cli.catalogue import Exercise

# By column: what is counted, and how it is written.
COLUMNS = {
    "divergent_branches": ("divergent", ",.0f"),
    "load_requests": ("load requests", ",.0f"),
    "load_sectors": ("load sectors", ",.0f"),
    "load_efficiency": ("load efficiency", ".1f"),
    "store_sectors": ("store sectors", ",.0f"),
    "store_efficiency": ("store efficiency", ".1f"),
    "shared_load_conflicts": ("shared load conflicts", ",.0f"),
    "shared_store_conflicts": ("shared store conflicts", ",.0f"),
    "shared_efficiency": ("shared efficiency", ".1f"),
    "branch_efficiency": ("branch efficiency", ".1f"),
    "active_threads": ("active threads", ".1f"),
    "occupancy": ("occupancy", ".1f"),
}
# A thread of these looks until time has passed, or another block has come so far: how often, and so
# how much of the kernel that is, is another matter each time.
WAITING = {"piece", "writeLate", "workQueue"}
OF_WAITING = {"branch_efficiency", "active_threads"}
# By the length of machine code, which is the compiler's.
OF_THE_COMPILER = {"active_threads"}
# Of branches one g++ makes more than another.
OF_ITS_VERSION = {"branch_efficiency"}
# The programs that the table is of: what compare.makers_of() says, and the version of g++.
MADE_BY = "g++, x86-64"
VERSION = 12
TABLE = Path(__file__).parents[3] / "emulator" / "results" / "profiler_against_h200.csv"
FACTS = [
    "# counted by the cpu back end's profiler; where ncu differs: NVIDIA H200, CUDA 13.0, nvcc -G",
    "# written by tests/emulator/profiler/exercise_table.py",
]


def shown(here: float, there: float, form: str, varies: bool) -> str:
    mine, theirs = "varies" if varies else format(here, form), format(there, form)
    return mine if mine == theirs else f"{mine} (ncu: {theirs})"


def compared() -> list[Exercise]:
    """The exercises of which there are counts of a GPU."""
    recorded = f"{GPU}/counts.{DEBUG}.csv"
    return [each for each in catalogue.exercises() if (each.results / recorded).is_file()]


def rows_of(exercise: Exercise, counted: list[dict[str, str]]) -> list[list[str]]:
    """The rows of an exercise, of whose launches this was `counted`."""
    name = exercise.name
    debug, optimised = read_recorded(name, DEBUG), read_recorded(name, OPTIMISED)
    rows = []
    for launch in map(Launch, counted, debug, optimised):
        row = [name, exercise.facts.counts.options, kernel_name(launch.debug)]
        for column, (count, form) in COLUMNS.items():
            varies = row[2] in WAITING and column in OF_WAITING
            build = launch.build_for(count)
            if not launch.has(build, count):
                row.append("")
                continue
            row.append(shown(launch.here(count), launch.read(build, count), form, varies))
        # The same kernel again and again, or the same counts with other template arguments: once
        # says it.
        known = [(without_arguments(before[2]), before[3:]) for before in rows]
        again = bool(rows) and rows[-1][2] == row[2]
        if not again and (without_arguments(row[2]), row[3:]) not in known:
            rows.append(row)
    return rows


def written() -> list[dict[str, str]]:
    """The table that was written last."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def versions_of_gcc(program: bytes) -> set[int]:
    """The versions of g++ that a program names: g++ writes its own into what it compiles."""
    return {int(found) for found in re.findall(rb"GCC: \([^)]*\) (\d+)\.", program)}


def not_as_written(
    exercise: Exercise, counted: list[dict[str, str]], makers: str, versions: set[int]
) -> list[str]:
    """The counts that differ from the table, a line each. `makers` and `versions` (of g++) say who compiled
    the program."""
    if exercise.facts.counts.options_on_cpu or makers != MADE_BY:
        return []  # what depends on the clock, or on what others make of the source
    skipped = OF_THE_COMPILER | (set() if versions == {VERSION} else OF_ITS_VERSION)
    columns = ["exercise", "parameters", "kernel", *COLUMNS]
    rows = [dict(zip(columns, row)) for row in rows_of(exercise, counted)]
    known = [row for row in written() if row["exercise"] == exercise.name]
    if len(rows) != len(known):
        return [f"{TABLE.name} has {len(known)} rows of {exercise.name}, counted were {len(rows)}"]
    return [
        f"{row['kernel']}: {column}: {row[column]}; {TABLE.name} has {before[column]}"
        for row, before in zip(rows, known)
        for column in columns
        if column not in skipped and row[column] != before[column]
    ]


def main(folder: Path, output: Path) -> None:
    with output.open("w", newline="") as file:
        file.write("\n".join(FACTS) + "\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["exercise", "parameters", "kernel", *COLUMNS])
        for exercise in compared():
            program = exercise.program(folder, instrumented=True)
            counted = run_profiled(str(program), exercise.name)
            writer.writerows(rows_of(exercise, counted))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
