"""The judge of the launches that the rows of an exercise tell, and of the hazard check of whole programs; and
how programs of tests are run."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import check_hazards
import program
import pytest
from lab_cli.counters.raw_csv import Launch
from lab_fixtures import shell_program
from launches import name_problem, problem

CLEAN = "no hazards found (3 kernel launches, 2 copies)"
REGEX = r"^no hazards found \([0-9]+ kernel launch"


def test_what_the_report_of_a_program_says_counts(tmp_path: Path) -> None:
    source = tmp_path / "x.cu"
    source.touch()
    os.utime(source, (1, 1))

    def judge(script: str) -> int:
        built = shell_program(tmp_path / "x", script)
        return check_hazards.main([str(source), REGEX, "--", str(built), "--profile"])

    assert judge(f'echo "{CLEAN}" > "$CUDA_EMULATOR_CHECK"') == 0
    assert judge('echo "1 hazard found" > "$CUDA_EMULATOR_CHECK"') == 1
    assert judge("true") == 1
    source.touch()
    os.utime(tmp_path / "x", (2, 2))
    assert check_hazards.main([str(source), REGEX, "--", str(tmp_path / "x")]) == 77  # it is older


def test_a_limit_of_cpu_time_ends_what_hangs(monkeypatch) -> None:
    monkeypatch.setattr(program, "CPU_SECONDS", 1)
    done = program.run([sys.executable, "-c", "while True: pass"])
    assert -done.returncode in (signal.SIGXCPU, signal.SIGKILL)


# ---- launches.py ----

LAUNCHES = [
    Launch(kernel, grid, block, "0", {})
    for kernel, grid, block in (("a", "16", "64"), ("second", "1", "16"), ("b", "3x2", "32x8"))
]


def row(kernel: str, grid: str, block: str, reps: str = "0", median: str = "") -> dict[str, str]:
    times = {"median_ms": median, "min_ms": median, "max_ms": median}
    return {"kernel": kernel, "grid": grid, "block": block, "reps": reps, **times}


def test_rows_are_launches_in_their_order() -> None:
    rows = [row("host", "-", "-"), row("a", "16", "64"), row("b", "3x2", "32x8")]
    assert problem(rows, LAUNCHES) == ""
    assert problem(rows[1:], LAUNCHES[:2]).startswith("b: 3x2 blocks of 32x8, but launched were 1")
    assert "but launched were 1 blocks" in problem([rows[1]] * 2, LAUNCHES)  # one launch


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (row("a", "64", "16"), "a: 64 blocks of 16, but launched were 16 blocks of 64, 1 blocks"),
        (row("a", "16", "32"), "a: 16 blocks of 32, but"),
        (row("a", "16", "64", reps="20"), "a: has a time with --profile"),
        (row("a", "16", "64", median="0.1"), "a: has a time with --profile"),
        (row("a", "-", "-"), "no row has a grid"),
    ],
)
def test_a_row_that_says_something_else(wrong: dict[str, str], message: str) -> None:
    assert problem([wrong], LAUNCHES).startswith(message)


@pytest.mark.parametrize(
    ("name", "kernel", "right"),
    [
        ("reduce8", "reduce<64, 8>", True),
        ("tiled16", "tiled<16>", True),
        ("tiled32", "tiled<16>", False),
        ("reduce8", "reduce8", True),
        ("fmas", "chains<Fma, 2>", True),
        ("reduceShared", "reduce<8>", True),
    ],
)
def test_a_number_in_the_name_is_the_last_template_argument(
    name: str, kernel: str, right: bool
) -> None:
    launch = Launch(kernel, "16", "64", "0", {})
    rows = [row(name, "16", "64")]
    assert (name_problem(rows, [launch]) == "") == right
    assert problem(rows, [launch]) == ""  # a student may name a row in another way
