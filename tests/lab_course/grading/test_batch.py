"""Many submissions: each graded once, kept, and all there after an interruption."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest
from grading_sample import assignment
from lab_cli import signals
from lab_cli.assignments import Assignment
from lab_course.grading.batch import Batch, identity
from lab_course.grading.evaluate import RIGHT, Finding, Grade
from lab_course.grading.submissions import Submission


@dataclass
class FakeGrader:
    """Right if the text has an even length; ends lab's work `after` so many."""

    assignment: Assignment
    graded: list[str] = field(default_factory=list)
    after: int = 10**9
    lock: threading.Lock = field(default_factory=threading.Lock)

    def grade(self, text: str) -> Grade:
        with self.lock:
            if len(self.graded) == self.after:
                raise KeyboardInterrupt
            self.graded.append(text)
        return Grade([Finding(RIGHT, "even", len(text) % 2 == 0)])

    def nothing(self, problem: str) -> Grade:
        return Grade([Finding(RIGHT, "even", False)], problem)


@pytest.fixture
def grader() -> FakeGrader:
    return FakeGrader(assignment())


@pytest.fixture
def handed_in(tmp_path) -> list[Submission]:
    folder = tmp_path / "in"
    folder.mkdir()
    found = [Submission(f"s{number:02}", folder / f"s{number:02}.cu") for number in range(20)]
    for number, submission in enumerate(found):
        submission.file.write_text("x" * number)
    return [*found, Submission("zoe", None, "there is no order.cu in it")]


def test_all_are_graded_in_their_order(grader, handed_in, tmp_path) -> None:
    grades, kept = Batch(grader, tmp_path / "out", "1").run(handed_in)
    assert [*grades] == [submission.name for submission in handed_in]
    assert [grade.points for grade in grades.values()] == [*[10, 0] * 10, 0]
    assert grades["zoe"].problem == "there is no order.cu in it"
    assert kept == 0
    assert len(grader.graded) == 20


def test_what_is_graded_is_kept_and_what_has_changed_is_not(grader, handed_in, tmp_path) -> None:
    first, _ = Batch(grader, tmp_path / "out", "1").run(handed_in)
    handed_in[3].file.write_text("change")
    again, kept = Batch(grader, tmp_path / "out", "1").run(handed_in)
    assert kept == 20
    assert grader.graded[20:] == ["change"]
    assert again["s03"].points == 10
    assert {**again, "s03": first["s03"]} == first
    _, kept = Batch(grader, tmp_path / "out", "2").run(
        handed_in
    )  # another exercise, or another lab
    assert kept == 0


def test_an_interrupted_run_goes_on(grader, handed_in, tmp_path) -> None:
    grader.after = 7
    with pytest.raises(KeyboardInterrupt):
        Batch(grader, tmp_path / "out", "1").run(handed_in)
    grader.after = 10**9
    grades, kept = Batch(grader, tmp_path / "out", "1").run(handed_in)
    assert kept >= 7
    assert sorted(grader.graded, key=len) == ["x" * number for number in range(20)]
    assert [grade.points for grade in grades.values()] == [*[10, 0] * 10, 0]


def test_what_a_signal_ended_is_not_kept(grader, handed_in, tmp_path, monkeypatch) -> None:
    """Its programs were killed: that says nothing of them."""
    monkeypatch.setattr(signals, "_ending", True)
    with pytest.raises(KeyboardInterrupt):
        Batch(grader, tmp_path / "out", "1").run(handed_in)
    assert [*tmp_path.rglob("*.json")] == []


def test_identity_is_that_of_words_and_files(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("a")
    first = identity(["x"], [file])
    assert identity(["x"], [file]) == first
    assert identity(["y"], [file]) != first
    file.write_text("b")
    assert identity(["x"], [file]) != first
