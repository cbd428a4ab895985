"""Printed numbers: those that fit together pass, and each kind of lie is found."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, exercise_facts
from lab_cli.exercise_facts import Facts
from lab_cli.results import numbers
from lab_cli.results.csv_file import Row, parse, read_text

HEAD = (
    "device,parameters,kernel,grid,block,warps,split,reps,median_ms,min_ms,max_ms,gbps,percent_peak,"
    "speedup,check\n"
)
# 8 * 1000 * 32 bytes in 2 us are 128 GB/s, of a peak of 1280; the last two have another baseline.
ROWS = """\
some GPU,rows=1000 cols=32,host,-,-,,,0,,,,,,,ok
some GPU,rows=1000 cols=32,slow,32,8x4,1000,,4,0.004,0.003,0.005,64,5,1,ok
some GPU,rows=1000 cols=32,fast,32,8x4,1000,,4,0.002,0.002,0.002,128,10,2,ok
some GPU,rows=1000 cols=32,fast,32,32,1000,,4,0.008,0.003,0.009,32,2.5,0.5,ok
some GPU,rows=1000 cols=32,library,-,-,1000,,4,0.002,0.002,0.002,64,5,2,ok
some GPU,rows=1000 cols=32,busy,32,32,1000,7,4,0.006,0.005,0.007,,,1,ok
some GPU,rows=1000 cols=32,idle,32,32,1000,,4,0.003,0.003,0.003,,,2,ok
"""
WORK = """
[work]
bytes = { library = "4 * rows * cols", slow = "8 * rows * cols", fast = "8 * rows * cols" }
baselines = ["slow", "busy"]
[columns.split]
formula = { busy = "min(7, rows)" }
[columns.warps.formula]
slow = "rows * cols / 32"
fast = "rows * cols / 32"
library = "rows * cols / 32"
busy = "rows * cols / 32"
idle = "rows * cols / 32"
"""


@pytest.fixture
def facts_with(tmp_path: Path) -> Callable[[str], Facts]:
    """facts_with(text): those of an exercise with this text behind what there must be."""

    def load(text: str) -> Facts:
        file = tmp_path / "x.toml"
        file.write_text(FACTS + text)
        return exercise_facts.load(file)

    return load


@pytest.fixture
def facts(facts_with) -> Facts:
    return facts_with(WORK)


def rows(text: str = HEAD + ROWS) -> list[Row]:
    return parse(text, Path("x.csv")).rows


def test_numbers_that_fit_together(facts: Facts) -> None:
    assert numbers.problems(rows(), facts) == []
    assert numbers.wrong_reps(rows(), 4) == []
    assert numbers.longer_than(rows(), 0.073) == []


def test_runs_may_follow_one_another(facts: Facts) -> None:
    assert numbers.problems(rows(HEAD + ROWS + ROWS), facts) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # rates
        ("0.005,64,5,1", "0.005,128,10,1", "row 2 (slow): gbps is 128, expected 64: 8 * rows * cols"),
        ("0.005,64,5,1", "0.005,64.001,5.0001,1", "gbps is 64.001, expected 64"),
        ("0.005,64,5,1", "0.005,,,1", "gbps is missing, expected 64"),
        ("0.007,,,1", "0.007,64,5,1", "row 6 (busy): gbps is 64, but exercise.toml has no formula"),
        (",,0,,,,,,,ok", ",,0,,,,64,,,ok", "row 1 (host): gbps is 64, but there is no time"),
        # the peak
        ("128,10,2", "128,20,2", "row 3 (fast): a peak of 640 gbps, but of 1280 in a row above"),
        ("0.003,,,2", "0.003,,5,2", "row 7 (idle): a share of the peak, but no rate"),
        # times
        ("0.004,0.003,0.005", "0.004,0.005,0.003", "min, median and max are 0.005, 0.004 and 0.003"),
        ("0.006,0.005,0.007", "0.006,0.006001,0.007", "row 6 (busy): min, median and max are"),
        ("0.006,0.005,0.007", "0.006,0.005,0.0059", "row 6 (busy): min, median and max are"),
        ("0.006,0.005,0.007,,,1", ",,,,,", "row 6 (busy): a time is missing"),
        ("4,0.006,0.005,0.007,,,1", "0,,,,,,", "row 6 (busy): a time is missing"),
        (",0.004,0.003,0.005", ",,0.003,0.005", "row 2 (slow): a time is missing"),
        ("-,-,1000,,4,0.002,0.002", "-,-,1000,,0,0.002,0.003", "row 5 (library): min, median and"),
        ("0.006,0.005,0.007", "0.006,0,0.007", "row 6 (busy): min, median and max are 0, 0.006"),
        # the speed-up
        ("128,10,2", "128,10,0.5", "row 3 (fast): speedup is 0.5, expected 2, of 0.004 ms"),
        ("128,10,2", "128,10,", "row 3 (fast): speedup is missing, expected 2, of 0.004 ms"),
        ("32,2.5,0.5", "32,2.5,1", "row 4 (fast): speedup is 1, expected 0.5, of 0.004 ms"),
        (",,0,,,,,,,ok", ",,0,,,,,,1,ok", "row 1 (host): a speedup, but no time"),
        (",slow,", ",fast,", "row 2 (fast): no baseline above it"),
        # own columns
        ("1000,7,", "1000,8,", "row 6 (busy): split is 8, expected 7: min(7, rows)"),
        ("8x4,1000,,4,0.004", "8x4,999,,4,0.004", "row 2 (slow): warps is 999, expected 1000"),
        ("8x4,1000,,4,0.004", "8x4,1000,7,4,0.004", "row 2 (slow): split is 7, but exercise.toml has no"),
        ("cols=32,busy", "columns=32,busy", "row 6 (busy): warps: rows * cols / 32: there is no number"),
    ],
)  # fmt: skip
def test_a_lie_is_found(facts: Facts, old: str, new: str, message: str) -> None:
    assert (HEAD + ROWS).count(old) == 1
    found = numbers.problems(rows((HEAD + ROWS).replace(old, new)), facts)
    assert any(message in each for each in found), found


def test_the_wrong_unit_of_the_rate(facts: Facts) -> None:
    found = numbers.problems(rows((HEAD + ROWS).replace("gbps", "gflops")), facts)
    assert "row 2 (slow): there is no column gbps" in found
    assert "row 2 (slow): gflops is 64, but exercise.toml has no formula for it" in found


def wrong(facts: Facts, text: str) -> bool:
    return numbers.problems(rows(text), facts) != []


def test_a_baseline_may_begin_with_another_value_of_a_column(facts_with) -> None:
    facts = facts_with("[work]\nbaselines = ['k']\nper = 'threads'\n")
    text = "kernel,grid,device,threads,reps,median_ms,min_ms,max_ms,speedup\n"
    text += "k,1,g,5,1,4,4,4,1\nk,1,g,5,1,2,2,2,2\nk,1,g,7,1,8,8,8,{}\n"
    assert not wrong(facts, text.format(1))
    assert wrong(facts, text.format(0.5))


def test_a_run_of_some_kernels_alone_compares_with_its_first_row(facts_with) -> None:
    facts = facts_with("")
    text = "kernel,grid,parameters,device,reps,median_ms,min_ms,max_ms,speedup\n"
    text += "a,1,n=1,g,1,4,4,4,1\nb,1,n=1,g,1,2,2,2,2\n"
    text += "b,1,n=2,g,1,8,8,8,{}\nc,1,n=2,g,1,2,2,2,{}\n"
    assert not wrong(facts, text.format(1, 4))
    assert wrong(facts, text.format(1, 2))
    assert not wrong(facts, text.format(0.5, 2))  # its baseline is of other options
    assert wrong(facts, text.format(0.5, 1))


def test_where_the_column_per_changes_such_a_run_begins_anew(facts_with) -> None:
    facts = facts_with("[work]\nbaselines = ['a']\nper = 'threads'\n")
    text = "kernel,grid,parameters,device,threads,reps,median_ms,min_ms,max_ms,speedup\n"
    text += "a,1,n=1,g,5,1,4,4,4,1\nb,1,n=2,g,5,1,8,8,8,1\n"
    text += "b,1,n=2,g,{},1,4,4,4,1\nc,1,n=2,g,7,1,2,2,2,2\n"
    assert not wrong(facts, text.format(7))
    assert wrong(facts, text.format(5))


def test_without_baselines_the_first_row_that_is_timed_is_one(facts_with) -> None:
    facts = facts_with("")
    text = "kernel,grid,device,reps,median_ms,min_ms,max_ms,speedup\nhost,-,g,0,,,,\n"
    text += "a,1,g,1,4,4,4,1\nb,1,g,1,2,2,2,{}\n"
    assert not wrong(facts, text.format(2))
    assert wrong(facts, text.format(1))
    alone = text.rpartition("b,")[0]
    assert not wrong(facts, alone)
    assert wrong(facts, alone.replace("4,4,4,1", "4,4,4,2"))
    assert not wrong(facts, alone.rpartition("a,")[0])  # nothing is timed


@pytest.mark.parametrize(
    ("device", "latency", "expected"),
    [
        ("CPU emulation of sm_90", "", []),
        ("CPU emulation of sm_90", "12", ["row 1: latency is 12, on an emulation"]),
        ("some GPU", "12", []),
        ("some GPU", "", ["row 1: latency is missing, expected 12: 4 * cycles"]),
    ],
)
def test_a_column_of_a_gpu_is_empty_in_an_emulation(
    facts_with, device: str, latency: str, expected: list[str]
) -> None:
    row = {"device": device, "cycles": "3", "latency": latency}
    facts = facts_with("[columns]\nlatency = { gpu = true, formula = '4 * cycles' }\n")
    assert numbers.problems([row], facts) == expected
    of_both = facts_with("[columns]\nlatency = { formula = '4 * cycles' }\n")
    assert (numbers.problems([row], of_both) == []) == (latency == "12")


def test_a_column_that_is_passed_over_does_not_hide_the_next(facts_with) -> None:
    of_gpu = "latency = { gpu = true, formula = '1' }\n"
    facts = facts_with(f"[columns]\nnone = {{ formula = '1' }}\n{of_gpu}last.formula = '7'\n")
    row = {"device": "CPU emulation of sm_90", "latency": "", "last": "8"}
    assert numbers.problems([row], facts) == ["row 1: last is 8, expected 7: 7"]


LIMITS = """[columns]
idle = { least = "10 - busy", most = "100" }
seen = { most = { k = "2 * warps" } }
"""


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"idle": "6"}, []),
        ({"idle": ""}, []),
        ({"idle": "-2", "busy": "12"}, []),
        ({"idle": "5.999"}, ["row 1: idle is 5.999, expected at least 6: 10 - busy"]),
        ({"idle": "101"}, ["row 1: idle is 101, expected at most 100: 100"]),
        ({"kernel": "other", "seen": "9"}, []),
        ({"kernel": "k", "seen": "9"}, ["row 1 (k): seen is 9, expected at most 8: 2 * warps"]),
        ({"kernel": "k", "seen": "x"}, ["row 1 (k): seen is x, expected at most 8: 2 * warps"]),
        ({"kernel": "k", "seen": "1000000.9", "warps": "500000"}, []),  # 9 digits of it are right
        (
            {"kernel": "k", "seen": "1", "warps": ""},
            ["row 1 (k): seen: 2 * warps: there is no number warps"],
        ),
    ],
)
def test_a_column_may_have_limits(facts_with, cells: dict[str, str], expected: list[str]) -> None:
    row = {"device": "d", "busy": "4", "warps": "4", **cells}
    assert numbers.problems([row], facts_with(LIMITS)) == expected


def test_a_shape_is_its_product() -> None:
    names = numbers.names_of({"parameters": "block=40x2 sweep=x", "block": "7", "kernel": "xx"})
    assert names == {"block": 80}


def test_times_are_no_longer_than_what_has_passed() -> None:
    exact = [{"reps": "2", "min_ms": "0.5"}, {"reps": "7", "min_ms": ""}, {"kernel": "k"}]
    assert numbers.longer_than(exact, 1) == []
    assert numbers.longer_than(exact, 0.999) != []
    assert numbers.longer_than(rows(), 0.07) == [
        "the times add up to 0.072 ms, but the program took 0.07 ms in all"
    ]


@pytest.mark.parametrize("name", [exercise.name for exercise in catalogue.exercises()])
def test_the_measured_results_fit_together(name: str) -> None:
    (exercise,) = catalogue.exercises([name])
    files = sorted(catalogue.one(name).results.glob("*/table.csv"))
    for path in files:
        assert numbers.problems(parse(read_text(path), path).rows, exercise.facts) == []
