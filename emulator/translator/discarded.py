"""Finds calls of CUDA's API, in host code, whose result the program drops, for the instrumented
build: ::emu::Discarded (emu/discarded.h) tells the hazard check if such a call fails."""

from typing import Callable

from .lexer import Stream

Edit = tuple[int, int, str]  # replaces source text [start, end)

BEFORE_STATEMENT = {"", ";", "{", "}", "else", "do"}
BEFORE_CONDITION = {"if", "for", "while"}
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
        if stream.text(i - 1) in BEFORE_STATEMENT or _ends_condition(stream, i - 1):
            result.append((token.start, token.start, f'::emu::Discarded("{token.text}"), '))
    return result


def _ends_condition(stream: Stream, index: int) -> bool:
    opener = stream.pair(index) if stream.text(index) == ")" else None
    return opener is not None and stream.text(opener - 1) in BEFORE_CONDITION
