"""What the tests say of each exercise, apart from each other: are its results right, does the hazard check
find nothing, are its counts those of a GPU, and does it take its options?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from xml.etree import ElementTree

from ..errors import LabError
from .listing import ABOUT, CTest

RUN, FAIL, NOT_RUN = "run", "fail", "notrun"  # outcomes, in ctest's words
SKIPPED = "skipped: "  # begins the line in which a test says why
OTHERS = "other tests"
OF_PYTEST = re.compile(r"(?:FAILED|ERROR) (\S+\.py\b.*)")  # of its short summary: a test, and why
# The line of a case that cmake/check_exercise.py has tried.
OF_EXERCISE = re.compile(r"(ok     |FAILED |skipped) (.*)")
NOTE = re.compile(r"note    (.*)")
OUTCOMES = {"ok": RUN, "FAILED": FAIL, "skipped": NOT_RUN}


@dataclass(frozen=True)
class Case:
    """One case of a test: a command, where the test tries several."""

    name: str
    test: CTest
    outcome: str  # RUN, FAIL, or NOT_RUN where it was skipped
    printed: str = ""
    notes: tuple[str, ...] = ()  # what a student may want to know, right or wrong

    @property
    def about(self) -> str:
        return self.test.about


def cases(junit: str, tests: Iterable[CTest]) -> list[Case]:
    """The cases of the tests that ran, from the XML of `ctest --output-junit`. LabError if it is none."""
    try:
        elements = ElementTree.fromstring(junit).findall("testcase")
    except ElementTree.ParseError as error:
        raise LabError(f"cannot read what ctest wrote of its results: {error}") from error
    known = {test.name: test for test in tests}
    found: list[Case] = []
    for element in elements:
        name = element.get("name", "")
        test = known.get(name, CTest(0, name, (), frozenset()))
        printed = element.findtext("system-out", "")
        found += of_test(test, element.get("status", ""), printed)
    return found


def of_test(test: CTest, outcome: str, printed: str) -> list[Case]:
    """The cases that a test names in what it printed, or else the test as one case."""
    found = [*_named(test, printed)] if test.about else []
    if outcome not in (RUN, NOT_RUN) and not any(case.outcome == FAIL for case in found):
        return [*found, Case(test.name, test, FAIL, printed)]  # it crashed, or took too long
    return found or [Case(test.name, test, outcome, printed)]


def _named(test: CTest, printed: str) -> Iterator[Case]:
    before: list[str] = []
    notes: list[str] = []
    for line in printed.splitlines():
        head, note = OF_EXERCISE.fullmatch(line), NOTE.fullmatch(line)
        if note:
            notes.append(note[1])
        elif not head:
            before.append(line)
        if not head:
            continue
        outcome = OUTCOMES[head[1].rstrip()]
        name, _, problem = head[2].partition(": ") if outcome == FAIL else (head[2], "", "")
        said = "\n".join([*before, f"FAILED: {problem}"] if problem else [])
        yield Case(name, test, outcome, said, tuple(notes))
        before, notes = [], []


def _cell(some: Iterable[Case]) -> str:
    """'12 ok', '3/12 FAILED', 'skipped' or, of no case, '-'."""
    outcomes = [case.outcome for case in some]
    if not outcomes:
        return "-"
    failed, ran = outcomes.count(FAIL), len(outcomes) - outcomes.count(NOT_RUN)
    if failed:
        return f"{failed}/{len(outcomes)} FAILED"
    return f"{ran} ok" if ran else "skipped"


def _with_reason(case: Case) -> str:
    """The name of what was skipped, and the reason that it gave."""
    said = [line for line in case.printed.splitlines() if line.startswith(SKIPPED)]
    return f"{case.name}: {said[-1][len(SKIPPED) :]}" if said else case.name


def _failed(failed: Sequence[Case]) -> Iterator[str]:
    """Each failed test, the first of its commands that failed, and how many more."""
    for name in dict.fromkeys(case.test.name for case in failed):
        own = [case for case in failed if case.test.name == name]
        yield f"    {name}"
        if own[0].name != name:
            yield f"        {own[0].name}"
            if len(own) > 1:
                yield f"        and {len(own) - 1} more"
        of_pytest = map(OF_PYTEST.fullmatch, own[0].printed.splitlines())
        yield from (f"        {found[1]}" for found in of_pytest if found)


def _row(name: str, cells: Iterable[str]) -> str:
    """Within 80 columns."""
    return f"{name:<22}" + "".join(f"{cell:<15}" for cell in cells).rstrip()


def summary(all_cases: Iterable[Case]) -> str:
    """A line for each exercise, one for all other tests, the notes on them, which tests were left out, and what
    failed; empty if nothing ran."""
    found = list(all_cases)
    lines: list[str] = []
    of_exercises = [case for case in found if case.about]
    if of_exercises:
        lines.append(_row("exercise", ABOUT))
    for exercise in dict.fromkeys(case.test.exercise for case in of_exercises):
        own = [case for case in of_exercises if case.test.exercise == exercise]
        cells = [_cell(case for case in own if case.about == about) for about in ABOUT]
        lines.append(_row(exercise, cells))
    others = [case for case in found if not case.about]
    if others:
        lines.append(_row(OTHERS, [_cell(others)]))
    notes = [note for case in found for note in case.notes]
    if notes:
        lines += [
            "",
            *(line for note in notes for line in wrap(note, 80, subsequent_indent="    ")),
        ]
    left_out = [case for case in others if case.outcome == NOT_RUN]
    if left_out:
        lines += ["", "left out:", *(f"    {_with_reason(case)}" for case in left_out)]
    failed = [case for case in found if case.outcome == FAIL]
    if failed:
        lines += ["", "failed:", *_failed(failed)]
    return "\n".join(lines)
