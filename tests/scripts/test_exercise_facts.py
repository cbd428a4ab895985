"""exercise.toml: what it says, and how each mistake in it is named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue, exercise_facts
from lab_cli.errors import LabError
from lab_cli.exercise_facts import (
    Broken,
    Cases,
    Column,
    Counts,
    Facts,
    Formulas,
    Hazards,
    Images,
    Plan,
    Run,
    Work,
)
from lab_cli.formula import Formula
from lab_cli.results.csv_file import parse, read_text

NO_MATCHES: dict[str, dict[str, list[str]]] = {kind: {} for kind in Cases.KINDS}
FULL = r"""
order = 60
idea = "what it is about"
gpu_only = true
rdc = true
libraries = ["CUDA::cublas"]
architectures = ["80+"]

[tests]
runs = ["--size=3", ""]

[tests.prints]
"--size=3" = '^a+$'
"" = ["b", 'c\d']

[tests.rejects]
"--size=0" = "--size=0: .* from 1"

[tests.hazards]
"--size=3" = { hazards = 2 }
"" = { hazards = 0, launches = 4 }

[profile]
metrics = ["branch", "gld_efficiency", "lts__t_sectors.sum"]

[bench]
runs = ["--size=1M --reps=200", "", { options = "--size=1G", gib = 9 }]
files = ["timeline"]
images = { options = "--width=9", files = ["map"] }
debug = true

[work]
bytes = "4 * size"
flops = { copy = "0", others = "2 * size" }
baselines = ["slow"]
per = "size"

[figures.ladder]
chart = "ladder"
title = "{size} integers"
value = "gbps"
where = { block = ["256", "-"] }

[columns]
split = { title = "split [%]", format = ".4g" }
limited_by = { text = true }
warps = { gpu = true, formula = "ceil(size / 32)" }

[faults]
timings = [0, 2]
harmless = ["launch 3", "copy 1 6"]

[counts]
options = "--size=3"
options_on_cpu = "--block=1"

[[counts.differences]]
kernels = "add"
counts = "load .*"
now = "any"
reason = "none"

[[broken]]
replace = "a + b"
by = "a - b"
wrong = ["add", { kernel = "sub", size = 1 }]

