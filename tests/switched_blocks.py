"""Puts several rounds of changes of a source into one program, which a variable of the environment chooses from.

A change lies in a block of statements. In its place this writes a block for each round that changes it:

    { if (labRound() == 2) { ... } else if (labRound() == 3) { ... } else { ... } }
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lab_cli.paths import ROOT

sys.path.append(str(ROOT / "emulator"))

from translator.lexer import Lexer, Stream  # noqa: E402

VARIABLE = "LAB_ROUND"
HEADER = "lab_round.h"
HEADER_TEXT = f"""\
#pragma once
#include <cstdlib>
__host__ __device__ inline int labRound() {{
    static const int number = std::atoi(std::getenv("{VARIABLE}"));
    return number;
}}
"""


@dataclass(frozen=True)
class Change:
    """In one round, `new` stands in place of what is between two offsets in the text."""

    round: int
    start: int
    end: int
    new: str


def with_changes(text: str, changes: Iterable[Change]) -> str:
    """The text with changes of one round, which do not overlap."""
    for change in sorted(changes, key=lambda change: change.start, reverse=True):
        text = text[: change.start] + change.new + text[change.end :]
    return text


class Blocks:
    """Blocks of statements in a source."""

    def __init__(self, text: str) -> None:
        self._text = text
        stream = Lexer("", text).streams[0]
        self._places = []
        for index in range(len(stream.tokens)):
            end = stream.pair(index) if stream.text(index) == "{" else None
            if end is not None and _has_statements(stream, index):
                self._places.append((stream.tokens[index].end, stream.tokens[end].start))

    def have(self, change: Change) -> bool:
        """Whether the change lies in a block."""
        return bool(self._around(self._shortest(change)))

    def with_rounds(self, changes: Iterable[Change]) -> str:
        """The text in which labRound() chooses the changes of a round; each lies in a block."""
        changes = [self._shortest(change) for change in changes]
        chosen = {max(self._around(change)) for change in changes}
        switches = []
        for place in chosen:
            if not any(_contains(other, *place) for other in chosen - {place}):
                within = [each for each in changes if _contains(place, each.start, each.end)]
                switches.append(Change(0, *place, self._switch(place, within)))
        return f'#include "{HEADER}"\n{with_changes(self._text, switches)}'

    def _shortest(self, change: Change) -> Change:
        """The change without what stays as it is at both of its ends."""
        start, end, new = change.start, change.end, change.new
        while start < end and new and self._text[start] == new[0]:
            start, new = start + 1, new[1:]
        while start < end and new and self._text[end - 1] == new[-1]:
            end, new = end - 1, new[:-1]
        return Change(change.round, start, end, new)

    def _around(self, change: Change) -> list[tuple[int, int]]:
        """The places of the blocks that have the change; of the innermost, both offsets are the largest."""
        return [place for place in self._places if _contains(place, change.start, change.end)]

    def _switch(self, place: tuple[int, int], changes: Sequence[Change]) -> str:
        """The block's statements in each round that changes them, and as they are."""
        start, end = place
        block = self._text[start:end]
        text = ""
        for number in sorted({change.round for change in changes}):
            ours = (
                replace(change, start=change.start - start, end=change.end - start)
                for change in changes
                if change.round == number
            )
            text += f"if (labRound() == {number}) {{{with_changes(block, ours)}}} else "
        return f"{text}{{{block}}}"


def _contains(place: tuple[int, int], start: int, end: int) -> bool:
    return place[0] <= start and end <= place[1]


def _has_statements(stream: Stream, brace: int) -> bool:
    """Whether the brace opens the body of a function, a lambda, a loop or the like. That of a switch has
    labels, which cannot go into an `if`, and other braces hold members or values."""
    before = stream.text(brace - 1)
    opener = stream.pair(brace - 1) if before in (")", "]") else None
    if opener is None:
        return before in ("else", "do", "const", "mutable", "noexcept")
    if before == ")":
        return stream.text(opener - 1) != "switch"
    return stream.kind(opener - 1) != "name" and stream.text(opener - 1) not in ("]", ")")
