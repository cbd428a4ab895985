"""./lab alone and ./lab list: where one stands, and what comes next."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from exercise_sample import ASSIGNMENT, FACTS
from lab_cli import catalogue, main, work
from lab_cli.commands import stand
from lab_cli.machine import backend
from lab_cli.results import marks


@pytest.fixture
def checkout(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two chapters, with assignments in three of four exercises."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(stand, "shown", lambda path: path.name)
    exercises("ch03/second", FACTS.replace("10", "20") + ASSIGNMENT.format(name="later"))
    exercises("ch03/first", FACTS + ASSIGNMENT.format(name="early"))
    exercises("ch04/third")
    exercises("ch04/fourth", FACTS.replace("10", "30") + ASSIGNMENT.format(name="last"))
    return tmp_path


def start(name: str) -> None:
    copy = work.copy_of(name)
    copy.parent.mkdir(parents=True)
    copy.touch()


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main.main([*argv]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    return out


def test_for_whoever_begins(checkout: Path, monkeypatch, capsys) -> None:
    """It starts and writes nothing."""
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    out = said(capsys)
    assert "ch03   0 of  2 solved\n" in out and "ch04   0 of  1 solved\n" in out
    assert "Next is first, early ★" in out and "./lab start first" in out
    assert not work.WORK.exists()


def test_an_exercise_that_nobody_has_worked_on_is_not_solved(checkout: Path, capsys) -> None:
    assert "solved" not in said(capsys, "list")


@pytest.mark.parametrize(("has_gpu", "name"), [(True, "first, early"), (False, "second, later")])
def test_what_needs_a_gpu_comes_last_where_there_is_none(
    checkout: Path, exercises, monkeypatch, capsys, has_gpu: bool, name: str
) -> None:
    on_gpu = ASSIGNMENT.format(name="early").partition("check")[0]
    on_gpu += '[assignment.speed]\nof = "worse"\nleast = 2.0\noptions = ""\n'
    exercises("ch03/first", "gpu_only = true\n" + FACTS + on_gpu)
    monkeypatch.setattr(backend, "has_gpu", lambda: has_gpu)
    assert f"Next is {name} ★" in said(capsys)


def test_what_is_started_comes_first(checkout: Path, capsys) -> None:
    start("fourth")
    marks.record_points("last", 3)
    out = said(capsys)
    assert "started: last (3 of 10)" in out
    assert "Next is fourth, last ★" in out and "./lab watch fourth" in out


def test_what_is_solved_is_behind(checkout: Path, capsys) -> None:
    marks.record_points("early", 10)
    out = said(capsys)
    assert "ch03   1 of  2 solved" in out and "Next is second, later ★" in out
    assert "You have solved 1." in out
    assert "early: solved\n" in said(capsys, "list")


def test_what_was_solved_stays_so(checkout: Path, capsys) -> None:
    marks.record_points("early", 10)
    marks.record_points("early", 0)
    assert "ch03   1 of  2 solved" in said(capsys)


def test_a_solution_that_was_seen_is_told_apart(checkout: Path, capsys) -> None:
    marks.record("early", seen=True)
    marks.record_points("early", 10)
    assert "You have solved 0, and 1 after seeing the solution." in " ".join(said(capsys).split())
    assert not marks.of("early").by_own_work


def test_when_all_is_done(checkout: Path, capsys) -> None:
    for name in ("early", "later", "last"):
        marks.record_points(name, 10)
    assert "All assignments are solved." in said(capsys)


@pytest.mark.parametrize("columns", ["1", "60", "abc"])
def test_any_width(checkout: Path, monkeypatch, capsys, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert "Next is first," in said(capsys)


def test_an_exercise_that_cannot_be_read_is_named(checkout: Path, capsys) -> None:
    (checkout / "ch03" / "first" / "first.cu").unlink()
    (checkout / "ch04" / "third" / "exercise.toml").write_text("[[assignment")
    assert main.main([]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "first/first.cu is missing" in err and "third/exercise.toml: " in err


def test_the_project_fits_a_screen(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = said(capsys)
    first = next(each for each in catalogue.exercises() if each.facts.assignments)
    assert f"./lab start {first.name}" in out
    assert len(out.splitlines()) <= 23


@pytest.mark.parametrize(
    "content", ["", "[]", '{"early": 3}', '{"early": {"points": "x"}}', "\x00"]
)
def test_a_file_of_something_else_says_nothing(checkout: Path, content: str) -> None:
    work.WORK.mkdir()
    marks.FILE.write_text(content)
    assert marks.read() == {}
    marks.record_points("early", 4)
    assert marks.of("early").points == 4
