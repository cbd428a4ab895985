"""The judge of the hazard check's ctest cases, and how programs of tests are run."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import check_hazards
import program
import pytest

CLEAN = "no hazards found in 3 kernel launches"
REGEX = "^no hazards found in [0-9]+ kernel launch"


@pytest.fixture
def judge(tmp_path: Path):
    """judge(script): the verdict on a program that was built after its source."""
    source = tmp_path / "x.cu"
    source.touch()
    os.utime(source, (1, 1))

    def judged(script: str) -> int:
        built = tmp_path / "x"
        built.write_text(f"#!/bin/sh\n{script}\n")
        built.chmod(0o755)
        return check_hazards.main([str(source), REGEX, "--", str(built), "--profile"])

    return judged


def test_what_the_report_says_counts(judge, capsys) -> None:
    assert judge(f'echo "{CLEAN}" > "$CUDA_EMULATOR_CHECK"') == 0
    assert judge('echo "1 hazard found" > "$CUDA_EMULATOR_CHECK"') == 1
    assert "no line of the report matches" in capsys.readouterr().err
    assert judge(f'echo "{CLEAN}"') == 1  # printed, not reported
    assert judge(f'echo "{CLEAN}" > "$CUDA_EMULATOR_CHECK"; exit 1') == 1
    assert judge("true") == 1


def test_a_program_that_is_not_what_the_source_says_is_skipped(tmp_path: Path, capsys) -> None:
    source, built = tmp_path / "x.cu", tmp_path / "x"
    source.touch()
    assert check_hazards.main([str(source), REGEX, "--", str(built)]) == 77
    assert "is not built" in capsys.readouterr().out
    built.touch()
    os.utime(built, (1, 1))
    assert check_hazards.main([str(source), REGEX, "--", str(built)]) == 77
    assert "is older than" in capsys.readouterr().out


def test_a_limit_of_cpu_time_ends_what_hangs(monkeypatch) -> None:
    monkeypatch.setattr(program, "CPU_SECONDS", 1)
    done = program.run([sys.executable, "-c", "while True: pass"])
    assert -done.returncode in (signal.SIGXCPU, signal.SIGKILL)


def test_output_need_not_be_text() -> None:
    assert program.run(["sh", "-c", "printf '\\377'"]).stdout == "\ufffd"
