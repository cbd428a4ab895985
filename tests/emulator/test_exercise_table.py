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
    """told(versions, makers, **counts): what is said of an exercise that counts what a GPU did, but for `counts`;
    in the table there are its counts without these."""
    exercise = next(each for each in EXERCISES if not each.facts.counts.options_on_cpu)
    read = compare.read_recorded(exercise.name, exercise_table.DEBUG)
    columns = ["exercise", "parameters", "kernel", *exercise_table.COLUMNS]
    table = [dict(zip(columns, row)) for row in exercise_table.rows_of(exercise, read)]
    monkeypatch.setattr(exercise_table, "written", lambda: table)

    def tell(versions, makers="g++, x86-64", launches=None, **counts):
        changed = {compare.COUNTS[name.replace("_", " ")].metric: n for name, n in counts.items()}
        counted = [{**read[0], **changed}, *read[1:]]
        return exercise_table.not_as_written(exercise, counted[:launches], versions, makers)

    return tell


def test_a_count_that_the_table_has_otherwise_is_named(told):
    assert told({12}) == []
    (problem,) = told({12}, load_sectors="7000001")
    assert "load_sectors" in problem and "7,000,001" in problem


def test_what_is_the_compilers(told):
    for versions, named in (({12}, True), ({13}, False), ({12, 13}, False), (set(), False)):
        assert bool(told(versions, branch_efficiency="1.5")) == named
    assert told({12}, "g++, AArch64", branch_efficiency="1.5") == []
    assert told({12}, active_threads="1.5") == []
    assert bool(told({13}, load_sectors="7000001")) and not told(set(), load_sectors="7000001")


def test_launches_that_are_missing_are_named(told):
    assert told({12}, launches=0)


@pytest.mark.parametrize(
    ("program", "versions"),
    [
        (b"\0GCC: (Debian 12.2.0-14) 12.2.0\0", {12}),
        (b"\0GCC: (Debian 12.2.0) 12.2.0\0GCC: (GNU) 13.1.0\0", {12, 13}),
        (b"\0GCC: (Debian 12.2.0) 12.2.0\0clang version 17\0", set()),
    ],
)
def test_the_version_of_gcc(program, versions):
    assert exercise_table.versions_of_gcc(program) == versions
