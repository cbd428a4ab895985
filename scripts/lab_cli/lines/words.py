"""Puts words together for a terminal."""

from __future__ import annotations

import textwrap

CUT = "..."


def wrapped(text: str, width: int, first: str = "", others: str | None = None) -> list[str]:
    """Lines of at most `width` characters, as far as the words allow it; `first` stands in front of the first
    line, `others` in front of the rest."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - len(CUT))] + CUT


def several(count: int, one: str, more: str = "") -> str:
    """A number and what it counts; `more` stands for several where that is not `one` with an s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
