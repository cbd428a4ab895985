"""What the comparison with the table of the exercises' counts lets pass, and what not. compare.py makes it
for each exercise."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "profiler"))

import compare
import exercise_table

EXERCISES = exercise_table.compared()


def test_every_exercise_is_in_the_table():
    assert {each.name for each in EXERCISES} <= {
        row["exercise"] for row in exercise_table.written()
    }


@pytest.fixture
def told(monkeypatch):
    """told(makers, versions, **counts): what is said of an exercise that counts what a GPU did, but for
    `counts`; in the table there are its counts without these."""
    exercise = next(each for each in EXERCISES if not each.facts.counts.options_on_cpu)
    read = compare.read_recorded(exercise.name, exercise_table.DEBUG)
    columns = ["exercise", "parameters", "kernel", *exercise_table.COLUMNS]
    table = [dict(zip(columns, row)) for row in exercise_table.rows_of(exercise, read)]
    monkeypatch.setattr(exercise_table, "written", lambda: table)

    def tell(makers, versions, launches=None, **counts):
        changed = {compare.COUNTS[name.replace("_", " ")].metric: n for name, n in counts.items()}
        counted = [{**read[0], **changed}, *read[1:]]
        return exercise_table.not_as_written(exercise, counted[:launches], makers, versions)

    return tell


GCC = exercise_table.MADE_BY


def test_a_count_that_the_table_has_otherwise_is_named(told):
    assert told(GCC, {12}) == []
    (problem,) = told(GCC, {12}, load_sectors="7000001")
    assert "load_sectors" in problem and "7,000,001" in problem


def test_what_is_the_compilers(told):
    for versions, named in (({12}, True), ({13}, False), ({12, 13}, False)):
        assert bool(told(GCC, versions, branch_efficiency="1.5")) == named
    assert told(GCC, {12}, active_threads="1.5") == []
    assert told(GCC, {13}, load_sectors="7000001")
    for makers in ("clang++, x86-64", "g++, AArch64"):
        assert told(makers, {12}, load_sectors="7000001") == []


def test_launches_that_are_missing_are_named(told):
    assert told(GCC, {12}, launches=0)


@pytest.mark.parametrize(
    ("program", "versions"),
    [
        (b"\0GCC: (Debian 12.2.0-14) 12.2.0\0", {12}),
        (b"\0GCC: (Debian 12.2.0) 12.2.0\0GCC: (GNU) 13.1.0\0", {12, 13}),
    ],
)
def test_the_version_of_gcc(program, versions):
    assert exercise_table.versions_of_gcc(program) == versions
