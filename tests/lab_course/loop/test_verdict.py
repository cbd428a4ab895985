"""What `./lab watch` shows of several launches, and where it keeps what copies include, compiled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from exercise_sample import FACTS
from grading_sample import ASSIGNMENT_ON_GPU, GOOD_ROWS, SOURCE, FakeWorkshop
from lab_cli import catalogue
from lab_cli.assignments import Bound
from lab_cli.machine.backend import Choice
from lab_course.grading.programs import TIMES, OnGpu, Run
from lab_course.handouts import choice
from lab_course.loop import screen, verdict


@pytest.mark.parametrize(
    ("comparison", "worst"), [(">=", 1.0), (">", 1.0), ("<=", 9.0), ("<", 9.0), ("==", 9.0)]
)
def test_the_launch_that_is_shown_is_the_worst(comparison: str, worst: float) -> None:
    bound = Bound(f"a {comparison} 4", "a", comparison, 4, "")
    assert bound.worst([4.0, 1.0, 9.0]) == worst
    assert bound.worst([]) is None


@pytest.mark.parametrize(("better", "points"), [("0.4", 10), ("0.9", 3)])
def test_on_a_gpu_the_verdict_rests_on_results_and_times(
    exercises, monkeypatch: pytest.MonkeyPatch, better: str, points: float
) -> None:
    source = exercises("ch09/order", "gpu_only = true\n" + FACTS + ASSIGNMENT_ON_GPU)
    source.write_text(SOURCE)
    monkeypatch.setattr(choice, "ROOT", source.parents[2])
    exercise = catalogue.one("order")
    (assignment,) = exercise.facts.assignments
    times = {"before": "1.0", "better": better}
    rows = [{**each, "median_ms": times[each["kernel"]], "device": "H1"} for each in GOOD_ROWS]
    workshop = FakeWorkshop(exercise, {("--size=1M", TIMES): Run(rows)}, gpu="a GPU")
    monkeypatch.setattr(verdict, "require_gpu", lambda _: OnGpu(Choice("gpu", ""), Path()))
    monkeypatch.setattr(verdict, "Workshop", lambda *_: workshop)
    bench = verdict.Bench(exercise)
    bench.copy.start()
    assert bench.verdict(assignment).blank
    bench.copy.file.write_text(SOURCE)
    found = bench.verdict(assignment)
    assert found.points == points
    assert found.times and dict(found.times.rows) == {"before": 1.0, "better": float(better)}
    assert list(bench.times(assignment)) == []
    text = "\n".join(screen.lines(bench.copy, found))
    assert "not looked for" in text and "none found" not in text
    assert ("at least" if points == 10 else "less than") + " 200% of the speed of before" in text
    whole = bench.verdict(None)
    assert whole.is_right and whole.points == 0


def test_preambles_go_unless_they_are_in_use(tmp_path: Path) -> None:
    mine, in_use, left = (tmp_path / name for name in ("mine", "inUse", "left"))
    for folder in (mine, in_use, left):
        folder.mkdir()
    os.utime(mine, (0, 0))
    os.utime(left, (0, 0))
    verdict.make_room(mine)
    assert mine.is_dir() and in_use.is_dir() and not left.exists()
