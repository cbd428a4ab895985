"""Tests of common/: what its README.md lists, and what of it a program of one's own needs no library for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from lab_cli.machine import backend
from lab_cli.paths import ROOT

COMMON = ROOT / "common"
BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
OWN = sorted(str(source) for source in (ROOT / "tests" / "common" / "programs").glob("own*.cu"))
NO_GPU = 77


def test_each_file_has_its_line() -> None:
    readme = (COMMON / "README.md").read_text("utf-8")
    lines = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\) \| [^|]+ \|$", readme, re.MULTILINE)
    assert all(name == target for name, target in lines)
    files = {path.name for path in COMMON.iterdir()} - {"README.md"}
    assert Counter(name for name, _ in lines) == Counter(files)


def built(command: list[str], program: Path) -> subprocess.CompletedProcess[str]:
    """What the program of one's own does, built with nothing but -Icommon."""
    subprocess.run([*command, "-std=c++17", f"-I{COMMON}", *OWN, "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True)


def test_own_program_on_the_cpu_back_end(tmp_path: Path) -> None:
    library = BUILD / "emulator" / "libcuda_emulator.a"
    if not library.exists():
        pytest.skip(f"{library} is not built: ./lab test builds it")
    driver = [
        sys.executable,
        str(ROOT / "emulator" / "driver" / "cc.py"),
        "--emulator",
        str(library),
    ]
    ended = built([*driver, "-Werror"], tmp_path / "own")
    assert (ended.returncode, ended.stdout) == (1, "2 4 6 timed\n")
    assert ended.stderr == "own: ends\\nhere\n"


def test_own_program_with_nvcc(tmp_path: Path) -> None:
    nvcc = backend.find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc")
    ended = built([nvcc], tmp_path / "own")
    if ended.returncode != NO_GPU:
        assert (ended.returncode, ended.stdout) == (1, "2 4 6 timed\n")
        assert ended.stderr == "own: ends\\nhere\n"
