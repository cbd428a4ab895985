"""What the tests say of each exercise, apart from each other: are its results right, does the hazard check
find nothing, are its counts those of a GPU, and does it take its options?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from ..errors import LabError

# Labels of cmake/LabExercise.cmake: of the cases of an exercise, and what they are about.
EXERCISE = "exercise"
RESULTS = "results"
ABOUT = (RESULTS, "hazards", "counts", "options")
SKIPPED = "skipped: "  # begins the line in which a test says why
OTHERS = "unit tests"  # all cases that are of no exercise
OF_PYTEST = re.compile(r"(?:FAILED|ERROR) (\S+\.py\b.*)")  # of its short summary: a test, and why
# Blanks in attributes as a reader of XML gives them (section 3.3.3 of XML 1.0).
IN_ATTRIBUTES = str.maketrans("\t\n\r", "   ")


@dataclass(frozen=True)
class Case:
    name: str
    exercise: str  # empty for a unit test
    about: str
    outcome: str  # "run", "fail", or "notrun" where it was skipped
    printed: str = ""


def labels_of(listing: str) -> dict[str, list[str]]:
    """By case, from the JSON of `ctest --show-only=json-v1`; the names as cases() has them."""
    labels = {}
    for test in json.loads(listing)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        labels[test["name"].translate(IN_ATTRIBUTES)] = properties.get("LABELS", [])
    return labels


def cases(junit: str, labels: Mapping[str, list[str]]) -> list[Case]:
    """The cases that ran, from the XML of `ctest --output-junit`. LabError if it is none."""
    try:
        elements = ElementTree.fromstring(junit).findall("testcase")
    except ElementTree.ParseError as error:
        raise LabError(f"cannot read what ctest wrote of its results: {error}") from error
    found = []
    for element in elements:
        name = element.get("name", "")
        words = labels.get(name, [])
        exercise, about = "", ""
        if EXERCISE in words:  # a case is named by the command that it runs
            about = next(word for word in words if word in ABOUT)
            exercise = name.partition(" ")[0]
        printed = element.findtext("system-out", "")
        found.append(Case(name, exercise, about, element.get("status", ""), printed))
    return found


def _cell(some: Iterable[Case]) -> str:
    """'12 ok', '3/12 FAILED', 'skipped' or, of no case, '-'."""
    outcomes = [case.outcome for case in some]
    if not outcomes:
        return "-"
    failed, ran = outcomes.count("fail"), len(outcomes) - outcomes.count("notrun")
    if failed:
        return f"{failed}/{len(outcomes)} FAILED"
    return f"{ran} ok" if ran else "skipped"


def _with_reason(case: Case) -> str:
    """Of what was skipped: the name, and what cmake/run_pytest.py says, in which what is missing is named."""
    said = [line for line in case.printed.splitlines() if line.startswith(SKIPPED)]
    return f"{case.name}: {said[-1][len(SKIPPED) :]}" if said else case.name


def _with_tests(case: Case) -> list[str]:
    """Of what failed: the name and, where it is a folder of pytest, which of its tests did."""
    tests = [found[1] for found in map(OF_PYTEST.fullmatch, case.printed.splitlines()) if found]
    return [f"    {case.name}", *(f"        {test}" for test in tests)]


def _row(name: str, cells: Iterable[str]) -> str:
    """Within 80 columns."""
    return f"{name:<22}" + "".join(f"{cell:<15}" for cell in cells).rstrip()


def summary(all_cases: Iterable[Case]) -> str:
    """A line for each exercise, one for the unit tests, which of these were left out, and what failed; empty
    if nothing ran."""
    found = list(all_cases)
    lines: list[str] = []
    of_exercises = [case for case in found if case.exercise]
    if of_exercises:
        lines.append(_row("exercise", ABOUT))
    for exercise in dict.fromkeys(case.exercise for case in of_exercises):
        own = [case for case in found if case.exercise == exercise]
        cells = [_cell(case for case in own if case.about == about) for about in ABOUT]
        lines.append(_row(exercise, cells))
    others = [case for case in found if not case.exercise]
    if others:
        lines.append(_row(OTHERS, [_cell(others)]))
    left_out = [case for case in others if case.outcome == "notrun"]
    if left_out:
        lines += ["", "left out:", *(f"    {_with_reason(case)}" for case in left_out)]
    failed = [case for case in found if case.outcome == "fail"]
    if failed:
        lines += ["", "failed:", *(line for case in failed for line in _with_tests(case))]
    return "\n".join(lines)
