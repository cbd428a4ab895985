"""What is written of grades."""

from __future__ import annotations

import csv
import io
import json

import pytest
from lab_course.grading import results
from lab_course.grading.evaluate import GOAL, RIGHT, Finding, Grade

MET = Finding(RIGHT, "no hazards", True)
GOALS = [Finding(GOAL, f"gst_requests <= {most}", True) for most in (8, 9)]
MISSED = Finding(GOAL, "branch <= 7", False, "branch is 8\n  here", "./lab profile order")
GRADE = Grade([MET, *GOALS, MISSED], kernels={"better": "out[0] = 1;"})
BROKEN = Grade(
    [Finding(RIGHT, "no hazards", False)], "does not compile: a.cu:1: error: x\nand more"
)


def test_the_table() -> None:
    assert results.table({"anna": GRADE, "bert": BROKEN}) == (
        "submission,points,of,no hazards,gst_requests <= 8,gst_requests <= 9,branch <= 7,remark\n"
        "anna,4.33,10,yes,yes,yes,no,branch <= 7: branch is 8\n"
        "bert,0,10,no,,,,does not compile: a.cu:1: error: x\n"
    )


@pytest.mark.parametrize(
    ("words", "written"),
    [*((f"{begin}1", f"'{begin}1") for begin in "=+-@"), ("a\rb", "a\\rb")],
)
def test_what_a_spreadsheet_could_take_for_more_than_a_name(words: str, written: str) -> None:
    (_, row) = csv.reader(io.StringIO(results.table({words: Grade([], "=1")}), newline=""))
    assert row == [written, "10", "10", "'=1"]


def test_what_gradescope_reads() -> None:
    content = json.loads(results.gradescope("putInOrder", GRADE, 1.26, "digest"))
    assert content["score"] == 4.33
    assert content["execution_time"] == 1.3
    assert content["tests"][3] == {
        "name": "branch <= 7",
        "status": "failed",
        "output": "branch is 8\n  here\n./lab profile order",
        "visibility": "visible",
    }
    broken = json.loads(results.gradescope("putInOrder", BROKEN, 1, "digest"))
    assert broken["output"] == BROKEN.problem
    assert broken["tests"][0]["output"] == BROKEN.problem


def test_it_is_read_again() -> None:
    text = results.gradescope("putInOrder", GRADE, 1.26, "digest")
    assert results.grade_of(text, "digest") == GRADE
    assert results.grade_of(text, "other") is None
    for other in ("", "[]", "{}", '{"extra_data": {}}', text.replace("lab-grade/1", "lab-grade/0")):
        assert results.grade_of(other, "digest") is None
