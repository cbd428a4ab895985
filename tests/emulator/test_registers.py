"""Launches that need more registers than an SM has fail where somebody says how many a kernel takes, as
./lab check does where nvcc is there (check/registers.cu)."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from lab_cli.building import registers
from lab_cli.machine import backend

SOURCE = Path(__file__).parent / "check" / "registers.cu"
TOO_MANY = "cudaErrorLaunchOutOfResources"


@pytest.fixture
def error(build):
    """Of a launch, with this in the environment."""

    def run(kernel, threads, told):
        command = [build / "tests" / "registers", kernel, str(threads)]
        environment = {**os.environ, registers.VARIABLE: told}
        return subprocess.check_output(command, env=environment, text=True).strip()

    return run


@pytest.mark.parametrize(
    "kernel, told, threads, expected",
    [
        ("many", "_Z4manyPf:65", 1024, TOO_MANY),
        ("many", "_Z4manyPf:64", 1024, "cudaSuccess"),
        # a warp is given 2,304 of 65,536, since they come in units of 256
        ("many", "_Z4manyPf:65", 28 * 32, "cudaSuccess"),
        ("many", "_Z4manyPf:65", 28 * 32 + 1, TOO_MANY),
        ("many", "_Z4manyPf:255", 256, "cudaSuccess"),
        ("many", "_Z4manyPf:255", 257, TOO_MANY),
        ("deduced", "_Z4manyPf:65 _Z7deducedIfEvPT_:65", 1024, TOO_MANY),
        ("few", "_Z4manyPf:65 _Z7deducedIfEvPT_:65", 1024, "cudaSuccess"),
        ("many", "", 1024, "cudaSuccess"),
    ],
)
def test_what_fits(error, kernel, told, threads, expected):
    assert error(kernel, threads, told) == expected


def test_what_nvcc_says(error):
    if backend.find_nvcc() is None:
        pytest.skip("no nvcc")
    with registers.asked([str(SOURCE)]) as asked:
        told = asked.settings()[registers.VARIABLE]
    for kernel in ("many", "ofThisFile", "unnamed", "deduced"):
        assert error(kernel, 1024, told) == TOO_MANY, told
        assert error(kernel, 256, told) == "cudaSuccess"
    for kernel in ("bounded", "few"):
        assert error(kernel, 1024, told) == "cudaSuccess"


def test_an_ended_nvcc_leaves_nothing(tmp_path, monkeypatch):
    nvcc = tmp_path / "nvcc"
    nvcc.write_text('#!/bin/bash\ntouch "$TMPDIR/tmpxft" && echo begun\nkill -KILL $$\n')
    nvcc.chmod(0o755)
    monkeypatch.setattr(backend, "find_nvcc", lambda: str(nvcc))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)  # what it was told before
    with registers.asked(["kernel.cu"]) as asked:
        assert asked.printed() == "begun\n"
    assert not list(temporary.iterdir())


def test_what_ptxas_prints():
    printed = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '__nv_static_22__7211bdd7_5_st_cu_main__Z1sPf' for 'sm_90'
ptxas info    : Function properties for __nv_static_22__7211bdd7_5_st_cu_main__Z1sPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 0 barriers
ptxas info    : Compiling entry function '_Z3fewPf' for 'sm_90'
ptxas info    : Used 64 registers, used 0 barriers
ptxas info    : Compiling entry function '_ZN33_GLOBAL__N__7211bdd7_5_s9_cu_main1aEPf' for 'sm_90'
ptxas info    : Used 65 registers, used 0 barriers
"""
    assert registers.large(printed) == ["_Z1sPf:128", "_ZN12_GLOBAL__N_11aEPf:65"]
    assert registers.large("nvcc fatal   : no such file\n") == []
