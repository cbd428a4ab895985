"""What ./lab test notes of the exercises: who has passed, who has failed, and with which sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab_cli.paths import SCRIPTS
from lab_cli.testing import standing
from lab_cli.testing.standing import CHANGED, FAILED, PASSED, UNTESTED, Result
from lab_cli.testing.summary import Case
from testing_sample import listed

TESTS = listed("x/results", "x/options", "y/results", "x/broken")


def ran(**outcomes: str) -> list[Case]:
    """Cases of x/results, x/options, y/results and x/broken: "run", "fail" or "notrun"."""
    tests = dict(zip(("x", "help", "y", "broken"), TESTS))
    return [Case(f"{key} --size=1", tests[key], outcome) for key, outcome in outcomes.items()]


@pytest.fixture(autouse=True)
def two(exercises) -> Path:
    """Exercises x and y of one chapter; returns its folder."""
    exercises("ch04_memory/x")
    return exercises("ch04_memory/y").parents[1]


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        (ran(x="run", help="run", y="run", broken="run"), {"x": PASSED, "y": PASSED}),
        (ran(x="run", help="fail", y="run"), {"x": FAILED, "y": PASSED}),
        (ran(x="run", help="notrun"), {"x": PASSED}),
        (ran(x="notrun", help="notrun"), {}),  # no usable GPU
        (ran(x="notrun", help="run"), {}),  # its options are right without one
        (ran(x="run"), {}),  # a part says nothing ...
        (ran(x="fail"), {"x": FAILED}),  # ... unless it fails
        (ran(broken="fail", x="run", help="run"), {"x": PASSED}),  # not the student's tests
        ([*ran(x="run", help="run"), *ran(x="fail")], {"x": FAILED}),  # one case of many
        (ran(x="disabled", help="run"), {}),
        ([], {}),
    ],
)
def test_what_a_run_says(cases: list[Case], expected: dict[str, str]) -> None:
    assert standing.outcomes(cases, TESTS) == expected


def test_results_are_kept_by_exercise_and_back_end(standing_file: Path) -> None:
    assert standing.read() == {}
    standing.record("cpu", {"x": "1", "y": "2"}, ran(x="run", help="run", y="fail"), TESTS)
    standing.record("gpu", {"x": "3", "y": "4"}, ran(x="fail", help="run"), TESTS)
    standing.record("cpu", {"x": "5", "y": "6"}, ran(x="run"), TESTS)  # a part: nothing new
    assert standing.read() == {
        "x": {"cpu": Result(PASSED, "1"), "gpu": Result(FAILED, "3")},
        "y": {"cpu": Result(FAILED, "2")},
    }
    assert sorted(os.listdir(standing_file.parent)) == ["standing.json", "standing.lock"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"x": 1, "y": {"cpu": []}}',
        b'{"x": {"cpu": {"outcome": "great", "sources": "1"}}}',
        b'{"x": {"cpu": {"outcome": "passed", "sources": 1}}}',
        b'{"x": {"cpu": {"outcome": ["passed"], "sources": "1"}}}',
        b"[" * 100_000,
    ],
)
def test_what_is_not_ours_says_nothing(standing_file: Path, content: bytes) -> None:
    standing_file.write_bytes(content)
    assert standing.read() == {}
    standing.record("cpu", {"y": "2"}, ran(y="run"), TESTS)
    assert standing.read() == {"y": {"cpu": Result(PASSED, "2")}}


def test_a_folder_in_its_place_says_nothing(standing_file: Path) -> None:
    standing_file.mkdir()
    assert standing.read() == {}


RECORD = """
import sys
from pathlib import Path
from lab_cli.testing import standing
standing.FILE = Path(sys.argv[1])
standing.outcomes = lambda cases, tests: {sys.argv[2]: "passed"}
for number in range(50):
    standing.record(str(number), {}, [], [])
"""


def test_two_at_once_do_not_lose_each_others(standing_file: Path) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", RECORD, str(standing_file), name],
            env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        )
        for name in ("x", "y")
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    known = json.loads(standing_file.read_text())
    assert {name: len(results) for name, results in known.items()} == {"x": 50, "y": 50}


def test_the_sources_of_an_exercise_are_its_file_and_the_headers_that_it_includes(
    two: Path,
) -> None:
    source = two / "x" / "x.cu"
    source.write_text('#include <cuda_runtime.h>\n  #  include "a.cuh"\n#include "lab.cuh"\n')
    (two / "x" / "a.cuh").write_text('#include "b.h"\n#include "a.cuh"\n')  # b.h is not there yet
    (two / "x" / "c.h").touch()
    seen = [standing.digest(source)]
    for path, text in (
        (two / "x" / "b.h", "int b;"),
        (two / "x" / "b.h", "int c;"),
        (two / "x" / "a.cuh", '#include "../d.h"\n'),
        (two / "d.h", "int d;"),
        (source, '#include "a.cuh"\n'),
    ):
        path.write_text(text)
        seen.append(standing.digest(source))
    assert len(set(seen)) == len(seen)
    (two / "x" / "c.h").write_text("not included")
    (two / "y" / "y.cu").write_text("another")
    os.utime(source, (1, 1))
    assert standing.digest(source) == seen[-1]
    source.unlink()
    assert standing.digests() == {"x": "", "y": standing.digest(two / "y" / "y.cu")}


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ({}, UNTESTED),
        ({"cpu": Result(PASSED, "then")}, CHANGED),
        ({"cpu": Result(FAILED, "then")}, CHANGED),
        ({"cpu": Result(PASSED, "now"), "gpu": Result(FAILED, "now")}, FAILED),
        ({"cpu": Result(PASSED, "now"), "gpu": Result(FAILED, "then")}, PASSED),
    ],
)
def test_state_of_an_exercise(results: dict[str, Result], expected: str) -> None:
    assert standing.state(results, "now") == expected
