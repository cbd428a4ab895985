"""What somebody typed, in a message."""

from __future__ import annotations

import pytest
from lab_cli.errors import LONGEST, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"),
        ("transpose", "transpose"),
        ("a b", "a b"),
        ("größe", "größe"),
        ("a\nb\tc\rd\0e", r"a\nb\tc\rd\x00e"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\udcff\udc80", r"\xff\x80"),
        ("\ud800", r"\ud800"),
        ("\u202e", r"\u202e"),  # writes from right to left
        ("x" * LONGEST, "x" * LONGEST),
        ("x" * (LONGEST + 1), "x" * (LONGEST - 3) + "..."),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown
