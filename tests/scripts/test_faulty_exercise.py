"""The judge of the ctest cases faults/NAME: a check that overlooks a fault must not pass."""

from __future__ import annotations

import sys

import faulty_exercise
import pytest
from faulty_exercise import damaged, faults_of, problem, problems


def test_each_launch_and_copy_goes_wrong_once() -> None:
    faults = faults_of("launch\ncopy 4\nlaunch\ncopy 8\n")
    copies = ["copy 0 2", "copy 1 2", "copy 1 6"]
    assert faults == ["launch 0", "launch 1", "refused 0", "refused 1", *copies]


@pytest.mark.parametrize(
    ("size", "places"), [(0, []), (20, [2, 6, 10, 14, 18]), (4096, [2, 6, 2050, 2054, 4090, 4094])]
)
def test_the_first_a_middle_and_the_last_values_are_damaged(size: int, places: list[int]) -> None:
    assert damaged(size) == places


@pytest.mark.parametrize(
    ("fault", "listed", "harmless"),
    [
        ("copy 1 6", "copy 1", True),
        ("copy 1 6", "copy 1 2", False),
        ("copy 11 6", "copy 1", False),
        ("launch 1", "copy 1", False),
    ],
)
def test_what_is_harmless(fault: str, listed: str, harmless: bool) -> None:
    assert faulty_exercise.is_harmless(fault, ["launch 7", listed]) == harmless


def rows(*checks: str, kernel: str = "kernel") -> list[dict[str, str]]:
    return [{kernel: "k", "check": check} for check in checks]


@pytest.mark.parametrize(
    ("after", "status", "wrong"),
    [
        (rows("ok", "WRONG"), 1, ""),
        (rows("WRONG", "race"), 1, ""),
        (rows("ok", "race"), 0, "0 rows are WRONG and 0 others changed"),
        (rows("WRONG", "WRONG"), 1, "2 rows are WRONG"),
        (rows("WRONG", "lucky"), 1, "1 rows are WRONG and 1 others changed"),
        (rows("ok", "WRONG"), 0, "exit status 0, expected 1"),
        ([], 1, "0 rows are WRONG"),
    ],
)
def test_just_one_row_must_notice(after: list[dict[str, str]], status: int, wrong: str) -> None:
    assert problem(rows("ok", "race"), after, status).startswith(wrong)
    assert bool(problem(rows("ok", "race"), after, status)) == bool(wrong)


def test_rows_that_are_no_launches_may_go_wrong_together() -> None:
    before = rows("ok", "ok", "ok", kernel="depth")
    assert problem(before, rows("WRONG", "WRONG", kernel="depth"), 1) == ""
    assert problem(before, rows("ok", "ok", kernel="depth"), 0) != ""


# Two launches, and a copy of four bytes after each; nobody listens to the second copy, and whether the
# second launch was refused.
PROGRAM = """
import os, sys
notes, fault = os.environ.get("LAB_FAULT_NOTES"), os.environ.get("LAB_FAULT", "")
if fault == "refused 0":
    sys.exit("sum.cu:3: kernel launch: cudaErrorInvalidConfiguration")
if fault == "refused 1":
    sys.exit("results differ")
if notes:
    open(notes, "w").write("launch\\ncopy 4\\nlaunch\\ncopy 4\\n")
wrong = [fault in ("launch 0", "copy 0 2"), fault == "launch 1"]
print("kernel,check")
for number in (0, 1):
    print(f"k{number},{'WRONG' if wrong[number] else 'ok'}")
sys.exit(any(wrong))
"""


@pytest.mark.parametrize(
    ("harmless", "found"),
    [
        (["copy 1", "refused 1"], ""),
        (["refused 1"], "copy 1 2: 0 rows are WRONG"),
        (["copy 1"], "refused 1: expected cudaErrorInvalidConfiguration on stderr"),
        (["copy 1", "refused 1", "copy 2"], "copy 2 is not there"),
    ],
)
def test_a_check_that_does_not_listen(harmless: list[str], found: str) -> None:
    said = problems([sys.executable, "-c", PROGRAM], harmless)
    assert len(said) == bool(found)
    assert "".join(said).startswith(found)


def test_a_program_that_fails_without_a_fault() -> None:
    command = [sys.executable, "-c", "raise SystemExit(3)"]
    assert problems(command, []) == ["without a fault: exit status 3, 0 rows"]
