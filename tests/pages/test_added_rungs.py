"""The rungs that GUIDE.md adds, and what a student may do to one: it is judged by what holds for every kernel."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from compile_quickly import Compiler
from lab_cli.paths import ROOT
from lab_fixtures import shipped
from page_answers import Change, Variant, variants_of, written
from students_tests import outcomes

SECTION = re.compile(r"^## Add a rung of your own\n(.*?)^## ", re.MULTILINE | re.DOTALL)
RUNG = re.compile(r"<!-- rung of (\w+) -->\n")


def rung_of(exercise: str) -> tuple[Path, Variant]:
    """The page of the exercise, and the code that the guide adds to it."""
    section = SECTION.search((ROOT / "GUIDE.md").read_text(encoding="utf-8"))
    assert section
    words = RUNG.split(section[1])
    codes = dict(zip(words[1::2], words[2::2]))
    (variant,) = variants_of(0, codes[exercise])
    return shipped(exercise).page, variant


def tried(
    page: Path, rung: Variant, compiler: Compiler, folder: Path
) -> tuple[list[str], list[str]]:
    """Which tests of a student fail with this rung, and what they say of it."""
    program = compiler.program(written(page, rung, folder), folder / "program", "-w")
    tried = [*outcomes(page, program)]
    return (
        [kind for kind, _, outcome in tried if outcome.problem],
        [note for _, _, outcome in tried for note in outcome.notes],
    )


@pytest.mark.parametrize(
    ("exercise", "row"), [("transpose", "copyGridStride"), ("misalignedAccess", "readGridStride")]
)
def test_a_right_rung_passes_and_is_described(
    exercise: str, row: str, compiler: Compiler, tmp_path: Path
) -> None:
    page, rung = rung_of(exercise)
    lines = 'std::printf("%81s to check\\n", "mine,"); std::fprintf(stderr, "mine\\n"); '
    talking = Change("replaces `exercise.parse(` by `" + lines + "exercise.parse(`")
    rung = replace(rung, changes=[*rung.changes, talking])
    failed, notes = tried(page, rung, compiler, tmp_path)
    assert failed == []
    assert notes and all(row in note for note in notes)


LOOP = "        out[i] = in[i];"


@pytest.mark.parametrize(
    ("old", "new", "tests"),
    [
        (LOOP, "out[i] = in[i] + 1;", {"few_results", "hazards", "counts"}),
        (LOOP, "if (i > 0) out[i] = in[i];", {"few_results", "hazards", "counts"}),
        (LOOP, "{ __shared__ float last; last = in[i]; out[i] = last; }", {"hazards"}),
        ("<<<264, 256>>>", "<<<264, 2048>>>", {"few_results", "hazards", "counts"}),
        ("<<<264, 256>>>", "<<<264, 128>>>", {"counts"}),
    ],
)
def test_a_rung_that_is_not_right_fails(
    old: str, new: str, tests: set[str], compiler: Compiler, tmp_path: Path
) -> None:
    page, rung = rung_of("transpose")
    changes = [Change(change.place, change.lines.replace(old, new)) for change in rung.changes]
    assert changes != rung.changes
    failed, _ = tried(page, replace(rung, changes=changes), compiler, tmp_path)
    assert tests <= {*failed} <= tests | {"few_results"}
