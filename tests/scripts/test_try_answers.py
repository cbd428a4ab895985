"""try_answers.py: what it tries, without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import try_answers
from lab_cli import catalogue
from page_answers import Change, Run, Variant

PAGE = catalogue.one("nestedHelloWorld").page


def program(folder: Path, prints: str, status: int) -> Path:
    file = folder / "program"
    file.write_text(f"#!/bin/sh\nprintf '{prints}'\nexit {status}\n")
    file.chmod(0o755)
    return file


def test_answers_and_programs_are_tried(capsys: pytest.CaptureFixture[str]) -> None:
    seen = []

    def build(source: Path) -> Path:
        seen.append(source.read_text())
        return program(source.parent, "the sum is 140\\n", 0)

    assert try_answers.try_all(["nestedHelloWorld"], build)
    assert "if (threads > 0) {" in seen[0] and "cudaStreamTailLaunch>>>" in seen[-1]
    out = capsys.readouterr().out
    assert "nestedHelloWorld, 1: answer 2: ok\n" in out
    assert out.count("\n") == len(seen) == out.count(": ok\n")


def tried(variant: Variant, prints: str, status: int, folder: Path) -> str:
    """What is wrong with the answer, if its program prints this and ends so."""
    return try_answers.try_answer(
        PAGE, variant, lambda source: program(source.parent, prints, status), folder
    )


@pytest.mark.parametrize(
    ("prints", "status", "right"),
    [("the sum\\n is 140", 0, True), ("the sum is 140", 1, False), ("the sum is 14", 0, False)],
)
def test_a_program_prints_what_the_page_says(
    prints: str, status: int, right: bool, tmp_path: Path
) -> None:
    answer = Variant(4, program="int main() {}", runs=[Run("", ["the sum", "is 140"])])
    said = tried(answer, prints, status, tmp_path)
    assert said == "" if right else said.startswith(f"status {status}\nthe sum")


def test_a_status_that_is_not_0_may_be_right(tmp_path: Path) -> None:
    change = Change("replaces `thread == 0 && threads > 0` by `threads > 0`")
    answer = Variant(2, changes=[change], runs=[Run("--size=7", ["5"], status=1)])
    assert tried(answer, "", 0, tmp_path) != ""
    assert tried(answer, "", 1, tmp_path) == ""


def test_races_on_purpose_are_not_tried() -> None:
    race, none = Run("", finds="race"), Run("", finds="no kernel was launched")
    assert try_answers.sure_runs(Variant(1, runs=[race, none])) == [none]


@pytest.mark.parametrize("names", [[], ["nobody"], ["nestedHelloWorld", "nobody"]])
def test_names_without_answers_are_refused(names: list[str]) -> None:
    assert try_answers.main(names) == 2