[[broken]]
file = "x.cuh"
replace = "a"
by = ""
wrong = []
"""


def load(tmp_path: Path, text: str) -> Facts:
    file = tmp_path / "x.toml"
    file.write_text(text)
    return exercise_facts.load(file)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(LabError) as raised:
        load(tmp_path, text)
    lines = str(raised.value).splitlines()
    assert all("x.toml: " in line for line in lines)
    return [line.split("x.toml: ", 1)[1] for line in lines]


def test_all_that_there_can_be(tmp_path: Path) -> None:
    facts = load(tmp_path, FULL)
    assert facts.hazards == 2  # on purpose: those of the first entry
    assert facts == Facts(
        order=60,
        idea="what it is about",
        gpu_only=True,
        rdc=True,
        libraries=["CUDA::cublas"],
        architectures=["80+"],
        tests=Cases(
            ["--size=3", ""],
            {**NO_MATCHES, "prints": {"--size=3": ["^a+$"], "": ["b", r"c\d"]}}
            | {"rejects": {"--size=0": ["--size=0: .* from 1"]}},
            [Hazards("--size=3", 2), Hazards("", 0, 4)],
        ),
        counts=Counts(
            "--size=3",
            "--block=1",
            [{"kernels": "add", "counts": "load .*", "now": "any", "reason": "none"}],
        ),
        metrics=["branch", "gld_efficiency", "lts__t_sectors.sum"],
        bench=Plan(
            [Run(["--size=1M", "--reps=200"]), Run([]), Run(["--size=1G"], 9)],
            ["timeline"],
            True,
            Images(Run(["--width=9"]), ["map"]),
        ),
        work=Work(
            bytes=Formulas({"others": Formula("4 * size")}),
            flops=Formulas({"copy": Formula("0"), "others": Formula("2 * size")}),
            baselines=["slow"],
            per="size",
        ),
        figures={
            "ladder": {
                "chart": "ladder",
                "title": "{size} integers",
                "value": "gbps",
                "where": {"block": ["256", "-"]},
            }
        },
        columns={
            "split": Column("split [%]", ".4g"),
            "limited_by": Column(text=True),
            "warps": Column(gpu=True, formula=Formulas({"others": Formula("ceil(size / 32)")})),
        },
        harmless=["copy 0", "copy 2", "launch 3", "copy 1 6"],
        broken=[
            Broken("a + b", "a - b", [{"kernel": "add"}, {"kernel": "sub", "size": "1"}]),
            Broken("a", "", [], "x.cuh"),
        ],
    )


def test_the_least_that_there_must_be(tmp_path: Path) -> None:
    least = Facts(10, Plan([Run([])]), Cases([""], NO_MATCHES, []), "what it is about")
    assert load(tmp_path, FACTS) == least
    assert least.hazards == 0


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (Hazards("", 0), "no hazards found (1 kernel launch, 2 copies)"),
        (Hazards("", 0, 3), "no hazards found (3 kernel launches, 1 copy)"),
        (Hazards("", 1), "1 hazard found"),
        (Hazards("", 2), "2 hazards found"),
        (Hazards("", 0, 0), "no kernel was launched: nothing was looked at"),
    ],
)
def test_hazards_as_the_report_says_them(entry: Hazards, line: str) -> None:
    assert re.search(entry.exactly, line)
    for other in ("no hazards found (7 kernel launches, 1 copy)", "12 hazards found"):
        assert not re.search(replace(entry, launches=5).exactly, other)


def test_hazards_that_a_student_has_fixed_or_added() -> None:
    (some, none) = (Hazards("", 2).at_most, Hazards("", 0, 0).at_most)
    for line in ("no hazards found (9 kernel launches, 0 copies)", "1 hazard found"):
        assert re.search(some, line)
    assert re.search(some, "2 hazards found")
    for line in ("3 hazards found", "12 hazards found"):
        assert not re.search(some, line)
    assert re.search(none, "no hazards found (1 kernel launch, 0 copies)")
    assert re.search(none, "no kernel was launched: nothing was looked at")
    assert not re.search(none, "1 hazard found")


TESTS = "idea = ''\n[tests]\nruns = ['']\n"
BENCH = "order = 1\n" + TESTS + "[bench]\n"
FIGURE = FACTS + "[figures.f]\n"
BROKEN = "[[broken]]\nreplace = 'a'\nby = 'b'\n"
LADDER = FIGURE + "chart = 'ladder'\ntitle = 't'\n"


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (BENCH[10:] + "runs = ['']", "order is missing"),
        ("order = true\n" + BENCH[10:] + "runs = ['']", "order = True: expected a whole number"),
        ("ordr = 1\n" + FACTS, "unknown key ordr; did you mean order?"),
        (FACTS + "[xyz]\n", "unknown key xyz; known are order, idea, gpu_only, "),
        ("order = 1\nbench = 3\n" + TESTS, "bench = 3: expected a table"),
        (FACTS.replace('[""]', "[]", 1), "[tests] runs is empty"),
        (FACTS + "[tests.prints]\n'--size=3' = 4\n", "[tests.prints] '--size=3': 4: expected"),
        (FACTS + "[tests.prints]\n'--size=3' = ['a', 'b(']\n", "[tests.prints] '--size=3': 'b(': "),
        (FACTS + "[tests.hazards]\n'' = 3\n", "[tests.hazards] '': hazards is missing"),
        (FACTS + "[counts]\n", "[counts] options is missing"),
        (BENCH, "[bench] runs is missing"),
        (BENCH + "runs = []\n", "[bench] runs is empty"),
        (BENCH + "runs = ['', 1]\n", "[bench] runs, entry 2: 1: expected a text, or { options = "),
        (BENCH + "runs = [{ options = '' }]\n", "[bench] runs, entry 1: gib is missing"),
        (BENCH + "runs = ['\"']\n", "[bench] runs, entry 1: '\"': No closing quotation"),
        (FACTS + "files = [1]\n", "[bench] files = [1]: expected a list of texts"),
        (FACTS + "[bench.images]\noptions = ''\n", "[bench.images] files is missing"),
        (FACTS + "[bench.images]\noptions = '\"'\n", "[bench.images] '\"': No closing quotation"),
        (FIGURE + "title = 't'\nchart = 'image'\nlabel = ''\n", "[figures.f] source is missing"),
        (FACTS + "[profile]\n", "[profile] metrics is missing"),
        (FACTS + "[profile]\nmetrics = ['ranch']\n", "[profile] metrics: no metric is named 'ranch'"),
        (FACTS + "[figures]\nf = 3\n", "[figures.f] = 3: expected a table"),
        (FIGURE + "title = 't'\nchart = 'pie'\n", "[figures.f] chart = 'pie': expected ladder, curves"),
        (FIGURE + "chart = 'ladder'\n", "[figures.f] title is missing"),
        (LADDER, "[figures.f] value is missing"),
        (LADDER + "placed = [{}]\n", "[figures.f] placed, entry 1: profiled is missing"),
        (FACTS + "[columns]\na = { titel = 'x' }\n", "[columns] a: unknown key titel; "),
        (FACTS + "[columns]\na = 'x'\n", "[columns] a: 'x': expected a table"),
        (FACTS + "[columns]\na = { formula = 'b +' }\n", "[columns] a: formula: 'b +': "),
        (FACTS + "[columns]\na = { formula = { x = 'b', y = '-b' } }\n", "[columns] a: formula: -b: "),
        (FACTS + "[columns]\na = { format = '.4q' }\n", "[columns] a: format = '.4q': "),
        (FACTS + "[work]\nbytes = 4\n", "[work] bytes = 4: expected a formula, or a table of them"),
        (FACTS + "[faults]\ntimings = ['a']\n", '[faults] copy a: expected "launch K"'),
        (FACTS + "[broken]\n", "broken = {}: expected a list"),
        (FACTS + BROKEN, "[[broken]], entry 1: wrong is missing"),
        (FACTS + BROKEN + "wrong = [{}]\n", "[[broken]], entry 1: wrong: {}: expected a kernel, or "),
        (FACTS + BROKEN.replace("'b'", "'a'"), "[[broken]], entry 1: nothing is replaced"),
    ],
)  # fmt: skip
def test_every_mistake_is_named(tmp_path: Path, text: str, mistake: str) -> None:
    assert any(each.startswith(mistake) for each in problems(tmp_path, text))


def test_all_mistakes_of_a_file_are_named(tmp_path: Path) -> None:
    missing = [f"{key} is missing" for key in ("order", "idea", "tests", "bench")]
    assert problems(tmp_path, "[colums]\n") == [
        "unknown key colums; did you mean columns?",
        *missing,
    ]


def test_columns_of_the_project_are_in_its_results() -> None:
    """A misspelt name would do nothing."""
    for exercise in catalogue.exercises():
        there: set[str] = set()
        for path in exercise.results.glob("h200/*.csv"):
            if path.name.startswith("counts."):  # as ncu has written them
                continue
            there |= set(parse(read_text(path), path).columns)
        if there:  # it was measured
            assert set(exercise.facts.columns) <= there, exercise.name
