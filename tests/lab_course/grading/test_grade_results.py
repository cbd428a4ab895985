"""What is written of grades."""

from __future__ import annotations

import csv
import io
import json

import pytest
from lab_course.grading import results
from lab_course.grading.evaluate import Finding, Grade

MET = Finding("right with --size=10", 2, 2)
THIRD = Finding("right with --size=33", 4 / 3, 4 / 3)
MISSED = Finding("no hazards", 0, 2, "1. race\n  here", "./lab check order")
GRADE = Grade([MET, THIRD, MISSED], kernels={"better": "out[0] = 1;"})
BROKEN = Grade([Finding("no hazards", 0, 2)], "does not compile: a.cu:1: error: x\nand more")


def test_the_table() -> None:
    assert results.table({"anna": GRADE, "bert": BROKEN}) == (
        "submission,points,of,right with --size=10,right with --size=33,no hazards,remark\n"
        "anna,3.33,5.33,2,1.33,0,no hazards: 1. race\n"
        "bert,0,2,,,0,does not compile: a.cu:1: error: x\n"
    )


@pytest.mark.parametrize(
    ("words", "written"),
    [*((f"{begin}1", f"'{begin}1") for begin in "=+-@"), ("a\rb", "a\\rb")],
)
def test_what_a_spreadsheet_could_take_for_more_than_a_name(words: str, written: str) -> None:
    (_, row) = csv.reader(io.StringIO(results.table({words: Grade([], "=1")}), newline=""))
    assert row == [written, "0", "0", "'=1"]


def test_what_gradescope_reads() -> None:
    content = json.loads(results.gradescope("putInOrder", GRADE, 1.26, "digest"))
    assert content["score"] == 3.33
    assert content["execution_time"] == 1.3
    assert content["tests"][2] == {
        "name": "no hazards",
        "score": 0,
        "max_score": 2,
        "output": "1. race\n  here\n./lab check order",
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
