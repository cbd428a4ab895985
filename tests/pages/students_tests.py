"""What `./lab test NAME` tries, with a program that has other code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from exercise_cases import KINDS, Exercise, Outcome
from lab_cli import exercise_facts
from lab_cli.catalogue import facts_of
from page_files import source_of

SMS = "4"  # LAB_TEST_SMS of cmake/LabExercise.cmake


def outcomes(page: Path, compiled: Path) -> Iterator[tuple[str, str, Outcome]]:
    """Of each case of the exercise with this page, its kind, its name, and what came of it. Results are looked
    at with small sizes alone. The program has to be instrumented."""
    facts = facts_of(source_of(page))
    exercise = Exercise(facts, exercise_facts.load(facts), compiled)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(compiled.parent)  # for files that runs write
        patch.setenv("CUDA_EMULATOR_SMS", SMS)
        for kind in ("options", "few_results", "hazards", "counts"):
            for case in KINDS[kind](exercise):
                yield kind, case.name, case.try_it()
