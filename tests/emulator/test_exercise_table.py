"""The table of what the profiler counts for each exercise is what it counts today."""

import csv
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "profiler"))

import exercise_table

TABLE = Path(__file__).parents[2] / "emulator" / "results" / "profiler_against_h200.csv"
# By the length of machine code, which is the compiler's.
OF_THE_COMPILER = {"active_threads"}
# Of branches one g++ makes more than another.
OF_ITS_VERSION = {"branch_efficiency"}
VERSION_OF_TABLE = "12."


def written() -> list[dict[str, str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


EXERCISES = exercise_table.compared()


def test_every_exercise_is_in_the_table():
    assert {each.name for each in EXERCISES} <= {row["exercise"] for row in written()}


# What has options of its own here depends on the clock.
@pytest.mark.parametrize(
    "exercise",
    [each for each in EXERCISES if not each.facts.counts.options_on_cpu],
    ids=lambda exercise: exercise.name,
)
def test_the_counts_are_those_of_today(build, gcc, exercise):
    program = exercise.program(build, instrumented=True)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    if not gcc:
        pytest.skip(
            "the table is of g++'s programs: emulator/profiler.md says what clang++'s differ in"
        )
    skipped = OF_THE_COMPILER | (set() if gcc.startswith(VERSION_OF_TABLE) else OF_ITS_VERSION)
    columns = ["exercise", "parameters", "kernel", *exercise_table.COLUMNS]
    rows = [dict(zip(columns, row)) for row in exercise_table.rows_of(exercise, build)]
    expected = [row for row in written() if row["exercise"] == exercise.name]
    assert len(rows) == len(expected)
    for row, known in zip(rows, expected):
        for column in known.keys() - skipped:
            assert (row["kernel"], column, row[column]) == (row["kernel"], column, known[column])
