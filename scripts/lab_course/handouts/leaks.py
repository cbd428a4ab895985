"""Looks for what is left of a solution.

A solution is the bodies that a hand-out lacks. Its *statements* are what ends with a semicolon or stands
before a brace, whatever the layout and the comments. One is *telling* if it

- has eight tokens or more,
- is not the head of a loop or a condition alone, and
- stands in no function above it in its file, which a student has read, and
- is not in every other exercise as well, as the index of a thread is.

What gives the solution away is a function of the same file, another file, or an answer on a page, with a
third of the telling statements or more, or with the body as a whole. Of a file that belongs to the
exercise a single one is enough. So `const std::size_t i = ...`, which twenty exercises have, is nothing to
hide, but the one line in which a padded tile differs from the tile before it is.

It cannot see the same idea in other words, or with other names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from ..grading.kernel_source import Function, KernelSource, replaced

from translator.lexer import Lexer  # isort: skip  # kernel_source.py says where it is

LEAST_TOKENS = 8
MANY = 5  # exercises that have a statement: everybody knows it
SHARE = 3  # a third
HEADS = {"for", "while", "if", "else", "switch"}
INITIALISED = re.compile(r"[\w=,(>\]]")  # before a brace that begins no block


@dataclass(frozen=True)
class Solution:
    """A body that is not there; texts without any space."""

    kernel: str
    exercise: str
    telling: list[str]
    whole: str  # empty where it is too short to tell anything

    def found(self, text: Text, alone: bool) -> str:
        """The first telling statement that `text` has, if it gives the solution away; `alone`: if there is
        one at all. Else empty."""
        if self.whole and (self.whole in text.squeezed or self.whole in text.code):
            return self.whole
        there = [each for each in self.telling if each in text.squeezed or each in text.code]
        enough = bool(there) if alone else len(there) * SHARE >= len(self.telling)
        return there[0] if there and enough else ""


class Text:
    """A file, or a part of one."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    @cached_property
    def squeezed(self) -> str:
        """Without spaces, and without what makes a line a comment."""
        return "".join(map(_squeezed, self._lines))

    @cached_property
    def code(self) -> str:
        """Without comments, too."""
        return "".join(map(_code, self._lines))

    def line(self, statement: str) -> int:
        """The number of the line in which it begins."""
        for of_line, text in ((_squeezed, self.squeezed), (_code, self.code)):
            if statement in text:
                ends = [*accumulate(len(of_line(line)) for line in self._lines)]
                return bisect_right(ends, text.index(statement)) + 1
        return 1


def _squeezed(line: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"^\s*//", "", line))


def _code(line: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"//.*", "", line))


def solutions(
    source: KernelSource,
    exercise: str,
    kernels: Iterable[str],
    hidden: Iterable[str],
    others: Collection[Text] = (),
) -> list[Solution]:
    """Of these kernels, as they are shipped; `others` are the programs of the other exercises."""
    gone = {*kernels, *hidden}
    return [_solution(source, exercise, source.function(name), gone, others) for name in kernels]


def _solution(
    source: KernelSource,
    exercise: str,
    function: Function,
    gone: set[str],
    others: Collection[Text],
) -> Solution:
    above = {
        "".join(statement)
        for other in [*source.functions, *source.host_functions]
        if other.start < function.start and other.name not in gone
        for statement in _statements(source.text[other.body : other.end])
    }
    body = source.text[function.body : function.end]
    own = [*_statements(body)]
    telling = ["".join(each) for each in own if len(each) >= LEAST_TOKENS and not _is_head(each)]
    long_enough = sum(map(len, own)) >= LEAST_TOKENS
    whole = "".join(map(_code, body.splitlines())) if long_enough else ""
    new = [
        each
        for each in dict.fromkeys(telling)
        if each not in above and sum(each in other.code for other in others) < MANY
    ]
    return Solution(function.name, exercise, new, whole)


def _statements(body: str) -> Iterator[list[str]]:
    """Their tokens, without the semicolon."""
    statement: list[str] = []
    inner = 0  # brackets of it that are open
    for token in Lexer("", body).streams[0].tokens:
        text = token.text
        if text in ("(", "[") or (text == "{" and (inner or _initialises(statement))):
            inner += 1
        elif inner and text in (")", "]", "}"):
            inner -= 1
        elif not inner and text in (";", "{", "}"):
            if statement:
                yield statement
            statement = []
            continue
        statement.append(text)
    if statement:
        yield statement


def _initialises(statement: Sequence[str]) -> bool:
    """Whether a brace behind these tokens begins no block: behind a name, or `=`."""
    return bool(
        statement and statement[-1] not in ("else", "do") and INITIALISED.match(statement[-1][-1])
    )


def _is_head(statement: Sequence[str]) -> bool:
    """Of a loop or a condition, whose body stands in braces."""
    if statement[0] not in HEADS:
        return False
    depth = 0
    for i, token in enumerate(statement):
        depth += (token == "(") - (token == ")")
        if token == ")" and depth == 0:
            return i == len(statement) - 1
    return False


@dataclass(frozen=True)
class Leak:
    solution: Solution
    path: Path
    line: int
    advice: str

    def __str__(self) -> str:
        of = f"{self.solution.kernel} of {self.solution.exercise}"
        return f"{self.path.as_posix()}:{self.line}: a part of the solution, {of}: {self.advice}"


def in_source(
    solution: Solution, written: KernelSource, shipped: KernelSource, kernels: Collection[str]
) -> list[Leak]:
    """In the exercise's own NAME.cu: functions that have what none above has, but for `kernels`, which
    students write; and what is no function."""
    path = Path(shipped.path)
    stay = {function.name for function in written.functions} - {*kernels}
    leaks = []
    for function in shipped.functions:
        body = Text(shipped.text[function.body : function.end])
        found = solution.found(body, alone=False) if function.name in stay else ""
        if found:
            line = shipped.line(function.body) + body.line(found) - 1
            names = ", ".join(f'"{name}"' for name in _kernels_with(function.name, shipped))
            advice = f"{function.name}, which stays, has it: hides = [{names}] takes it away"
            leaks.append(Leak(solution, path, line, advice))
    bodies = [(function.body, function.end, "") for function in written.functions]
    leak = in_file(solution, Text(replaced(written.text, bodies)), path, (), shipped.text)
    return [*leaks, leak] if leak else leaks


def _kernels_with(name: str, source: KernelSource) -> Iterator[str]:
    """A kernel itself; of another function, the kernels that call it."""
    calling = {name}
    for _ in source.functions:
        calling |= {each.name for each in source.functions if each.names & calling}
    for function in source.functions:
        if function.name in calling and function.is_kernel:
            yield function.name


def in_file(
    solution: Solution, text: Text, path: Path, users: Collection[str], shipped: str
) -> Leak | None:
    """In `text`, of any file but that. `users`: exercises that have the file or include it. The line is that
    of `shipped`, the file in the checkout."""
    found = solution.found(text, alone=solution.exercise in path.parent.parts)
    if not found:
        return None
    advice = "it has to go from there"
    if users and solution.exercise not in users:
        names = ", ".join(f'"{name}"' for name in users)
        advice = f"leaves_out = [{names}] takes it away"
    return Leak(solution, path, Text(shipped).line(found), advice)
