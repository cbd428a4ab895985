"""Whether what a program prints depends on the order in which its threads run: ./lab check --schedules."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .errors import LabError
from .process import describe, status_of
from .time_limit import TimeLimit

SEED = "CUDA_EMULATOR_SEED"  # of the order, for an instrumented program
PRINTF = "CUDA_EMULATOR_PRINTF"  # names the file that kernels print to

WORD = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])"  # a number
    r"|\w+|[^\w\s]"
)
# The unit of a time, of a rate, or of a ratio of times. A number in front of it is none of the results.
UNIT = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*"
    r"(?:[nuµm]?s|sec|seconds?|min|x|cycles|clocks|ticks|[kKMGT]?i?B/s|[kMGT]?[bB]ytes/s"
    r"|[kMGT]?Hz|[kMGT]?FLOP/?[sS]|[kMGT]?flops|[kMGT]?\w+/s(?:ec)?)(?![\w/])"
)
ABOUT_TIME = re.compile(
    r"\btim(?:e|es|ing)\b|elapsed|duration|speed|bandwidth|throughput|latency|\btook\b|\bms\b|\bus\b"
    r"|cycles|clock|FLOPS|B/s|/sec\b",
    re.IGNORECASE,
)
ABOUT_ERROR = re.compile(r"err|diff|deviat|residual|delta|norm|toleran", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

# Sums of floats differ with the order of their terms, also in right programs: such numbers are taken for
# equal, and so are two errors that are both this small.
CLOSE, SMALL, SMALL_ERROR = 1e-4, 1e-5, 1e-2
LONGEST = 76  # characters of a line that is shown

Words = Optional[list[Optional[str]]]  # None for what varies by itself; or the whole line does


@dataclass(frozen=True)
class Printed:
    status: int
    lines: list[str]  # of the host
    of_kernels: str  # in no order


@dataclass(frozen=True)
class Difference:
    seed: int
    usual: str
    other: str


class NotCompared(Exception):
    """Says why."""


def run(program: Sequence[str], seed: int | None) -> Printed:
    """An instrumented program with the usual order, or that of a seed."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        file = Path(folder) / "printf"
        variables = {**os.environ, PRINTF: str(file)}
        variables.pop(SEED, None)
        if seed is not None:
            variables[SEED] = str(seed)
        done = subprocess.run(
            program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
        )
        of_kernels = file.read_text(errors="replace") if file.exists() else ""
    lines = done.stdout.decode(errors="replace").splitlines()
    return Printed(status_of(done.returncode), lines, of_kernels)


def difference(program: Sequence[str], seeds: int, limit: TimeLimit) -> Difference | None:
    """The first of so many seeds with which the program prints something else than in the usual order.
    Each run may take as long as the limit says. NotCompared where that cannot be known."""

    def limited(seed: int | None) -> Printed:
        limit.begin()
        printed = run(program, seed)
        try:
            limit.check()
        except LabError as error:
            if seed is None:
                raise
            limit.passed = False  # or its block would end without the seed
            raise LabError(f"{error}; it ran with {SEED}={seed}") from None
        return printed

    first = limited(None)
    if not first.lines and not first.of_kernels:
        raise NotCompared("the program prints nothing")
    usual = Usual(first, limited(None))
    for seed in range(1, seeds + 1):
        found = usual.compare(limited(seed), seed)
        if found and usual.compare(limited(seed), seed) == found:
            return found
    return None


class Usual:
    """What a program prints in the usual order, as two runs show it."""

    def __init__(self, one: Printed, two: Printed) -> None:
        if len(one.lines) != len(two.lines):
            raise NotCompared("the program prints another number of lines each time")
        self.printed = one
        self.lines = [stable(a, b) for a, b in zip(one.lines, two.lines)]
        self.kernels_vary = not same_words(one.of_kernels, two.of_kernels)

    def compare(self, other: Printed, seed: int) -> Difference | None:
        """The first difference; a line that the other run does not have is empty."""
        if other.status != self.printed.status:
            return Difference(seed, describe(self.printed.status), describe(other.status))
        for i, line in enumerate(self.lines):
            text = other.lines[i] if i < len(other.lines) else ""
            if line is not None and not matches(line, text):
                return Difference(seed, shown(self.printed.lines[i]), shown(text))
        for text in other.lines[len(self.lines) :]:
            return Difference(seed, "", shown(text))
        if self.kernels_vary or same_words(self.printed.of_kernels, other.of_kernels):
            return None
        return Difference(seed, *first_difference(self.printed.of_kernels, other.of_kernels))


def words(line: str) -> list[str | None]:
    """The words of a line, with None for numbers that are times."""
    of_time = [range(*match.span()) for match in UNIT.finditer(line)]
    all_of_time = not of_time and ABOUT_TIME.search(line) is not None
    found: list[str | None] = []
    for match in WORD.finditer(line):
        is_time = all_of_time or any(match.start() in span for span in of_time)
        found.append(None if is_time and NUMBER.match(match.group()) else match.group())
    return found


def stable(one: str, two: str) -> Words:
    """What two runs of the same order have in common."""
    if len(words(one)) != len(words(two)):
        return None
    return [a if a == b else None for a, b in zip(words(one), words(two))]


def matches(line: Sequence[str | None], text: str) -> bool:
    others = words(text)
    is_error = ABOUT_ERROR.search(text) is not None
    return len(line) == len(others) and all(
        a is None or b is None or same(a, b, is_error) for a, b in zip(line, others)
    )


def same(one: str, two: str, is_error: bool = False) -> bool:
    """Whether two words are equal, or floating-point numbers that are about so."""
    if one == two:
        return True
    if not (NUMBER.fullmatch(one) and NUMBER.fullmatch(two)):
        return False
    if re.fullmatch(r"[-+]?\d+", one) and re.fullmatch(r"[-+]?\d+", two):
        return int(one) == int(two)
    a, b = float(one), float(two)
    if is_error and max(abs(a), abs(b)) < SMALL_ERROR:
        return True
    return abs(a - b) <= CLOSE * max(abs(a), abs(b)) + SMALL


def key(word: str) -> tuple[int, float | str]:
    """Sorts the numbers by their value, behind the other words."""
    return (1, float(word)) if NUMBER.fullmatch(word) else (0, word)


def same_words(one: str, two: str) -> bool:
    """Whether kernels have printed the same, whichever thread came first."""
    texts = []
    for text in (one, two):
        found = [word for line in text.splitlines() for word in words(line) if word is not None]
        texts.append(sorted(found, key=key))
    return len(texts[0]) == len(texts[1]) and all(map(same, *texts))


def first_difference(one: str, two: str) -> tuple[str, str]:
    """A line of each that the other has not."""
    lines = [text.splitlines() for text in (one, two)]
    only = [
        next((line for line in mine if line not in {*others}), "")
        for mine, others in (lines, lines[::-1])
    ]
    return shown(only[0]), shown(only[1])


def shown(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
