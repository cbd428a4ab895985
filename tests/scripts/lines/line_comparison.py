"""Compares the cpu back end's counts of each line with those that ncu read of the optimised build on a GPU.

Requests, sectors or wavefronts, and the least of these must be equal, unless a Difference says otherwise.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from line_table import Amounts, Key, Table

# What the GPU's numbers are instead.
FEWER = "fewer"  # in no column more, and in one less
MORE = "more"  # likewise
TOGETHER = "together"  # equal in the sum over all lines of the kernel


@dataclass(frozen=True)
class Difference:
    """`kernels` and `accesses` are regular expressions; the latter for such as "own global load"."""

    exercise: str
    kernels: str
    accesses: str
    now: str
    reason: str
    not_on: str = ""  # a processor on which the two may be equal

    def is_of(self, key: Key) -> bool:
        return (
            self.exercise == key.exercise
            and re.fullmatch(self.kernels, key.kernel) is not None
            and re.fullmatch(self.accesses, f"{key.whose} {key.access}") is not None
        )


AT_ONCE = "-O3 reads or writes several words at once, which the source has one by one"
CALL_SITES = "one function is called from several lines, and -O3 gives its code some of them"

DIFFERENCES = [
    Difference("matmul", "matmulTiled<.*>", "own shared load", FEWER, AT_ONCE),
    Difference("compensatedSum", "reduceCompensated(Shuffle)?", ".* shared (load|store)", FEWER,
               AT_ONCE, not_on="aarch64"),  # where g++ does so, too
    Difference("matmulFast", r"(fragmentsAhead|zigzag|grouped|splitK)<.>", "own (global|shared) copy", TOGETHER,
               "-O3 gives copies of A, in a function that is called from several lines, the line of "
               "the copies of B"),
    Difference("reduceFloat", "reduceOneLaunch", "called shared (load|store)", TOGETHER,
               "nvcc has the number of the calling line, but not its file"),
    Difference("structLayouts", "allSoaFloat4", "called global load", TOGETHER, CALL_SITES),
]  # fmt: skip


def problems(
    read: Table, counted: Table, differences: Sequence[Difference] = DIFFERENCES
) -> list[str]:
    """Returns a line for each problem with the kernels that were `read`."""
    kernels = {key.launch for key in read}
    missing = kernels - {key.launch for key in counted}
    found = [f"not counted: {', '.join(launch)}" for launch in sorted(missing)]
    keys = {key for key in {*read, *counted} if key.launch in kernels - missing}
    used = set()
    for key in sorted(keys):
        there, here = read.get(key, Amounts()), counted.get(key, Amounts())
        if _are_equal(there, here):
            continue
        difference = next((each for each in differences if each.is_of(key)), None)
        used.add(difference)
        if difference is None or not _holds(difference, key, read, counted):
            found.append(f"{key}: {here}, ncu {there}")
    exercises = {key.exercise for key in read}
    outlived = [
        each
        for each in differences
        if each not in used and each.exercise in exercises and each.not_on != platform.machine()
    ]
    return found + [f"no difference any more: {each.kernels}: {each.reason}" for each in outlived]


def _are_equal(there: Amounts, here: Amounts) -> bool:
    if there.at_most and here.requests <= there.requests:
        return (there.units, there.least) == (here.units, here.least)
    return _numbers(there) == _numbers(here)


def _holds(difference: Difference, key: Key, read: Table, counted: Table) -> bool:
    there, here = read.get(key, Amounts()), counted.get(key, Amounts())
    if difference.now == FEWER:
        return all(a <= b for a, b in zip(_numbers(there), _numbers(here)))
    if difference.now == MORE:
        return all(a >= b for a, b in zip(_numbers(there), _numbers(here)))
    return _are_equal(_sum(read, key), _sum(counted, key))


def _numbers(amounts: Amounts) -> tuple[int, int, int]:
    return amounts.requests, amounts.units, amounts.least


def _sum(table: Table, like: Key) -> Amounts:
    """Of all lines of the kernel."""
    return sum(_alike(table, like), Amounts())


def _alike(table: Table, like: Key) -> Iterable[Amounts]:
    wanted = (like.launch, like.whose, like.access)
    return (table[key] for key in table if (key.launch, key.whose, key.access) == wanted)
