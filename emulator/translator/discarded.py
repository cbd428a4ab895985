"""Finds calls of CUDA's API, in host code, whose result the program drops, for the instrumented
build: ::emu::Discarded (emu/discarded.h) tells the hazard check if such a call fails."""

from typing import Callable

from .lexer import Stream

Edit = tuple[int, int, str]  # replaces source text [start, end)

BEFORE_STATEMENT = {"", ";", "{", "}", "else", "do"}
BEFORE_CONDITION = {"if", "constexpr", "for", "while"}
# They are there to look at errors, or fetch the last one for good.
LOOK = {"cudaGetLastError", "cudaPeekAtLastError"}


def discarded_edits(stream: Stream, in_device: Callable[[int], bool]) -> list[Edit]:
    result: list[Edit] = []
    for i, token in enumerate(stream.tokens):
        if token.kind != "name" or not token.text.startswith("cuda") or token.text in LOOK:
            continue
        close = stream.pair(i + 1) if stream.text(i + 1) == "(" else None
        if close is None or stream.text(close + 1) != ";" or in_device(i):
            continue
        if _begins_statement(stream, i):
            space = " " if stream.text(i - 1) == ":" else ""  # a `:::` would be `::` and `:`
            edit = f'{space}::emu::Discarded("{token.text}"), '
            result.append((token.start, token.start, edit))
    return result


def _begins_statement(stream: Stream, index: int) -> bool:
    before = stream.text(index - 1)
    return (
        before in BEFORE_STATEMENT
        or (before == ":" and _ends_label(stream, index - 1))
        or _ends_condition(stream, index - 1)
    )


def _ends_label(stream: Stream, colon: int) -> bool:
    """Whether this `:` is that of `case 1:` or `name:`, not that of a `?:`."""
    i = colon - 1
    if stream.kind(i) == "name" and _begins_statement(stream, i):
        return True
    while stream.text(i) not in ("", ";", "{", "}", "?", ":", "case"):
        opener = stream.pair(i) if stream.text(i) in (")", "]") else None
        i = (i if opener is None else opener) - 1
    return stream.text(i) == "case"


def _ends_condition(stream: Stream, index: int) -> bool:
    opener = stream.pair(index) if stream.text(index) == ")" else None
    return opener is not None and stream.text(opener - 1) in BEFORE_CONDITION
