"""What a student has changed, in repositories of git as students have them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.catalogue import Exercise
from lab_cli.exercise_facts import Cases, Facts, Plan
from lab_course.reporting import changes
from lab_course.reporting.facts import Changes
from lab_course.reporting.text import Cleaner

IDENTITY = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"]


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), *IDENTITY, *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    write(folder, "x/x.cu", '#include "../y.h"\none\ntwo\n')
    write(folder, "y.h", "header\n")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "shipped")
    return folder


def of(folder: Path) -> Changes:
    exercise = Exercise("ch", "x", Facts(0, Plan([]), Cases([], {}, [])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "ROOT", folder)
        return changes.of(exercise, Cleaner())


def write(folder: Path, name: str, text: str) -> None:
    path = folder / "ch" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_nothing_has_been_changed(checkout: Path) -> None:
    found = of(checkout)
    assert found.problem == "" and found.files == []
    assert found.base.startswith("the last commit (")


def test_the_source_and_what_it_includes(checkout: Path) -> None:
    write(checkout, "x/x.cu", '#include "../y.h"\n#include "new.h"\none\nTWO\n')
    write(checkout, "y.h", "HEADER\n")
    write(checkout, "x/new.h", "mine\n")
    write(checkout, "x/other.h", "of nobody\n")
    found = {change.file: change.diff.text.splitlines()[2:] for change in of(checkout).files}
    assert found == {
        "ch/x/new.h": ["@@ -0,0 +1 @@", "+mine"],
        "ch/x/x.cu": [
            "@@ -1,3 +1,4 @@",
            ' #include "../y.h"',
            '+#include "new.h"',
            " one",
            "-two",
            "+TWO",
        ],
        "ch/y.h": ["@@ -1 +1 @@", "-header", "+HEADER"],
    }


def test_a_clone_is_compared_with_what_was_cloned(checkout: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", str(checkout), "clone")
    clone = tmp_path / "clone"
    write(clone, "x/x.cu", "mine\n")
    git(clone, "commit", "-am", "mine")
    write(checkout, "x/x.cu", "theirs\n")
    git(checkout, "commit", "-am", "theirs, later")
    git(clone, "fetch")
    found = of(clone)
    assert found.base.startswith("the version of origin/HEAD that this one comes from (")
    assert [line for line in found.files[0].diff.text.splitlines() if line[0] == "-"][1:] == [
        '-#include "../y.h"', "-one", "-two"
    ]  # fmt: skip


def test_a_hand_out_has_a_tag(checkout: Path, tmp_path: Path) -> None:
    write(checkout, "x/x.cu", "TODO\n")
    git(checkout, "commit", "-am", "for students")
    git(checkout, "tag", "-m", "handed out", "handout")
    git(tmp_path, "clone", str(checkout), "clone")
    write(checkout, "x/x.cu", "solved\n")
    git(checkout, "commit", "-am", "solved")
    for folder in (checkout, tmp_path / "clone"):
        assert of(folder).base.startswith("the tag handout (")
    lines = of(checkout).files[0].diff.text.splitlines()
    assert lines[3:] == ["-TODO", "+solved"]


def test_a_new_exercise_is_all_new(checkout: Path) -> None:
    git(checkout, "rm", "--cached", "-r", "ch")
    git(checkout, "commit", "-m", "without")
    assert [change.file for change in of(checkout).files] == ["ch/x/x.cu", "ch/y.h"]


def test_without_history_it_says_so(tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, "x/x.cu", "x")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert of(tmp_path).problem.startswith("this is no checkout of git")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert of(tmp_path).problem.startswith("git is not installed")


def test_a_long_diff_is_cut(checkout: Path) -> None:
    write(checkout, "x/x.cu", "".join(f"{number}\n" for number in range(100_000)))
    (change,) = of(checkout).files
    assert change.diff.left_out > 400_000 and len(change.diff.text) < 20_000
