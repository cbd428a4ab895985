"""Puts numbers and words together for a terminal."""

from __future__ import annotations

import textwrap

CUT = "..."
NO_BREAK = "\u00a0"  # a space at which no line ends


def wrapped(text: str, width: int, first: str = "", others: str | None = None) -> list[str]:
    """Lines of at most `width` characters, as far as the words allow it; `first` stands in front of the first
    line, `others` in front of the rest. A number stays with its %."""
    lines = textwrap.wrap(
        text.replace(" %", NO_BREAK + "%"),
        width,
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - len(CUT))] + CUT


def number(value: float, digits: int = 3) -> str:
    """Whole numbers, and those with as many digits before the point, in full; others with a few digits: 1,024
    or 12.5 or 4."""
    if float(value).is_integer() or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def several(count: float, one: str, more: str = "") -> str:
    """A number and what it counts; `more` stands for several where that is not `one` with an s."""
    return f"{number(count)} {one if count == 1 else more or f'{one}s'}"
