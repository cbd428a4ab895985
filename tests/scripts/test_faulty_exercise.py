"""The judge of the ctest cases NAME/faults: a check that overlooks a fault must not pass."""

from __future__ import annotations

import sys

import faulty_exercise
import pytest
from case_lines import CaseLines
from faulty_exercise import Fault, Trial, damaged, faults_of, groups, just_these, problem

NOTES = "launch a\ncopy 4\nrow\nlaunch b\nlaunch a\ncopy 8\nrow\n"


def test_each_launch_and_copy_goes_wrong_once() -> None:
    """A launch of each statement is refused. In a run, they are counted anew behind each row."""
    assert {fault.name: fault.entry for fault in faults_of(NOTES)} == {
        "launch 0": "launch 0 0;",
        "launch 1": "launch 1 0;",
        "launch 2": "launch 1 1;",
        "refused 0": "refused 0 0;",
        "refused 1": "refused 1 0;",
        "copy 0 2": "copy 0 0 2;",
        "copy 1 2": "copy 1 0 2;",
        "copy 1 6": "copy 1 0 6;",
    }


def test_a_run_has_one_fault_of_a_row_at_most() -> None:
    rows = [0, 0, 1, 2, 2, 2]
    faults = [Fault(str(number), row, "") for number, row in enumerate(rows)]
    together = [[fault.name for fault in group] for group in groups(faults, False)]
    assert together == [["0", "3"], ["2"], ["1"], ["4"], ["5"]]


def test_any_row_is_without_a_fault_where_another_has_one() -> None:
    faults = [Fault(str(row), row, "") for row in range(11)]
    together = [{fault.row for fault in group} for group in groups(faults, True)]
    assert len(together) == 8
    for row in range(11):
        for other in set(range(11)) - {row}:
            assert any(row in group and other not in group for group in together)


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


@pytest.mark.parametrize(
    ("after", "just"),
    [
        (rows("WRONG", "race", "WRONG"), True),
        (rows("WRONG", "race", "ok"), False),
        (rows("WRONG", "WRONG", "WRONG"), False),
        (rows("WRONG", "lucky", "WRONG"), False),
        (rows("WRONG", "race"), False),
    ],
)
def test_just_the_rows_with_a_fault_must_notice(after: list[dict[str, str]], just: bool) -> None:
    assert just_these(rows("ok", "race", "ok"), after, {0, 2}) == just


def test_rows_that_are_no_launches_may_go_wrong_together() -> None:
    before = rows("ok", "ok", "ok", kernel="depth")
    assert problem(before, rows("WRONG", "WRONG", kernel="depth"), 1) == ""
    assert problem(before, rows("ok", "ok", kernel="depth"), 0) != ""


# Rows of a launch and a copy each. Nobody listens to the last copy, and whether the last launch was
# refused; what the first one leaves out, the last finds missing.
PROGRAM = """
import os, sys
notes = os.environ.get("LAB_FAULT_NOTES")
faults = os.environ.get("LAB_FAULTS", "").split(";")
if "refused 0 0" in faults:
    sys.exit("sum.cu:3: kernel launch: cudaErrorInvalidConfiguration")
if "refused 2 0" in faults:
    sys.exit("results differ")
if notes:
    rows = [f"launch statement{row}\\ncopy 4\\nrow\\n" for row in range(3)]
    open(notes, "w").write("".join(rows))
print("kernel,check")
wrong = [f"launch {row} 0" in faults or f"copy {row} 0 2" in faults for row in range(3)]
wrong[2] = "launch 2 0" in faults or SPOILT
for number, each in enumerate(wrong):
    print(f"k{number},{'WRONG' if each else 'ok'}")
sys.exit(any(wrong))
"""


@pytest.mark.parametrize(
    ("spoilt", "harmless", "failed"),
    [
        ("False", ["copy 2", "refused 2", "refused 1"], {}),
        ("False", ["refused 2", "refused 1"], {"copy 2 2": "0 rows are WRONG"}),
        (
            "False",
            ["copy 2", "refused 1"],
            {"refused 2": "cudaErrorInvalidConfiguration on stderr"},
        ),
        ("False", ["copy 2", "refused 2", "refused 1", "copy 3"], {"copy 3": "is not there"}),
        (
            "'launch 0 0' in faults",
            ["copy 2", "refused 2", "refused 1"],
            {"launch 0": "2 rows are WRONG"},
        ),
    ],
)
def test_a_check_that_does_not_listen(
    capsys, spoilt: str, harmless: list[str], failed: dict[str, str]
) -> None:
    lines = CaseLines()
    program = PROGRAM.replace("SPOILT", spoilt)
    Trial([sys.executable, "-c", program], harmless, lines).run()
    assert lines.end() == bool(failed)
    said = capsys.readouterr().out.splitlines()
    found = [line for line in said if line.startswith("FAILED ")]
    assert len(found) == len(failed)
    for line, (name, reason) in zip(found, failed.items()):
        assert f" {name}: " in line and reason in line


def test_a_program_that_fails_without_a_fault(capsys) -> None:
    lines = CaseLines()
    Trial([sys.executable, "-c", "raise SystemExit(3)"], [], lines).run()
    assert lines.end() == 1
    assert "without a fault: exit status 3, 0 rows" in capsys.readouterr().out
