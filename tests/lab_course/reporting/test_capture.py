"""A student's program is run, and what it prints is kept within bounds."""

from __future__ import annotations

import sys

import pytest
from lab_cli.errors import LabError
from lab_course.reporting import capture


def python(code: str) -> list[str]:
    return [sys.executable, "-c", f"import os, sys; {code}"]


def test_a_program_gets_no_input() -> None:
    assert capture.run(python("print(repr(sys.stdin.read()))"), None, True).out.text == "''\n"


def test_much_is_kept_in_part(monkeypatch) -> None:
    monkeypatch.setattr(capture, "MOST_ERR", 100)
    code = "os.write(2, b'a' * 50 + b'b' * 10_000_000 + b'c' * 50)"
    found = capture.run(python(code), None, together=False).err
    assert found.left_out == 10_000_000
    assert found.text == f"{'a' * 50}\n[... 10,000,000 characters left out ...]\n{'c' * 50}"


def test_what_cannot_be_run() -> None:
    with pytest.raises(LabError, match="cannot run /nowhere/program"):
        capture.run(["/nowhere/program"], None, True)


def test_bytes_that_are_no_text() -> None:
    assert capture.run(python("os.write(1, b'\\xff')"), None, True).out.text == "\ufffd"
