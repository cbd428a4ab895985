"""Runs one test of an exercise: all its cases, one after the other. cmake/LabExercise.cmake makes the ctest
cases NAME/results, NAME/hazards and so on of it.

    check_exercise.py KIND exercise.toml PROGRAM

KIND is one of exercise_cases.KINDS. This prints a line for each case, with what the program printed where
the case failed, and at the end names the first case that failed. It ends with 1 where one failed. It ends
with 77, which ctest shows as skipped, where all cases were skipped because there is no usable GPU, or where
PROGRAM is not built or is older than its source.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from program import outdated

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from exercise_cases import KINDS, SKIPPED, Case, Exercise  # noqa: E402
from lab_cli import exercise_facts  # noqa: E402

# Words that begin the line of a case; lab_cli/testing/summary.py counts them.
OK, FAILED, LEFT_OUT = "ok      ", "FAILED  ", "skipped "


def tried(cases: Iterable[Case]) -> int:
    """Tries all cases, prints what came of each, and returns the exit status."""
    failed = []
    ran = 0
    for case in cases:
        outcome = case.try_it()
        if outcome.skipped:
            print(LEFT_OUT + case.name, flush=True)
            continue
        ran += 1
        if not outcome.problem:
            print(OK + case.name, flush=True)
            continue
        failed.append(case.name)
        if outcome.printed:
            print(outcome.printed.rstrip("\n"))
        print(f"{FAILED}{case.name}: {outcome.problem}", flush=True)
    if failed:
        print(f"{len(failed)} of {ran} cases failed; the first: {failed[0]}", flush=True)
        return 1
    return 0 if ran else SKIPPED


def main(arguments: list[str]) -> int:
    kind, facts_file, program = arguments
    path = Path(facts_file).resolve()
    exercise = Exercise(path, exercise_facts.load(path), Path(program).resolve())
    reason = outdated(program, str(exercise.source))
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        os.chdir(folder)  # for files that runs write
        try:
            return tried(KINDS[kind](exercise))
        finally:
            os.chdir("/")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
