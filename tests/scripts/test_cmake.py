"""What cmake/*.cmake take from outside: the choice of the back end, and NAME.toml of an exercise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from exercise_sample import FACTS
from lab_cli import catalogue
from lab_cli.building import for_cmake
from lab_cli.machine.needs import find_cmake
from lab_cli.paths import ROOT
from lab_fixtures import shell_program

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
    says = f"cat <<'END'\n{answer}\nEND\necho reason >&2\nexit {status}"
    python = shell_program(folder / "python", says)
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
    ("status", "answer", "message"),
    [
        (1, "", "reason"),  # as the choice has said it on stderr
        (0, '{"backend": "cpu", "nvcc": "", "architectures": ""}', "no answer with 'reason'"),
        (
            0,
            '{"backend": "tpu", "reason": "", "nvcc": "", "architectures": ""}',
            "gave 'tpu', not gpu or cpu",
        ),
    ],
)
def test_other_answers_are_shown(tmp_path: Path, status: int, answer: str, message: str) -> None:
    ended, output = chosen(tmp_path, answer, status)
    assert ended != 0
    assert message in output
    assert answer in output


def test_calls_of_a_chapter(exercises, tmp_path: Path) -> None:
    """What CMake gets of the facts is what it reads back; an edit of others leaves the file alone."""
    more = """[tests.prints_on_gpu]
"--size=3" = "^1"
[tests.prints_per_thread]
"--size=3" = "^1"
"""
    facts = FACTS.replace('runs = [""]', 'runs = [""]\nslow_runs = ["--size=3"]', 1)
    source = exercises("ch/second", facts.replace("10", "20") + more)
    exercises("ch/first", "rdc = true\nlibraries = ['CUDA::cublas', '$x \\y']\n" + FACTS)
    exercises("other/third")
    file = tmp_path / "calls.cmake"
    for_cmake.main([str(tmp_path / "ch"), str(file)])
    before = file.stat().st_mtime_ns
    catalogue.facts_of(source).write_text(facts.replace("10", "20").replace("about", "of") + more)
    for_cmake.main([str(tmp_path / "ch"), str(file)])
    assert file.stat().st_mtime_ns == before
    status, output = configure(
        tmp_path,
        "function(lab_add_exercise)\n"
        '  foreach(word IN LISTS ARGV)\n    message(STATUS "word:${word}.")\n  endforeach()\n'
        f"endfunction()\ninclude({file})\n",
    )
    assert status == 0
    words = [
        "first",
        "RDC",
        "LINK",
        "CUDA::cublas",
        "$x \\y",
        "second",
        "SLOW",
        "PER_THREAD",
        "AS_GPU",
    ]
    assert " ".join(f"-- word:{word}." for word in words) in output


@pytest.mark.parametrize(
    ("chosen", "wanted", "expected"),
    [
        ("75", "80+", "80"),
        ("86-real;75-virtual;121", "80+", "86-real;121"),
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
    for file in [*files, ROOT / "emulator" / "CMakeLists.txt"]:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            assert len(line) <= 120, f"{file}:{number}"
