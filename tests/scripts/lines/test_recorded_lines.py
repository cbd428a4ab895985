"""Each line of a kernel costs on the cpu back end what ncu read on an H200: requests, sectors and wavefronts.

recorded/h200.csv is by tests/manual/record_lines.py.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import line_table
import pytest
from lab_cli import work
from lab_cli.lines import recorded
from lab_cli.paths import ROOT
from lab_fixtures import shipped
from line_comparison import FEWER, MORE, TOGETHER, Difference, problems
from line_table import Amounts, Key, Table
from program import outdated, run_noting

BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
READ = line_table.read((Path(__file__).parent / "recorded" / "h200.csv").read_text())
# Some grids are made for the device.
LIKE_AN_H200 = {"CUDA_EMULATOR_SMS": "132"}


def counted(name: str) -> Table:
    """Runs the instrumented program. Where a student has a copy, NAME is the copy's, and the shipped one is
    NAME_shipped."""
    exercise = shipped(name)
    for target in (name, name + work.SHIPPED):
        program = BUILD / exercise.chapter / f"{target}_instrumented"
        reason = outdated(str(program), str(exercise.source))
        if reason:
            pytest.skip(reason)
        command = [str(program), "--profile", *exercise.facts.counts.words]
        done, notes = run_noting(command, recorded.VARIABLE, LIKE_AN_H200)
        assert done.returncode == 0, done.stdout + done.stderr
        profile = recorded.parse(notes, "", ROOT)
        if any(exercise.folder in place.file.parents for k in profile.kernels for place in k.lines):
            return line_table.of_profile(name, profile)
    pytest.fail(f"no line is of {exercise.folder}")


def of_exercise(name: str) -> Table:
    return {key: amounts for key, amounts in READ.items() if key.exercise == name}


@pytest.mark.parametrize("name", sorted({key.exercise for key in READ}))
def test_lines_cost_what_ncu_read(name: str) -> None:
    assert problems(of_exercise(name), counted(name)) == []


def test_many_kernels_are_compared() -> None:
    assert len({key.launch for key in READ}) >= 100
    accesses = {key.access for key in READ}
    assert accesses == {
        *(f"{space} {kind}" for space in ("global", "shared") for kind in ("load", "store")),
        *(f"{space} {kind}" for space in ("global", "shared") for kind in ("atomic", "copy")),
    }


def test_a_table_that_is_written_is_read() -> None:
    assert line_table.read(line_table.text(READ)) == READ


# What the comparison finds, in a kernel of two lines.
LOAD = Key("e", "k<1>", "1x1x1", "32x1x1", "e.cu", "k", 1, "own", "global load")
NEXT = replace(LOAD, line=2)
SAME = {LOAD: Amounts(4, 16, 16), NEXT: Amounts(1, 32, 4)}


def difference(now: str, accesses: str = "own global load", kernels: str = "k<.>") -> Difference:
    return Difference("e", kernels, accesses, now, "because")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda table: table, 0),
        (lambda table: {**table, NEXT: Amounts(1, 31, 4)}, 1),
        (lambda table: {**table, NEXT: Amounts(2, 32, 4)}, 1),
        (lambda table: {**table, NEXT: Amounts(1, 32, 5)}, 1),
        (lambda table: {LOAD: table[LOAD]}, 1),  # a line less
        (lambda table: {**table, replace(LOAD, line=3): Amounts(1, 1, 1)}, 1),  # a line more
        (lambda table: {replace(key, line=key.line + 1): table[key] for key in table}, 3),
        (lambda table: {replace(key, whose="called"): table[key] for key in table}, 4),
        (lambda table: {replace(key, access="shared load"): table[key] for key in table}, 4),
        (lambda table: {replace(key, block="64x1x1"): table[key] for key in table}, 1),
        (lambda table: {**table, replace(LOAD, kernel="other"): Amounts(1, 1, 1)}, 0),
    ],
)
def test_what_differs_is_found(change: Callable[[Table], Table], found: int) -> None:
    assert len(problems(SAME, change(SAME), [])) == found


def test_requests_may_be_fewer_where_ncu_counts_warps_without_a_lane() -> None:
    read = {LOAD: Amounts(4, 3, 3, at_most=1)}
    assert problems(read, {LOAD: Amounts(2, 3, 3)}, []) == []
    assert problems(read, {LOAD: Amounts(5, 3, 3)}, [])
    assert problems(read, {LOAD: Amounts(2, 2, 3)}, [])


@pytest.mark.parametrize(
    ("now", "amounts", "holds"),
    [
        (FEWER, Amounts(4, 17, 16), True),
        (FEWER, Amounts(3, 17, 16), False),
        (MORE, Amounts(3, 16, 16), True),
        (MORE, Amounts(3, 17, 16), False),
        (TOGETHER, Amounts(3, 17, 16), False),
    ],
)
def test_differences_that_are_known(now: str, amounts: Amounts, holds: bool) -> None:
    assert (problems(SAME, {**SAME, LOAD: amounts}, [difference(now)]) == []) == holds


def test_lines_that_are_equal_together() -> None:
    moved = {LOAD: Amounts(3, 20, 8), NEXT: Amounts(2, 28, 12)}
    assert problems(SAME, moved, [difference(TOGETHER)]) == []
    assert len(problems(SAME, moved, [])) == 2


@pytest.mark.parametrize("words", [{"accesses": "own shared load"}, {"kernels": "other"}])
def test_a_difference_is_of_its_kernels_and_accesses(words: dict[str, str]) -> None:
    counted_here = {**SAME, LOAD: Amounts(4, 17, 16)}
    found = problems(SAME, counted_here, [difference(FEWER, **words)])
    assert len(found) == 2 and found[1].startswith("no difference any more: ")


def test_a_difference_that_is_not_there_any_more_is_named() -> None:
    assert problems(SAME, SAME, [difference(FEWER)]) == ["no difference any more: k<.>: because"]


def test_on_some_processors_a_difference_may_be_missing() -> None:
    here = replace(difference(FEWER), not_on=platform.machine())
    elsewhere = replace(difference(FEWER), not_on="another")
    assert problems(SAME, SAME, [here]) == []
    assert problems(SAME, SAME, [elsewhere])
