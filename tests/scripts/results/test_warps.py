"""Pictures of what sampled warps did: they show what was counted, and what was counted is still so."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_cli import catalogue
from lab_cli.building import instrumented
from lab_cli.catalogue import Exercise
from lab_cli.errors import LabError
from lab_cli.lines import pictures, recorded
from lab_cli.lines.model import (
    GLOBAL,
    LOAD,
    STORE,
    Access,
    Kernel,
    LineProfile,
    Memory,
    Place,
    Sample,
    Step,
)
from lab_cli.lines.pictures import Touch, Way
from lab_cli.paths import ROOT
from lab_cli.results import figures, warps
from lab_cli.results.csv_file import parse, read_text

BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
SVG = "{http://www.w3.org/2000/svg}"
ALL = 0xFFFFFFFF
SOURCE = """\
__global__ void k(int* out) {
    if (threadIdx.x % 2) {  // odd ones
        out[threadIdx.x] += 1;
    }
}
"""


def profile_in(folder: Path) -> LineProfile:
    file = folder / "k.cu"
    file.write_text(SOURCE)
    branch, add = Place(file, 2), Place(file, 3)
    odd = tuple(4 * lane for lane in range(1, 32, 2))
    steps = [
        *(Step(ALL, branch), Step(ALL, branch), Step(0xAAAAAAAA, add)),
        *(Step(0xAAAAAAAA, add, 0, 0, odd), Step(0xAAAAAAAA, add, 1, 0, odd)),
        *(Step(0xAAAAAAAA, add), Step(ALL, Place(file, 5))),
    ]
    kernel = Kernel("k", (1, 1, 1), (64, 1, 1), 1, 0, 32, Place(file, 1), {}, [])
    kernel.accesses += [Access(add, (), kind, GLOBAL, 4, 1, 16, 64, 4, 2) for kind in (LOAD, STORE)]
    kernel.memories.append(Memory("", GLOBAL, 128, parameter=0))
    kernel.samples += [Sample((0, 0, 0), 0, []), Sample((0, 0, 0), 1, steps)]
    return LineProfile([kernel])


def recorded_of(folder: Path, picture: str, **panel: Any) -> list[dict[str, str]]:
    entry = {
        "chart": "warps",
        "picture": picture,
        "panels": [{"title": "t", "kernel": "k", **panel}],
    }
    exercise: Any = SimpleNamespace(facts=SimpleNamespace(figures={"f": entry}))
    asked: list[str] = []

    def profile_of(options: str) -> LineProfile:
        asked.append(options)
        return profile_in(folder)

    text = warps.text_of(exercise, profile_of)
    assert asked == [panel.get("options", "")]
    return parse(text, folder).rows


def test_ways_are_the_lines_that_are_asked_for(tmp_path: Path) -> None:
    rows = recorded_of(tmp_path, "divergence", warp=1, lines=["if (", "+= 1"])
    assert [(row["code"], row["lanes"]) for row in rows] == [
        ("if (threadIdx.x % 2) {", "ffffffff"),
        ("out[threadIdx.x] += 1;", "aaaaaaaa"),
    ]
    assert len(recorded_of(tmp_path, "divergence", warp=1, lines=["if (", "+= 1"], most=1)) == 1


def test_an_access_is_that_of_its_kind_and_line(tmp_path: Path) -> None:
    (row,) = recorded_of(tmp_path, "access", warp=1, code="+= 1", kind="store")
    assert (row["kind"], row["array"], row["size"], row["lanes"]) == (
        "store",
        "out",
        "4",
        "aaaaaaaa",
    )
    assert [int(offset) for offset in row["offsets"].split()] == [*range(4, 128, 8)]


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        ({"warp": 2, "code": "+=", "kind": "load"}, "no sample of kernel k, block 0, warp 2"),
        ({"warp": 1, "block": "1", "code": "+=", "kind": "load"}, "block 1"),
        ({"warp": 1, "code": "+=", "kind": "atomic"}, "no execution 1 of atomic 1"),
        ({"warp": 1, "code": "+=", "kind": "load", "execution": 2}, "no execution 2 of load 1"),
        ({"warp": 1, "code": "-=", "kind": "load"}, "no execution 1"),
    ],
)
def test_what_no_warp_did_is_refused(tmp_path: Path, panel: dict[str, Any], message: str) -> None:
    with pytest.raises(LabError, match=message):
        recorded_of(tmp_path, "access", **panel)


def exercises() -> list[Exercise]:
    return [exercise for exercise in catalogue.exercises() if warps.entries(exercise)]


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.name)
def test_the_cpu_back_end_still_counts_what_is_recorded(exercise: Exercise) -> None:
    program = exercise.program(BUILD, instrumented=True)
    if not program.exists():
        pytest.skip(f"{exercise.instrumented} is not built: ctest builds it")

    def profile_of(options: str) -> LineProfile:
        command = [str(program), "--profile", *options.split()]
        outcome = instrumented.run(command, recorded.VARIABLE)
        assert outcome.status == 0, outcome.output
        return recorded.parse(outcome.report, "", Path.cwd())

    text = read_text(exercise.results / figures.WARPS_FILE)
    assert warps.text_of(exercise, profile_of) == text, f"./lab plot {exercise.name} --count"


# ---- what is drawn


def looks(svg: str, group: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    found = next(each for each in root.iter(f"{SVG}g") if each.get("id") == group)
    return [rect.get("class", "") for rect in found.iter(f"{SVG}rect")]


def numbers_in(svg: str, group: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    found = next(each for each in root.iter(f"{SVG}g") if each.get("id") == group)
    return [
        text.text or ""
        for text in found.iter(f"{SVG}text")
        if "on" in text.get("class", "").split()
    ]


def test_an_access_has_its_lanes_and_what_is_wasted() -> None:
    every_other = Touch("data", LOAD, 4, ALL, tuple(range(0, 256, 8)))
    svg = pictures.access("title", [("name", every_other)]).svg()
    found = looks(svg, "access_0")
    assert (found.count("sky"), found.count("idle"), found.count("frame thick")) == (32, 32, 8)
    assert numbers_in(svg, "access_0") == [str(lane) for lane in range(32)]
    assert "8 sectors, 128 of 256 bytes used" in svg


def test_untouched_sectors_are_empty_and_a_word_for_all_says_how_many() -> None:
    svg = pictures.access("title", [("name", Touch("data", LOAD, 4, ALL, (64,) * 32))]).svg()
    found = looks(svg, "access_0")
    assert (found.count("sky"), found.count("frame thick"), found.count("frame soft")) == (1, 1, 3)
    assert numbers_in(svg, "access_0") == ["32x"]


def test_many_cache_lines_are_counted_and_not_drawn() -> None:
    svg = pictures.access(
        "title", [("name", Touch("a", LOAD, 4, ALL, tuple(range(0, 4096, 128))))]
    ).svg()
    assert looks(svg, "access_0").count("sky") == pictures.MOST_ROWS
    assert f"and {32 - pictures.MOST_ROWS} more cache lines" in svg


@pytest.mark.parametrize(
    ("stride", "alone", "meeting"), [(4, 32, 0), (132, 32, 0), (128, 0, 16), (8, 0, 32)]
)
def test_words_that_meet_in_a_bank_are_orange(stride: int, alone: int, meeting: int) -> None:
    offsets = tuple(stride * lane for lane in range(32))
    svg = pictures.banks("title", [("name", Touch("tile", LOAD, 4, ALL, offsets))]).svg()
    found = looks(svg, "banks_0")
    shown = min(alone, pictures.MOST_ROWS) if stride > 128 else alone
    assert (found.count("sky"), found.count("orange")) == (shown, meeting)


def test_ways_have_a_cell_for_each_lane() -> None:
    ways = [Way("if (a) {", ALL), Way("b();", 0xAAAAAAAA)]
    found = looks(pictures.divergence("title", [("warp 0", ways)]).svg(), "warp_0")
    assert found == ["sky"] * 32 + ["idle", "sky"] * 16


@pytest.mark.draws
def test_nothing_is_covered_or_cut_off() -> None:
    from test_drawings import outside_of, overlaps_in

    long = "const auto aVeryLongLineOfCode = that(goes, on) + and + on + and + on;"
    wide = Touch("aRather", LOAD, 4, ALL, tuple(10**6 + 4096 * lane for lane in range(32)))
    drawings = [
        pictures.access("A title", [("a name", wide)] * 2),
        pictures.banks(
            "A title", [("a name", Touch("tile", LOAD, 4, ALL, tuple(range(0, 4224, 132))))]
        ),
        pictures.divergence("A title", [("warp 0", [Way(long, ALL)] * 5)] * 2),
    ]
    svgs = [drawing.svg() for drawing in drawings]
    for exercise in exercises():
        svgs += [read_text(exercise.results / f"{name}.svg") for name in warps.entries(exercise)]
    for svg in svgs:
        assert overlaps_in(svg) == []
        assert outside_of(svg) == []
        ids = re.findall(r' id="([^"]+)"', svg)
        assert len(ids) == len(set(ids))
