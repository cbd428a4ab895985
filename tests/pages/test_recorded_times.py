"""The recorded times that ./lab run shows without a GPU are those of the first table of a page."""

from __future__ import annotations

import csv

from lab_cli import catalogue
from lab_cli.results import reference, store, story
from lab_fixtures import shipped


def test_where_times_tell_the_story_they_are_those_of_the_page() -> None:
    exercise = shipped("launchCost")
    text = story.of_times(exercise)
    recorded = store.file(exercise.results / reference.GPU).read_text(encoding="utf-8")
    lines = [line for line in recorded.splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if row["kernels"] == "10"]
    assert "NVIDIA H200 with kernels=10 " in " ".join(text.split())
    for row in rows:
        assert f"\n{row['kernel']} " in text
        (found,) = (
            line.split() for line in text.splitlines() if line.startswith(row["kernel"] + " ")
        )
        assert found[1] == f"{float(row['each_us']):.3f}"


def test_of_every_exercise_whose_story_is_times_there_are_some() -> None:
    for exercise in catalogue.exercises():
        if exercise.facts.story == []:
            text = story.of_times(exercise)
            assert len(text.splitlines()) > 5, exercise.name
            assert max(map(len, text.splitlines())) <= story.WIDTH, exercise.name
        else:
            assert len(exercise.facts.story or []) <= story.MOST_COUNTS, exercise.name
            told = [name for name in exercise.facts.story or []]
            assert [metric.name for metric in story.counted(exercise)][: len(told)] == told
