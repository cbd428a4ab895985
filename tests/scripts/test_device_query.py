"""deviceQuery on the cpu back end, held against what it said of an H200: the emulation has the limits of its
compute capability, and the same rows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lab_cli.paths import ROOT
from lab_cli.results.csv_file import Row, parse, read_text
from lab_fixtures import shipped

LIMITS = "launch limits"


def rows_of(name: str, *options: str) -> list[Row]:
    build = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu"))
    program = build / "ch03_execution_model" / name
    if not program.exists():
        pytest.skip(f"{program} is not built: ./lab test builds it")
    command = [str(program), "--csv", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return parse(done.stdout, program).rows


@pytest.fixture(scope="module")
def recorded() -> list[Row]:
    path = shipped("deviceQuery").results / "h200" / "table.csv"
    return parse(read_text(path), path).rows


def test_rows_and_limits_are_the_same(recorded: list[Row]) -> None:
    def same_in_both(rows: list[Row]) -> list[list[str]]:
        columns = ["group", "property", "unit"]
        return [
            [row[name] for name in (columns + ["value"] if row["group"] == LIMITS else columns)]
            for row in rows
        ]

    assert same_in_both(rows_of("deviceQuery")) == same_in_both(recorded)


def test_what_it_says_of_an_h200_is_what_it_said(recorded: list[Row]) -> None:
    assert rows_of("deviceQuery_as_gpu") == recorded


def test_what_it_says_of_a_gpu_that_is_not_here_is_what_that_said(recorded: list[Row]) -> None:
    """All that is the GPU's own, and what follows from it; but for textures."""
    machine = {"CUDA driver version", "CUDA runtime version", "PCI address", "compute mode"}
    machine |= {"run-time limit on kernels", "integrated"}
    kept = [
        {**row, "parameters": f"{row['parameters']} like=h200"}
        for row in recorded
        if row["property"] not in machine and row["group"] != "largest textures"
    ]
    assert rows_of("deviceQuery", "--like=h200") == kept
