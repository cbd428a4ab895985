"""The source that a profile speaks of: its lines, and which functions of device code they are in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..paths import ROOT

# The translator of the cpu back end knows where a function of CUDA begins and ends.
sys.path.append(str(ROOT / "emulator"))

from translator.lanes import Function as Found  # noqa: E402
from translator.lanes import device_functions  # noqa: E402
from translator.lexer import Lexer, Stream, TranslateError  # noqa: E402

DEVICE_WORDS = {"__global__", "__device__"}
LAMBDA = "a lambda"  # the name of those that have none
TAB = 4


@dataclass(frozen=True)
class Function:
    """A function of device code; lines are counted from 1."""

    name: str
    first: int  # line of its name
    last: int  # line of its closing brace
    is_kernel: bool
    parameters: tuple[str, ...]  # their names


def lines_of(file: Path) -> tuple[str, ...]:
    """Without their ends, and with ? for what cannot be seen; empty where the file cannot be read."""
    return _lines(_text(file))


def line_of(file: Path, number: int) -> str:
    """Empty where there is none."""
    lines = lines_of(file)
    return lines[number - 1] if 1 <= number <= len(lines) else ""


def functions_of(file: Path) -> tuple[Function, ...]:
    """Those of device code that the file defines; none where it cannot be read."""
    return _functions(str(file), _text(file))


def _text(file: Path) -> str:
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError:
        return ""


def name_of(function: Function) -> str:
    """As sentences have it."""
    return function.name if function.name == LAMBDA else f"{function.name}()"


@lru_cache(maxsize=64)
def _read(file: Path, _: int) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


@lru_cache(maxsize=64)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(_printable(line.expandtabs(TAB).rstrip()) for line in text.split("\n"))


def _printable(line: str) -> str:
    """Without what a terminal takes as a command."""
    return line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line)


@lru_cache(maxsize=64)
def _functions(path: str, text: str) -> tuple[Function, ...]:
    try:
        stream = Lexer(path, text).streams[0]
    except TranslateError:
        return ()
    found = device_functions(stream, DEVICE_WORDS)
    return tuple(_function(stream, text, each) for each in found)


def function_at(file: Path, line: int) -> Function | None:
    """The function that the line is in."""
    around = [each for each in functions_of(file) if each.first <= line <= each.last]
    return max(around, key=lambda each: each.first, default=None)


def _function(stream: Stream, text: str, found: Found) -> Function:
    named = next(
        i
        for i in range(found.start, found.body)
        if stream.text(i) == found.name and stream.text(i + 1) == "("
    )
    return Function(
        LAMBDA if found.name in DEVICE_WORDS else found.name,
        _line(text, stream.tokens[named].start),
        _line(text, stream.tokens[found.end].start),
        found.is_kernel,
        _parameters(stream, named + 1),
    )


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _parameters(stream: Stream, opened: int) -> tuple[str, ...]:
    """The last name of each parameter, which is its own."""
    end = stream.pair(opened)
    names: list[str] = []
    last, depth, is_value = "", 0, False
    for i in range(opened + 1, end or opened):
        word = stream.text(i)
        if word in "([{<" and word:
            depth += 1
        elif word in ")]}>" and word:
            depth -= 1
        elif word == "," and depth == 0:
            names.append(last)
            last, is_value = "", False
        elif word == "=" and depth == 0:
            is_value = True
        elif stream.kind(i) == "name" and not is_value and depth == 0:
            last = word
    return (*names, last) if last or names else ()
