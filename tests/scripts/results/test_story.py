"""What ./lab run shows below a table where there is no GPU."""

from __future__ import annotations

import csv

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, metrics
from lab_cli.catalogue import Exercise
from lab_cli.counters.raw_csv import Launch, RawTable
from lab_cli.counters.rungs import Rungs
from lab_cli.results import reference, store, story, tables
from lab_fixtures import shipped

LOADS, STORES, CONFLICTS = (
    metrics.load().metrics[name].nsight
    for name in (
        "gld_transactions_per_request",
        "gst_transactions_per_request",
        "shared_ld_bank_conflict",
    )
)
PARAMETERS = "rows=512 cols=512 tile="


def rungs(*rows: tuple[str, int, float, float, float]) -> Rungs:
    """Of transpose: kernel, tile, and the counts of its story."""
    return Rungs(
        [
            {"exercise": "transpose", "parameters": f"{PARAMETERS}{tile}", "kernel": kernel}
            for kernel, tile, *_ in rows
        ],
        RawTable(
            {},
            [
                Launch(kernel, "1", "32", "0", dict(zip((LOADS, STORES, CONFLICTS), counts)))
                for kernel, _, *counts in rows
            ],
        ),
    )


def lines(text: str, beginning: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith(beginning)]


def recorded(exercise: Exercise) -> list[dict[str, str]]:
    text = store.file(exercise.results / reference.GPU).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def test_a_count_stands_with_that_of_the_row_above_where_it_is_another() -> None:
    exercise = shipped("transpose")
    text = story.of_counts(
        exercise,
        rungs(("copyRow", 32, 4, 4, 0), ("mine", 32, 4, 32, 7936), ("mine2", 32, 4, 32, 0)),
    )
    (copy,), (mine, mine2) = lines(text, "copyRow"), lines(text, "mine")
    assert copy[1:3] == ["4", "0"]
    assert mine[1:] == ["4", "->", "32", "0", "->", "7,936", "-"]  # nobody has recorded it
    assert mine2[1:] == ["32", "7,936", "->", "0", "-"]
    assert "sectors/store: " in text and "sectors/load" not in text  # which is the same for all


def test_times_are_those_of_the_largest_recorded_run() -> None:
    exercise = shipped("transpose")
    text = story.of_counts(
        exercise,
        rungs(("copyRow", 32, 4, 4, 0), *(("transposeSmemDynamic", n, 4, 4, n) for n in (8, 16))),
    )
    rows = [row for row in recorded(exercise) if row["parameters"].startswith("rows=16384 ")]
    for words in (
        ["copyRow", "tile=32"],
        *(["transposeSmemDynamic", f"tile={n}"] for n in (8, 16)),
    ):
        (row,) = (
            row
            for row in rows
            if row["kernel"] == words[0] and row["parameters"].endswith(words[1])
        )
        (found,) = lines(text, words[0] if words[0] == "copyRow" else " ".join(words))
        assert float(found[-1]) == pytest.approx(float(row["median_ms"]), rel=0.005)
    assert "recorded on an NVIDIA H200 with rows=16K cols=16K" in " ".join(text.split())


def test_without_a_recording_there_are_counts_alone(request) -> None:
    facts = (shipped("transpose").folder / catalogue.FACTS).read_text(encoding="utf-8")
    request.getfixturevalue("exercises")("ch/transpose", facts)
    text = story.of_counts(
        catalogue.one("transpose"), rungs(("copyRow", 32, 4, 4, 0), ("b", 32, 4, 32, 0))
    )
    assert "H200" not in text and "recorded" not in text
    assert lines(text, "b")[0] == ["b", "4", "->", "32"]


def test_where_all_counts_are_the_same_there_is_nothing_to_tell() -> None:
    same = rungs(("copyRow", 32, 4, 4, 0), ("b", 32, 4, 4, 0))
    assert story.of_counts(shipped("transpose"), same) == ""


def test_columns_that_have_no_room_are_left_out() -> None:
    many = rungs(("x" * 20, 32, 1e15, 1e15, 1e15), ("y" * 20, 32, 2e15, 2e15, 2e15))
    text = story.of_counts(shipped("transpose"), many)
    assert max(map(len, text.splitlines())) <= story.WIDTH
    assert text.count("1,000,000,000,000,000 -> 2,000,000,000,000,000") == 1


def test_without_recorded_times_there_is_nothing(exercises) -> None:
    source = exercises("ch/x", FACTS + "[profile]\nmetrics = []\nstory = []\n")
    exercise = catalogue.one("x")
    assert story.of_times(exercise) == ""  # no page
    page = catalogue.page_of(source)
    page.write_text("nothing\n")
    assert story.of_times(exercise) == ""
    marker = "<!-- table results/h200/{}.csv | kernel, median_ms -->\n<!-- end of table -->\n"
    page.write_text(marker.format("table"))
    assert tables.BLOCK.search(page.read_text()) and story.of_times(exercise) == ""
    table = store.file(exercise.results / reference.GPU)
    table.parent.mkdir(parents=True)
    table.write_text("# gpu: NVIDIA X\nkernel,parameters,median_ms\nslow,size=1,2.5\n")
    assert "NVIDIA X" in story.of_times(exercise) and "2.500" in story.of_times(exercise)
    page.write_text(marker.format("metrics"))
    assert story.of_times(exercise) == ""
