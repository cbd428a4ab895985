"""./lab grade: one's own kernels, and those of submissions. (What they are worth: tests/scripts/grading;
what they are built and run with: tests/grading.)"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli import main
from lab_cli.commands import grade
from lab_cli.grading import marks, sandbox
from lab_cli.grading.programs import Run
from lab_cli.machine import setup
from lab_cli.paths import ROOT

sys.path.append(str(Path(__file__).parent.parent / "grading"))

from grading_sample import SOURCE, FakeWorkshop, exercise_at, row  # noqa: E402

ASSIGNMENT = """
[[assignment]]
name = "putInOrder"
sentence = "Write in order."
task = 2
kernels = ["better"]
before = "before"
results = { points = 4, sizes = ["--size=10", "--size=33"] }
check = { points = 2, options = "--size=10" }
bounds = [{ count = "gst_efficiency >= 95 %", options = "--size=64", points = 3 }]
"""


@pytest.fixture
def workshop(exercises, monkeypatch) -> FakeWorkshop:
    """main() with an assignment, and nothing that is built."""
    place = exercises("chapter/order", FACTS + ASSIGNMENT)
    fake = FakeWorkshop(exercise_at(place))
    monkeypatch.setattr(grade, "workshop", lambda *_, **__: fake)
    monkeypatch.setattr(grade, "_identity", lambda *_: "identity")
    monkeypatch.setattr(grade.machine, "of", lambda backend: {"CPU": "a CPU"})
    monkeypatch.setattr(setup, "python_for", lambda modules: sys.executable)
    monkeypatch.setattr(setup, "sandbox", lambda: None)
    monkeypatch.setattr(sandbox, "problem", lambda: "")
    return fake


@pytest.fixture
def handed_in(tmp_path) -> Path:
    pytest.importorskip("jinja2")
    folder = tmp_path / "handed in"
    for name, text in {
        "anna": SOURCE,
        "bert": SOURCE.replace("in[threadIdx.x];\n}\n\nlab", "in[0]; // <b>&amp;\n}\n\nlab"),
        "carl": "",
    }.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "order.cu").write_text(text)
    return folder


def lab_grade(*arguments: object) -> int:
    return main.main(["grade", *map(str, arguments)])


def test_all_points(workshop, capsys) -> None:
    assert lab_grade("putInOrder") == 0
    assert capsys.readouterr().out == (
        "putInOrder: Write in order.\n\n"
        "        2 of 2  right with --size=10\n"
        "        2 of 2  right with --size=33\n"
        "        2 of 2  no hazards\n"
        "        3 of 3  gst_efficiency >= 95 %\n\n"
        "9 of 9 points\n"
    )
    assert marks.read()["putInOrder"]["points"] == 9


def test_what_is_missing_and_what_to_look_at(workshop, capsys) -> None:
    wrong = Run([row("before"), row("better", "WRONG")], ["    WRONG: better: element 3 is 4"])
    workshop.runs["--size=33", ""] = wrong
    assert lab_grade("putInOrder") == 1
    out = capsys.readouterr().out
    assert "        0 of 2  right with --size=33\n                WRONG: better: element 3" in out
    assert "7 of 9 points\n\nLook at it next: ./lab run order -- --size=33\nThe task: " in out
    assert re.search(r"The task: .*chapter/order.md, task 2\n$", out)
    assert marks.read()["putInOrder"]["points"] == 7


def test_why_nothing_is_judged(workshop, capsys) -> None:
    workshop.does_not_compile = "does not compile: order.cu:12:1: error: x\norder.cu:12:1: error: x"
    assert lab_grade("putInOrder") == 1
    out = capsys.readouterr().out
    assert "0 of 9 points\n\ndoes not compile: order.cu:12:1: error: x\n" in out


def test_all_assignments(workshop, capsys) -> None:
    assert lab_grade() == 0
    assert capsys.readouterr().out == "putInOrder  - of 9                    order\n"


def test_submissions(workshop, handed_in, tmp_path, capsys) -> None:
    out = tmp_path / "grades"
    assert lab_grade("putInOrder", handed_in, "-o", out) == 0
    assert capsys.readouterr().out == (
        "submission                        points\n"
        "anna                              9 of 9        ok\n"
        "bert                              9 of 9        ok\n"
        "carl                              0 of 9        order.cu: better is not there: it must be there once\n"
    )
    assert (out / "grades.csv").read_text().splitlines()[1:] == [
        "anna,9,9,2,2,2,3,",
        "bert,9,9,2,2,2,3,",
        "carl,0,9,0,0,0,0,order.cu: better is not there: it must be there once",
    ]
    assert json.loads((out / "bert" / "results.json").read_text())["score"] == 9
    page = (out / "bert" / "report.html").read_text()
    assert "9 of 9 points" in page
    assert "&lt;b&gt;&amp;amp;" in page
    assert "<b>" not in page
    assert "is not there: it must be there once" in (out / "carl" / "report.html").read_text()


def test_graded_again_nothing_is_run(workshop, handed_in, tmp_path, capsys) -> None:
    out = tmp_path / "grades"
    lab_grade("putInOrder", handed_in, "-o", out)
    first = capsys.readouterr().out
    pages = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    workshop.asked.clear()
    assert lab_grade("putInOrder", handed_in, "-o", out) == 0
    again = capsys.readouterr()
    assert workshop.asked == []
    assert again.out == first
    assert "3 of them as graded before" in again.err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == pages


def test_further_options(workshop, handed_in, tmp_path) -> None:
    lab_grade("putInOrder", handed_in, "-o", tmp_path / "out", "--also", "--size=77 --block=32")
    assert ("--size=77 --block=32", "") in workshop.asked


def test_without_a_sandbox_nothing_is_run(
    workshop, handed_in, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(sandbox, "problem", lambda: "no sandbox can be made: x")
    assert lab_grade("putInOrder", handed_in, "-o", tmp_path / "out") == 1
    assert capsys.readouterr().err == (
        "lab: no sandbox can be made: x. Submissions are not run without a sandbox, unless --no-sandbox "
        "says so\n"
    )
    assert workshop.asked == []
    assert lab_grade("putInOrder", handed_in, "-o", tmp_path / "out", "--no-sandbox") == 0
    assert "may do whatever you may" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["putInOrdre"], "no assignment is named putInOrdre; did you mean putInOrder?"),
        (["xyzzy"], "no assignment is named xyzzy; ./lab grade lists them all"),
        (["putInOrder", "-o", "x"], "-o: no submission is named"),
        (["putInOrder", "--no-sandbox"], "--no-sandbox: no submission is named"),
        (["putInOrder", "nowhere"], "there is no file or folder nowhere"),
        (["putInOrder", "--also", "'"], "'"),
        ([""], "expected a name"),
    ],
)
def test_bad_usage(workshop, capsys, arguments: list[str], problem: str) -> None:
    assert lab_grade(*arguments) == 2
    assert problem in capsys.readouterr().err
    assert workshop.asked == []


def test_two_assignments_of_one_name(workshop, exercises, capsys) -> None:
    exercises("chapter/other", FACTS.replace("10", "20") + ASSIGNMENT)
    assert lab_grade("putInOrder") == 1
    assert "the assignment putInOrder has the name of one of order" in capsys.readouterr().err


def test_where_the_grades_cannot_be_kept(workshop, handed_in, tmp_path, capsys) -> None:
    (tmp_path / "file").touch()
    assert lab_grade("putInOrder", handed_in, "-o", tmp_path / "file") != 0
    assert "file" in capsys.readouterr().err
    assert workshop.asked == []


def test_the_command_line_once_more() -> None:
    """In another Python: nothing of it is lost."""
    words = ["a", "b.cu", "--backend=cpu", "--also=--size=3 --x", "--timeout=5.0", "-o", "out"]
    arguments = main.parsed(["grade", *words, "--no-sandbox"])
    assert grade._words(arguments) == [*words, "--no-sandbox"]
    assert os.path.exists(ROOT / "lab")
