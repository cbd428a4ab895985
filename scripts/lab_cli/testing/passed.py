"""The tests that passed here, each with a hash of what it depended on: such a test is not run again until
something of that has changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..files import write
from ..lock import take
from .listing import CTest
from .summary import FAIL, NOT_RUN, RUN, Case

FILE = "lab_passed.json"  # in the build folder


def read(folder: Path) -> dict[str, dict]:
    """By test: the hash, and of each case its name and the notes on it. Empty where nothing is known."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def cases_of(test: CTest, digest: str, known: dict[str, dict]) -> list[Case] | None:
    """What the test's cases were when it passed with these inputs; None where it has not."""
    entry = known.get(test.name)
    if not digest or not isinstance(entry, dict) or entry.get("inputs") != digest:
        return None
    cases = entry.get("cases")
    if not isinstance(cases, list) or not all(isinstance(case, list) and case for case in cases):
        return None
    return [Case(str(name), test, RUN, notes=tuple(map(str, notes))) for name, *notes in cases]


def record(folder: Path, ran: Iterable[Case], digests: dict[str, str]) -> None:
    """Adds the tests that have passed to what is known, and takes out those that have not."""
    by_test: dict[str, list[Case]] = {}
    for case in ran:
        by_test.setdefault(case.test.name, []).append(case)
    with open(folder / f"{FILE}.lock", "w") as lock:
        take(lock, "waiting: another lab notes what it has tested")
        known = read(folder)
        for name, cases in by_test.items():
            known.pop(name, None)
            if _passed(cases) and digests.get(name):
                noted = [[case.name, *case.notes] for case in cases]
                known[name] = {"inputs": digests[name], "cases": noted}
        write(folder / FILE, json.dumps(known, indent=1, sort_keys=True) + "\n")


def _passed(cases: Sequence[Case]) -> bool:
    """Whether none failed, and none was skipped, since what it lacked may be there next time."""
    return not any(case.outcome in (FAIL, NOT_RUN) for case in cases)
