"""The hazard check knows which thread has written a value that the host has copied (check/writers.cu)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import check_report

SOURCE = Path(__file__).parent / "check" / "writers.cu"


def shown(build: Path, **variables: str) -> dict[str, str]:
    program = build / "tests" / "writers"
    done = subprocess.run(
        [program], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def test_who_wrote_a_value(build: Path, tmp_path: Path) -> None:
    def by(thread: str, block: str, mark: str) -> str:
        line = check_report.line_of(SOURCE, mark)
        return f"thread {thread} of block {block} wrote it, writers.cu:{line}"

    report = tmp_path / "report"
    assert shown(build, CUDA_EMULATOR_CHECK=str(report)) == {
        "first": by("(0,0,0)", "(0,0,0)", "store"),
        "last": by("(3,1,0)", "(2,0,0)", "store"),
        "written twice": by("(1,1,0)", "(0,0,0)", "second store"),
        "copied by the host": "",
        "changed by the host": "",
        "filled since": "",
        "beside what was filled": by("(1,0,0)", "(0,0,0)", "store"),
        "by a launch before the last": "",
        "by the last launch": by("(1,0,0)", "(0,0,0)", "once"),
        "changed by an atomic": "",
        "changed by the host where it was": "",
    }
    assert report.read_text().startswith("no hazards found")


def test_without_the_check_nobody_is_known(build: Path) -> None:
    assert set(shown(build).values()) == {""}
