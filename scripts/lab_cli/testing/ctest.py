"""Runs tests by ctest, and takes note of what came of them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..building import presets
from ..process import run_lines
from . import inputs, passed, summary
from .listing import CTest
from .summary import Case

# All that a test prints is kept of those that pass, too: it names their cases.
MOST_KEPT = str(1 << 20)
FEW = 4  # as many quick tests as an exercise has
PLAIN = re.compile(r"[\w/]+")  # a name that is its own regular expression


@dataclass
class Ran:
    """What came of a run of tests."""

    status: int = 0  # of ctest: 0, or 8 where a test failed
    cases: list[Case] = field(default_factory=list)
    kept: int = 0  # tests among them that had passed before, and were not run
    complete: bool = True  # False where ctest ended without results


def run(
    cmake: str,
    folder: Path,
    tests: Sequence[CTest],
    chosen: Sequence[CTest],
    options: Sequence[str],
    each: Callable[[str], None],
    fresh: bool = False,
) -> Ran:
    """Runs the `chosen` ones of all `tests` of a build folder, the quick ones first. Unless `fresh`, a test is
    left out that passed before with the same inputs. With `options` of ctest, which may choose among them,
    all go to one ctest. `each` gets what ctest prints, line by line."""
    digests = {test.name: inputs.digest(test, folder) for test in chosen}
    known = {} if fresh or options else passed.read(folder)
    ran = Ran()
    waiting = []
    for test in chosen:
        before = passed.cases_of(test, digests[test.name], known)
        if before is None:
            waiting.append(test)
        else:
            ran.cases += before
            ran.kept += 1
    quick = [test for test in waiting if test.is_quick]
    full = [test for test in waiting if not test.is_quick]
    for some in [waiting] if options else [quick, full]:
        if some and ran.complete:
            _run_some(cmake, folder, tests, some, options, each, ran)
    passed.record(folder, ran.cases, digests)
    return ran


def _run_some(
    cmake: str,
    folder: Path,
    tests: Sequence[CTest],
    some: Sequence[CTest],
    options: Sequence[str],
    each: Callable[[str], None],
    ran: Ran,
) -> None:
    """Runs these in one ctest, and adds what came of them."""
    with tempfile.TemporaryDirectory(prefix="lab-") as temporary:
        junit = Path(temporary) / "results.xml"
        command = [presets.ctest_beside(cmake), "--test-dir", str(folder)]
        command += ["--output-on-failure", "--no-label-summary", "--no-tests=error", "-j", _jobs()]
        command += ["--output-junit", str(junit), "--test-output-size-passed", MOST_KEPT]
        selection = _selection(some, Path(temporary) / "selection")
        status = run_lines([*command, *selection, *options], each)
        ran.status = max(ran.status, status)
        if junit.exists():
            text = junit.read_text(encoding="utf-8", errors="replace")
            ran.cases += summary.cases(text, tests)
        else:
            ran.complete = False


def _selection(tests: Sequence[CTest], file: Path) -> list[str]:
    """Options of ctest that select just these tests: by their names, for a reader, where they are few."""
    names = [test.name for test in tests]
    if len(names) <= FEW and all(PLAIN.fullmatch(name) for name in names):
        return ["-R", f"^({'|'.join(names)})$"]
    file.write_text("0,0,0," + ",".join(str(test.number) for test in tests) + "\n")
    return ["-I", str(file)]


def _jobs() -> str:
    return str(len(os.sched_getaffinity(0)))
