"""Runs one test of an exercise: all its cases, one after the other. cmake/LabExercise.cmake makes the ctest
cases NAME/results, NAME/hazards and so on of it.

    check_exercise.py KIND exercise.toml PROGRAM

KIND is one of exercise_cases.KINDS. This prints a line for each case, with the notes on it, and what the
program printed in the first case that failed, which is named again at the end. It ends with 1 where one failed. It ends
with 77, which ctest shows as skipped, where all cases were skipped because there is no usable GPU, or where
PROGRAM is not built or is older than its source.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from case_lines import SKIPPED, CaseLines
from program import outdated

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from exercise_cases import KINDS, Case, Exercise  # noqa: E402
from lab_cli import exercise_facts  # noqa: E402


def tried(cases: Iterable[Case]) -> int:
    """Tries all cases, prints what came of each, and returns the exit status."""
    lines = CaseLines()
    for case in cases:
        outcome = case.try_it()
        if outcome.skipped:
            lines.leave_out(case.name)
            continue
        if outcome.problem and outcome.printed and not lines.any_failed:
            print(outcome.printed.rstrip("\n"))
        for note in outcome.notes:
            lines.note(note)
        lines.tell(case.name, [outcome.problem] if outcome.problem else [])
    return lines.end()


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
