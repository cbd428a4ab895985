"""What cmake/*.cmake take from outside: the choice of the back end, and NAME.toml of an exercise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lab_cli.machine.needs import find_cmake
from lab_cli.paths import ROOT

FIVE = '"--size=12 => ^5 hazards found in [0-9]+ kernel launches[.] "'
NONE = '"--size=12 => ^no hazards found in "'
PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(x NONE)\n"


def configure(folder: Path, text: str) -> tuple[int, str]:
    """Exit status and output of cmake on a project; long messages in one line."""
    (folder / "CMakeLists.txt").write_text(PROJECT + text)
    command = [find_cmake() or "cmake", "-S", str(folder), "-B", str(folder / "build")]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def chosen(folder: Path, answer: str, status: int = 0) -> tuple[int, str]:
    """cmake/Backend.cmake, where the choice ends with `answer` and `status`."""
    (folder / "scripts").mkdir(exist_ok=True)
    python = folder / "python"
    python.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\necho reason >&2\nexit {status}\n")
    python.chmod(0o755)
    return configure(
        folder,
        f'set(Python3_EXECUTABLE "{python}")\ninclude("{ROOT}/cmake/Backend.cmake")\n'
        "foreach(architecture IN LISTS LAB_ARCHITECTURES)\n"
        'message(STATUS "chosen: ${LAB_CHOSEN_BACKEND} for ${architecture}")\nendforeach()\n',
    )


def test_answer_is_taken_over(tmp_path: Path) -> None:
    answer = '{"backend": "cpu", "reason": "a; \\"b\\"", "nvcc": "", "architectures": "75;80"}'
    status, output = chosen(tmp_path, answer)
    assert status == 0
    assert 'Back end: cpu (a; "b")' in output
    assert "chosen: cpu for 75 -- chosen: cpu for 80" in output


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("backend=cpu", "no answer with 'backend'"),
        ('{"backend": "cpu", "nvcc": "", "architectures": ""}', "no answer with 'reason'"),
        (
            '{"backend": "tpu", "reason": "", "nvcc": "", "architectures": ""}',
            "gave 'tpu', not gpu or cpu",
        ),
    ],
)
def test_other_answers_are_shown(tmp_path: Path, answer: str, message: str) -> None:
    status, output = chosen(tmp_path, answer)
    assert status != 0
    assert message in output
    assert answer in output


def test_failed_choice_says_why(tmp_path: Path) -> None:
    status, output = chosen(tmp_path, "", status=1)
    assert status != 0
    assert "reason" in output


@pytest.mark.parametrize(
    ("options", "facts", "message"),
    [
        ("CUDA_ONLY", "order = 10\ngpu_only = true # tensor cores\n", ""),
        ("", None, "x.toml is missing"),
        ("CUDA_ONLY", "order = 10\n", "says CUDA_ONLY, but"),
        ("CUDA_ONLY", "gpu_only = false\n", "lacks gpu_only = true"),
        ("", "gpu_only=true\n", "lacks CUDA_ONLY"),
        (f"CUDA_ONLY HAZARDS {FIVE}", "gpu_only = true\nhazards = 5 # races\n", ""),
        (f"CUDA_ONLY HAZARDS {NONE} {FIVE}", "gpu_only = true\n", ""),
        (f"HAZARDS {FIVE}", "order = 10\n", "(x) expects 5, but hazards is 0 in"),
        (f"HAZARDS {FIVE}", "hazards = 15\n", "(x) expects 5, but hazards is 15 in"),
        (f"HAZARDS {NONE}", "hazards = 1\n", "(x) expects 0, but hazards is 1 in"),
        ("", "hazards = 1\n", "(x) expects 0, but hazards is 1 in"),
    ],
)
def test_cmake_and_toml_must_agree(
    tmp_path: Path, options: str, facts: str | None, message: str
) -> None:
    if facts is not None:
        (tmp_path / "x.toml").write_text(facts)
    status, output = configure(
        tmp_path,
        f'set(LAB_CHOSEN_BACKEND cpu)\ninclude("{ROOT}/cmake/LabExercise.cmake")\n'
        f'lab_add_exercise(x {options} RUNS "--size=1")\n',
    )
    assert (status == 0) is (message == "")
    assert message in output


@pytest.mark.parametrize(
    ("chosen", "wanted", "expected"),
    [
        ("75;80;90", "80+", "80;90"),
        ("75", "80+", "80"),
        ("86-real;75-virtual;121", "80+", "86-real;121"),
        ("75;90", "90a", "90a"),
        ("all-major", "80+ 90a", "80;90a"),
        ("native", "80+", "89-real"),
    ],
)
def test_architectures_of_an_exercise(
    tmp_path: Path, chosen: str, wanted: str, expected: str
) -> None:
    status, output = configure(
        tmp_path,
        f'include("{ROOT}/cmake/LabExercise.cmake")\n'
        f'set(CMAKE_CUDA_ARCHITECTURES "{chosen}")\n'
        'set(CMAKE_CUDA_ARCHITECTURES_NATIVE "75-real;89-real")\n'
        f"lab_architectures(found {wanted})\n"
        'message(STATUS "for: ${found}.")\n',
    )
    assert status == 0
    assert f"for: {expected}." in output


def test_lines_of_cmake_files() -> None:
    files = [*ROOT.glob("cmake/*.cmake"), *ROOT.glob("emulator/*.cmake")]
    files.append(ROOT / "emulator" / "CMakeLists.txt")
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            assert len(line) <= 120, f"{file}:{number}"
