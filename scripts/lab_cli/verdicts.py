"""Verdicts: what stands in the column `check` of an exercise's rows, and the words of lab's own
summaries."""

from __future__ import annotations

import os
import re
from typing import TextIO

OK = "ok"
# A kernel that shows a race: one was seen, or none was, which is luck.
RACE, LUCKY = "race", "lucky"
GOOD = {OK, RACE, LUCKY}
WRONG = "WRONG"
WRONG_ROW = "    WRONG: "  # how an exercise begins its line about a wrong row (common/exercise.cpp)


def only_wrong(status: int, output: str) -> bool:
    """Whether an exercise that printed this ended with this exit status because of WRONG rows."""
    return status == 1 and any(line.startswith(WRONG_ROW) for line in output.splitlines())


# As in common/table.cpp: green, bold red, bold yellow.
STYLES = {"ok": "32", "FAILED": "1;31", "refused": "1;31", "skipped": "1;33"}


def in_colour(out: TextIO) -> bool:
    """Are colours welcome where `out` leads?"""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return not refused and out.isatty()


def styled(text: str, out: TextIO) -> str:
    """`text`, its verdicts in colour where `out` takes it."""
    if not in_colour(out):
        return text
    return re.sub(
        rf"\b({'|'.join(STYLES)})\b", lambda word: f"\x1b[{STYLES[word[1]]}m{word[1]}\x1b[0m", text
    )
