"""Lays text out for a terminal of any width."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

LEAST_BESIDE = 30  # characters of a text beside its word; where there are fewer, it stands below


def wrapped(text: str, width: int, first: str = "", others: str = "") -> str:
    """In lines of at most `width` characters, as far as its words allow it; `first` stands in front of
    the first line, `others` in front of the rest."""
    return textwrap.fill(
        text,
        max(width, 20),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def two_columns(rows: Mapping[str, str], width: int) -> str:
    """What to type, and what it does."""
    column = 2 + max(map(len, rows)) + 2
    lines = []
    for word, text in rows.items():
        if width - column >= LEAST_BESIDE:
            lines.append(wrapped(text, width, f"  {word:<{column - 2}}", " " * column))
        else:
            lines += [f"  {word}", wrapped(text, width, " " * 6, " " * 6)]
    return "\n".join(lines)
