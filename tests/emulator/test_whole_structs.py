"""Structs and vectors that are stored or loaded as a whole, also as results and arguments of functions,
are seen by the hazard check (check/whole_structs.cu) and the profiler."""

import csv
import os
import subprocess
from pathlib import Path

import check_report
import pytest
from check_report import only, run

SOURCE = Path(__file__).parent / "check" / "whole_structs.cu"


@pytest.fixture
def program(build):
    return build / "tests" / "whole_structs"


@pytest.fixture
def check(program, tmp_path):
    return lambda case: run(program, tmp_path / "report", case)


def line_of(mark):
    return check_report.line_of(SOURCE, mark)


@pytest.mark.parametrize(
    "case", "pairs vectors ofLocal ofFunction memberOfFunction deviceOfFunction".split()
)
def test_threads_write_different_values(check, case):
    finding = only(check(case))
    assert finding.title.endswith("memory: write after write")
    assert finding.lines() == [line_of(case)] * 2
    threads = [who for _, who, _, _ in finding.acts]
    assert threads == ["thread (0,0,0)", "thread (1,0,0)"]


def test_blocks_write_different_values(check):
    finding = only(check("rowsOfBlocks"))
    assert finding.title == "race in global memory: write after write"
    assert finding.lines() == [line_of("rowsOfBlocks")] * 2
    assert finding.acts[0][1].startswith("a thread of block ")


@pytest.mark.parametrize("case", "argument operands argumentByPointer".split())
def test_loads_of_arguments(check, case):
    finding = only(check(case))
    assert finding.title == "race in shared memory: read after write"
    assert finding.lines() == [line_of(case) - 1 - (case == "argumentByPointer"), line_of(case)]


@pytest.mark.parametrize("case", "sameValue eachItsOwn".split())
def test_silent(check, case):
    report = check(case)
    assert report.findings == []
    assert "no error" in report.output


def test_profiler_counts_loads_of_arguments(program, tmp_path):
    profile = tmp_path / "profile.csv"
    environment = {**os.environ, "CUDA_EMULATOR_PROFILE": str(profile)}
    subprocess.run([program, "operands"], env=environment, check=True, capture_output=True)
    kernel = list(csv.DictReader(profile.read_text().splitlines()))[-1]
    warps, operands = 2, 2
    assert int(kernel["smsp__inst_executed_op_shared_ld.sum"]) == warps * operands
