"""try_answers.py: what it tries, without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import try_answers
from page_programs import EXPECTED


def program(folder: Path, prints: str, status: int) -> Path:
    file = folder / "program"
    file.write_text(f"#!/bin/sh\nprintf '{prints}'\nexit {status}\n")
    file.chmod(0o755)
    return file


def test_answers_and_programs_are_tried(capsys: pytest.CaptureFixture[str]) -> None:
    seen = []

    def build(source: Path) -> Path:
        seen.append(source.read_text())
        return program(source.parent, EXPECTED["nestedHelloWorld"][0][1], 0)

    assert try_answers.try_all(["nestedHelloWorld"], build)
    assert "if (threads > 0) {" in seen[0] and "cudaStreamTailLaunch>>>" in seen[1]
    assert capsys.readouterr().out == (
        "nestedHelloWorld, answer 2, entry 1: ok\nnestedHelloWorld, program: ok\n"
    )


@pytest.mark.parametrize(
    ("prints", "status", "failed"),
    [("the sum is 140", 1, 2), ("the sum is 140", 0, 1), ("the sum is 140\\n", 1, 2)],
)
def test_what_is_wrong_is_said(
    prints: str, status: int, failed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not try_answers.try_all(
        ["nestedHelloWorld"], lambda source: program(source.parent, prints, status)
    )
    out = capsys.readouterr().out
    assert out.count(f": status {status}\n") == failed and out.count(": ok\n") == 2 - failed


def test_races_on_purpose_are_not_tried() -> None:
    tried = try_answers.trials(["nestedReduce"], Path)
    assert [name for name in tried if "answer 2" in name] == []
    assert "nestedReduce, answer 4, entry 1" in tried


def test_a_status_that_is_not_0_may_be_right(tmp_path: Path) -> None:
    entry = {"answer": 2, "also": [], "status": 1}
    page = try_answers.TESTS.parent / "dynamic_parallelism" / "nestedReduce.md"
    for status in (0, 1):
        build = lambda source, s=status: program(source.parent, "", s)  # noqa: E731
        wrong = try_answers.try_answer(page, entry, build, tmp_path)
        assert (wrong == "") == (status == 1)


@pytest.mark.parametrize("names", [[], ["nobody"], ["nestedHelloWorld", "nobody"]])
def test_names_without_answers_are_refused(names: list[str]) -> None:
    assert try_answers.main(names) == 2
