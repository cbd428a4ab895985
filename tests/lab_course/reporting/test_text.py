"""What a program printed, in a report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab_cli.paths import ROOT
from lab_course.reporting.text import Cleaner, cut, plain


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[Hx\x1b(By\x1bcz", "xyz"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("a\rb\x08\x00\x7f", "a\\rb\\x08\\x00\\x7f"),
        ("\x1b", "\\x1b"),
        ("rtl \u202e \u200b \udc80", "rtl \\u202e \\u200b \\udc80"),
        ("µ → ü", "µ → ü"),
    ],
)
def test_what_a_terminal_obeys_is_taken_out_and_what_is_unseen_is_escaped(
    printed: str, expected: str
) -> None:
    assert plain(printed) == expected


def test_long_texts_keep_their_beginning_and_their_end() -> None:
    assert cut("abc", 3).left_out == 0
    found = cut("a" * 50 + "b" * 1000 + "c" * 50, 100)
    assert found.text == f"{'a' * 50}\n[... 1,000 characters left out ...]\n{'c' * 50}"
    assert found.left_out == 1000


def test_many_lines_are_long_too() -> None:
    text = "".join(f"{number}\n" for number in range(1000))
    found = cut(text, 10_000, 4)
    assert found.text.splitlines()[:2] == ["0", "1"]
    assert found.text.splitlines()[-2:] == ["998", "999"]
    assert found.left_out == len(text) - len("0\n1\n998\n999\n")
    few = cut(text, 20, 4)
    assert few.left_out == found.left_out  # both limits hold
    assert len(cut("".join("x" * 999 + "\n" for _ in range(1000)), 50, 4).text) < 100


def test_paths_of_the_machine_are_taken_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "anna"))
    (tmp_path / "link").symlink_to(tmp_path)
    clean = Cleaner([str(tmp_path / "link" / "mine.cu")])
    assert (
        clean(f"{ROOT}/ch04_memory/transpose/transpose.cu:3: error")
        == "ch04_memory/transpose/transpose.cu:3: error"
    )
    assert clean(f"{tmp_path}/mine.cu:1 {tmp_path}/link/mine.cu:2") == "mine.cu:1 mine.cu:2"
    elsewhere = Cleaner()
    assert elsewhere(f"{tmp_path}/home/anna/x/y") == "~/x/y"
    assert elsewhere(f"{ROOT}-other/x") == f"{ROOT}-other/x"


def test_a_file_named_without_a_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Cleaner(["mine.cu"])(f"{os.getcwd()}/mine.cu") == "mine.cu"
