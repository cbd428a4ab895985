"""./lab alone: where one stands, and what comes next."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, main
from lab_cli.commands import stand
from lab_cli.results import marks
from lab_cli.testing import standing
from lab_cli.testing.standing import Result


@pytest.fixture
def checkout(exercises, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two chapters of two, and an exercise that needs a GPU, on a machine that has none."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(stand.backend, "CACHE", tmp_path / "nothing.json")
    monkeypatch.setattr(stand, "shown", lambda path: str(path.relative_to(tmp_path)))
    exercises("ch03/second", FACTS.replace("10", "20"))
    exercises("ch03/first")
    exercises("ch04/third")
    exercises("ch04/fourth", FACTS.replace("10", "30"))
    exercises("ch04/wgmma", "gpu_only = true\n" + FACTS.replace("10", "20"))
    return tmp_path


@pytest.fixture
def tested(checkout: Path, monkeypatch: pytest.MonkeyPatch):
    """tested(first="passed", second="failed", third="changed"), and what ./lab says then."""
    known: dict[str, dict[str, Result]] = {}

    def note(backend: str = "cpu", **outcomes: str) -> None:
        sources = standing.digests()
        for name, outcome in outcomes.items():
            changed = outcome == "changed"
            result = Result("passed" if changed else outcome, "" if changed else sources[name])
            known.setdefault(name, {})[backend] = result

    monkeypatch.setattr(standing, "read", lambda: known)
    return note


def said(capsys: pytest.CaptureFixture[str]) -> str:
    assert main.main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert out.endswith("\n\n./lab --help lists all commands.\n")
    return out


def test_for_whoever_begins(checkout: Path, monkeypatch, capsys) -> None:
    """It starts and writes nothing."""
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    out = said(capsys)
    assert out.startswith("5 CUDA exercises in 2 chapters.")
    assert "\n  ch03   0 of  2 passed\n  ch04   0 of  2 passed  1 more needs a GPU\n" in out
    assert "\nBegin with first: About first.\n\n  ch03/first/README.md " in out
    assert "\n  ./lab run first " in out and "\n  ./lab test first " in out
    assert not standing.FILE.exists()


def test_what_was_never_tested_comes_in_order(tested, capsys) -> None:
    tested(first="passed", fourth="passed")
    out = said(capsys)
    assert out.startswith("2 of 4 exercises have passed their tests here.\n")
    assert "\n  ch03   1 of  2 passed\n  ch04   1 of  2 passed  1 more needs a GPU\n" in out
    assert "\nNext is second: About second.\n" in out
    assert "  ./lab run second " in out


def test_what_failed_comes_first(tested, capsys) -> None:
    tested(first="changed", fourth="failed")
    out = said(capsys)
    assert "  ch03   0 of  2 passed  changed since: first\n" in out
    assert "  ch04   0 of  2 passed  failed: fourth; 1 more needs a GPU\n" in out
    assert "\nNext is fourth: tests of it failed the last time.\n\n  ./lab test fourth  says" in out


def test_then_what_has_changed(tested, capsys) -> None:
    tested(first="passed", third="changed")
    out = said(capsys)
    assert "\nNext is third: it has changed since it was tested.\n\n  ./lab test third  says" in out


def test_when_all_is_done(tested, capsys) -> None:
    tested(first="passed", second="passed", third="passed", fourth="passed")
    out = said(capsys)
    assert out.startswith("All 4 exercises have passed their tests here.\n")
    assert "\nNext: an exercise of your own. ./lab new CHAPTER/NAME writes" in out


def test_with_a_gpu_all_can_be_done(tested, checkout: Path, capsys) -> None:
    tested(first="passed", second="passed", third="passed", fourth="passed")
    stand.backend.CACHE.touch()
    out = said(capsys)
    assert out.startswith("4 of 5 exercises") and "\nNext is wgmma: " in out and "need" not in out
    stand.backend.CACHE.unlink()
    tested("gpu", wgmma="passed")
    assert said(capsys).startswith("All 5 exercises have passed")


def test_many_names_are_cut(tested, exercises, capsys) -> None:
    names = [f"someExercise{number}" for number in range(9)]
    for number, name in enumerate(names, 1):
        exercises(f"ch05/{name}", FACTS.replace("10", f"{number}0"))
    tested(**dict.fromkeys(names, "failed"))
    out = said(capsys)
    assert "failed: someExercise0" in out and "someExercise3 and 5 more" in " ".join(out.split())


@pytest.mark.parametrize("columns", ["1", "60", "abc"])
def test_any_width(tested, monkeypatch, capsys, columns: str) -> None:
    tested(first="failed", second="changed")
    monkeypatch.setenv("COLUMNS", columns)
    assert "Next is first:" in said(capsys)


def test_an_exercise_that_cannot_be_read_is_named(checkout: Path, capsys) -> None:
    (checkout / "ch03" / "first" / "first.cu").unlink()
    (checkout / "ch04" / "third" / "exercise.toml").write_text("[[assignment")
    assert main.main([]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "first/first.cu is missing" in err and "third/exercise.toml: " in err


def test_the_project_begins_with_its_first_exercise(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = said(capsys)
    first = catalogue.exercises()[0]
    assert f"\nBegin with {first.name}: " in out
    assert f"\n  {first.chapter}/{first.name}/README.md" in out
    assert 12 <= len(out.splitlines()) <= 24


ASSIGNMENT = """
[[assignment]]
name = "{name}"
sentence = "Write in order."
stars = 1
kernels = ["better"]
before = "worse"
hints = ["Look.", "Think.", "Write."]
sizes = ["--size=10"]
check = "--size=10"
bounds = [{{ count = "gst_efficiency >= 95 %", options = "", goal = true }}]
"""


def test_open_assignments(exercises, checkout, capsys) -> None:
    exercises("ch03/first", FACTS + ASSIGNMENT.format(name="putInOrder"))
    facts = ASSIGNMENT.format(name="sumInRegisters") + ASSIGNMENT.format(name="padTheTile")
    third = exercises("ch04/third", FACTS + facts)
    first, _ = catalogue.one("third").facts.assignments
    graded = marks.digest(first, third)
    marks.record("sumInRegisters", 7.5, 10, graded)
    out = said(capsys)
    assert (
        "\n\nOpen assignments, with your points so far (./lab grade lists all):\n"
        "sumInRegisters 7.5 of 10; putInOrder - of 10; padTheTile - of 10.\n\n"
    ) in out
    marks.record("sumInRegisters", 10, 10, graded)
    assert "all):\nputInOrder - of 10; padTheTile - of 10.\n" in said(capsys)
    third.write_text("another")
    assert "sumInRegisters 10 of 10, changed since;" in said(capsys)


def test_of_many_open_assignments_a_few_are_named(exercises, checkout, capsys) -> None:
    facts = "".join(ASSIGNMENT.format(name=f"number{number}") for number in range(7))
    exercises("ch03/first", FACTS + facts)
    line = "number0 - of 10; number1 - of 10; number2 - of 10; number3 - of 10 and 3 more.\n"
    assert line in said(capsys)
