"""Kernels of other exercises on a roofline, from small files of results. How they stand behind its own rows,
the project's figure shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_cli.errors import LabError
from lab_cli.results import placed

TIMES = """# gpu: X1
exercise,parameters,kernel,grid,block,median_ms,gflops
product,m=64 k=8,tiled,4x4,32,2,50
product,m=128 k=8,tiled,8x8,32,4,100
product,m=128 k=8,naive,8x8,32,5,
"""
COUNTS = """# gpu: X1
kernel,build,grid,block,dram_read_bytes,dram_write_bytes
tiled<2>,debug,8x8,32,999,999
tiled<2>,optimised,8x8,32,0.03,0.01
naive,optimised,8x8,32,0.5,0.3
"""
TILED = {"exercise": "product", "kernel": "tiled", "profiled": "tiled<2>", "where": {"m": 128}}
NAIVE = {**TILED, "kernel": "naive", "profiled": "naive"}


@pytest.fixture
def folder(exercises) -> Path:
    """That of the results of another exercise on the same GPU."""
    product = exercises("ch05/product").with_name("results") / "x1"
    product.mkdir(parents=True)
    (product / "table.csv").write_text(TIMES)
    (product / "metrics.csv").write_text(COUNTS)
    roof = exercises("ch05/roof").with_name("results") / "x1"
    roof.mkdir(parents=True)
    return roof


def counts_of(folder: Path) -> Path:
    return placed.beside(folder, "product") / "metrics.csv"


def test_operations_by_counted_bytes(folder: Path) -> None:
    """100 GFLOP/s for 4 ms are 4e8 operations, and 0.04 MB were moved."""
    assert placed.rows(folder, [TILED]) == [
        {"exercise": "product", "kernel": "tiled", "intensity": "10000", "gflops": "100"}
    ]


def test_operations_by_a_formula(folder: Path) -> None:
    (row,) = placed.rows(folder, [{**NAIVE, "operations": "1000 * m * k"}])
    assert (row["intensity"], row["gflops"]) == ("1.28", "0.2048")
    with pytest.raises(LabError, match="naive, operations: there is no number n"):
        placed.rows(folder, [{**NAIVE, "operations": "n"}])
    with pytest.raises(LabError, match="naive has no number in column gflops"):
        placed.rows(folder, [NAIVE])


def test_what_was_not_measured_is_left_out(folder: Path) -> None:
    gone = {**TILED, "exercise": "roof"}
    assert [row["exercise"] for row in placed.rows(folder, [gone, TILED])] == ["product"]
    lines = [line.rpartition(",")[0] for line in COUNTS.splitlines()]
    counts_of(folder).write_text("\n".join(lines))
    assert placed.rows(folder, [TILED]) == []
    counts_of(folder).unlink()
    assert placed.rows(folder, [TILED]) == []


def test_kernels_that_are_not_in_the_results(folder: Path) -> None:
    for wrong, message in (
        ({"profiled": "tiled"}, "x1/metrics.csv: no row with kernel=tiled build=opt"),
        ({"where": {"m": 256}}, "x1/table.csv: no row with kernel=tiled m=256$"),
    ):
        with pytest.raises(LabError, match=f"product/results/{message}"):
            placed.rows(folder, [{**TILED, **wrong}])


def test_profiled_must_be_the_size_that_was_timed(folder: Path) -> None:
    with pytest.raises(LabError, match=r"tiled: a grid of 4x4 in \S*table.csv, but of 8x8 in"):
        placed.rows(folder, [{**TILED, "where": {"m": 64}}])


def test_no_bytes_at_all(folder: Path) -> None:
    counts_of(folder).write_text(COUNTS.replace("0.03,0.01", "0,0"))
    with pytest.raises(LabError, match="tiled: no bytes were counted"):
        placed.rows(folder, [TILED])


def test_bytes_of_another_memory_and_another_label(folder: Path) -> None:
    """Four wavefronts of 128 bytes; the same kernel can have several places."""
    lines = COUNTS.splitlines()
    ends = ["", ",wavefronts", ",9", ",4", ",9"]
    counts_of(folder).write_text("\n".join(line + end for line, end in zip(lines, ends)))
    shared = {**TILED, "moved": "128 * wavefronts", "label": "tiled, shared memory"}
    assert [(row["kernel"], row["intensity"]) for row in placed.rows(folder, [TILED, shared])] == [
        ("tiled", "10000"),
        ("tiled, shared memory", "781250"),
    ]
    assert placed.rows(folder, [{**TILED, "moved": "128 * sectors"}]) == []
    with pytest.raises(LabError, match="tiled, moved: "):
        placed.rows(folder, [{**TILED, "moved": "128 *"}])
