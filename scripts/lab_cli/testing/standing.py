"""What passed its tests the last time they ran here, and what failed: ./lab test notes it, ./lab says it.

An exercise has passed when none of its tests has failed in one run of them all. Some may be skipped,
but not all of those of its results: without a GPU those of the gpu back end are, and options are tested.
One test that fails makes it fail. A run that leaves out some of its tests, and in which none fails,
says nothing: what was known before stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import catalogue
from ..files import make_build_folder, write
from ..lock import take
from ..paths import OUT
from .listing import RESULTS, CTest
from .summary import FAIL, NOT_RUN, RUN, Case

FILE = OUT / "standing.json"
PASSED, FAILED, CHANGED, UNTESTED = "passed", "failed", "changed", "untested"
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Result:
    outcome: str  # PASSED or FAILED
    sources: str  # digest() of what was tested


Results = dict[str, dict[str, Result]]  # by exercise and back end


def digest(source: Path) -> str:
    """Of an exercise's own sources(). Empty if NAME.cu cannot be read."""
    contents = sources(source)
    if source not in contents:
        return ""
    hashes = (hashlib.sha256(contents[path]).hexdigest() for path in sorted(contents))
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def sources(source: Path) -> dict[Path, bytes]:
    """What an exercise's own files have in them: NAME.cu and the files of its chapter that it includes, or
    that those include. Without those that cannot be read."""
    contents: dict[Path, bytes] = {}
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path in contents:
            continue
        try:
            contents[path] = path.read_bytes()
        except OSError:  # of common/, or of CUDA
            continue
        for name in INCLUDE.findall(contents[path]):
            file = Path(os.path.normpath(path.parent / os.fsdecode(name)))
            if source.parents[1] in file.parents:
                waiting.append(file)
    return contents


def digests() -> dict[str, str]:
    """Of all exercises, by name. To be taken before a build: what changes later was not tested."""
    return {name: digest(source) for name, source in catalogue.sources().items()}


def read() -> Results:
    """What is known. A file that cannot be read, or has something else in it, says nothing."""
    try:
        content = json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    found: Results = {}
    for exercise, by_backend in _items(content):
        for backend, entry in _items(by_backend):
            result = Result(*(dict(_items(entry)).get(key) for key in ("outcome", "sources")))
            if result.outcome in (PASSED, FAILED) and isinstance(result.sources, str):
                found.setdefault(exercise, {})[backend] = result
    return found


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, dict) else ()


def outcomes(cases: Iterable[Case], tests: Iterable[CTest]) -> dict[str, str]:
    """By exercise: passed, or failed, where the cases that ran say so. `tests` are all that there are."""
    ran: dict[str, set[str]] = {}
    for case in cases:
        ran.setdefault(case.test.name, set()).add(case.outcome)
    of_exercise: dict[str, set[str]] = {}
    with_results: set[str] = set()
    known = catalogue.sources()
    for test in tests:
        if test.exercise in known and test.is_quick:
            own = ran.get(test.name, {""})
            of_exercise.setdefault(test.exercise, set()).update(own)
            if test.about == RESULTS and RUN in own:
                with_results.add(test.exercise)
    found = {}
    for exercise, all_outcomes in of_exercise.items():
        if FAIL in all_outcomes:
            found[exercise] = FAILED
        elif exercise in with_results and all_outcomes <= {RUN, NOT_RUN}:
            found[exercise] = PASSED
    return found


def record(
    backend: str,
    sources: Mapping[str, str],
    cases: Iterable[Case],
    tests: Iterable[CTest],
) -> None:
    """Adds what a run of tests says to what is known. `sources` are the digests() of what was built."""
    make_build_folder(FILE.parent)
    with open(FILE.with_suffix(".lock"), "w") as lock:
        take(lock, "waiting: another lab notes what it has tested")
        known = read()
        for exercise, outcome in outcomes(cases, tests).items():
            result = Result(outcome, sources.get(exercise, ""))
            known.setdefault(exercise, {})[backend] = result
        content = {
            exercise: {backend: vars(result) for backend, result in by_backend.items()}
            for exercise, by_backend in sorted(known.items())
        }
        write(FILE, json.dumps(content, indent=1) + "\n")


def state(results: Mapping[str, Result], sources: str) -> str:
    """Of an exercise, from its results by back end, and its sources as they are now."""
    now = {result.outcome for result in results.values() if result.sources == sources}
    if FAILED in now:
        return FAILED
    if PASSED in now:
        return PASSED
    return CHANGED if results else UNTESTED
