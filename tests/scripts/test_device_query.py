"""deviceQuery on the cpu back end, held against what it said of an H200: the emulation has the limits of its
compute capability, and the same rows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lab_cli.paths import ROOT
from lab_cli.results.csv_file import Row, parse, read_text

LIMITS = "launch limits"


def rows_of(name: str) -> list[Row]:
    build = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu"))
    program = build / "ch03_execution_model" / name
    if not program.exists():
        pytest.skip(f"{program} is not built: ./lab test builds it")
    done = subprocess.run([str(program), "--csv"], stdout=subprocess.PIPE, text=True, check=True)
    return parse(done.stdout, program).rows


@pytest.fixture(scope="module")
def here() -> list[Row]:
    return rows_of("deviceQuery")


@pytest.fixture(scope="module")
def recorded() -> list[Row]:
    path = ROOT / "results" / "h200" / "deviceQuery.csv"
    return parse(read_text(path), path).rows


def test_rows_are_the_same(here: list[Row], recorded: list[Row]) -> None:
    assert [(r["group"], r["property"]) for r in here] == [
        (r["group"], r["property"]) for r in recorded
    ]
    assert [r["unit"] for r in here] == [r["unit"] for r in recorded]


def test_limits_are_the_same(here: list[Row], recorded: list[Row]) -> None:
    def limits(rows: list[Row]) -> dict[str, str]:
        return {r["property"]: r["value"] for r in rows if r["group"] == LIMITS}

    assert limits(here) == limits(recorded)


def test_what_it_says_of_an_h200_is_what_it_said(recorded: list[Row]) -> None:
    assert rows_of("deviceQuery_as_gpu") == recorded
