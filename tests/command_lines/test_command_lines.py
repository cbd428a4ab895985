"""Every command line of the lists ends as the lists say."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import command_lines
import pytest
from command_lines import Case
from lab_cli.paths import OUT

LISTS = sorted(path.stem for path in command_lines.LISTS.glob("*.txt"))
CASES = [case for name in LISTS for case in command_lines.read(name)]


def changed_files() -> str:
    """What git says of the checkout; empty without git."""
    command = ["git", "-C", str(command_lines.ROOT), "status", "--porcelain"]
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    except OSError:
        return ""


@pytest.fixture(scope="session", autouse=True)
def checkout() -> Iterator[None]:
    """No command line changes it."""
    before = changed_files()
    yield
    assert changed_files() == before


@pytest.fixture(scope="session")
def build() -> Path:
    """The build folder that `lab` uses. Of one that `lab` has not set up, it would make another."""
    folder = Path(os.environ.get("CPU_BUILD", OUT / "cpu"))
    if folder != OUT / "cpu" or not (OUT / "lab_setup_cpu.json").exists():
        pytest.skip("for a build folder of ./lab")
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.place} {case.command}")
def test_ends_as_the_list_says(case: Case, build: Path, tmp_path: Path) -> None:
    if " /proc/" in case.command and os.geteuid() != 0:
        pytest.skip("only root is told so late that nothing can be written there")
    folder = tmp_path / "here"
    folder.mkdir()
    command_lines.prepare(folder)
    variables = command_lines.environment(build, tmp_path)
    problems = list(command_lines.problems(case, folder, variables))
    assert not problems, f"{case.place}: {case.command}"
