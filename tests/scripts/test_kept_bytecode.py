"""A disk that is full leaves files of compiled code (.pyc) cut short, which Python cannot read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lab_cli.paths import ROOT

# Not even begun, within the 16 bytes of the header, behind it, amid the code, after a page.
LENGTHS = [0, 7, 16, 17, 300, 4096]


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program as if nobody had told it to keep no compiled code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        env={**kept, **variables},
        capture_output=True,
        text=True,
    )


def kept_in(folder: Path) -> dict[Path, int]:
    """The sizes of all files of compiled code."""
    return {path: path.stat().st_size for path in folder.rglob("*.pyc")}


@pytest.mark.parametrize(
    ("arguments", "lengths"), [(["list"], LENGTHS), (["cc", "--version"], [300])]
)
def test_lab_replaces_what_is_cut_short(
    tmp_path: Path, arguments: list[str], lengths: list[int]
) -> None:
    def lab() -> str:
        done = run(ROOT / "lab", *arguments, LAB_BUILD_DIR=str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    printed = lab()
    whole = kept_in(tmp_path)
    assert any(path.name.startswith("main.") for path in whole)
    lengths = [*lengths, max(whole.values())]
    for first in range(2):  # each length in many files, and a file with two lengths
        for number, (path, size) in enumerate(whole.items(), first):
            if path.exists():
                os.truncate(path, min(lengths[number % len(lengths)], size - 1))
        assert lab() == printed
    assert lab() == printed
    assert kept_in(tmp_path) == whole


@pytest.fixture
def emulator(tmp_path: Path) -> Path:
    """A copy of the emulator's programs."""
    folder = tmp_path / "emulator"
    shutil.copytree(
        ROOT / "emulator", folder, ignore=shutil.ignore_patterns("src", "include", "*.md")
    )
    return folder


@pytest.mark.parametrize(
    "command",
    ["cc.py --version", "translate.py a.cu -o a.cpp", "instrument_clang.py true"],
)
def test_the_emulator_keeps_nothing_that_could_be_cut_short(emulator: Path, command: str) -> None:
    (emulator / "a.cu").write_text("int main() {}\n")
    program, *arguments = command.split()
    files = [emulator / word if word.startswith("a.") else word for word in arguments]
    done = run(emulator / "driver" / program, *files)
    assert (done.returncode, done.stderr) == (0, "")
    assert kept_in(emulator) == {}
    assert list(emulator.rglob("__pycache__")) == []
