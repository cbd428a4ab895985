"""Tests of what builds without CMake: common/ in a program of one's own, and each exercise by the line in
its header comment."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from lab_cli import catalogue
from lab_cli.catalogue import Exercise
from lab_cli.machine import backend
from lab_cli.paths import ROOT

COMMON = ROOT / "common"
BUILD = Path(os.environ.get("CPU_BUILD", ROOT / "out" / "cpu")).absolute()
OWN = sorted(str(source) for source in (ROOT / "tests" / "common" / "programs").glob("own*.cu"))
NO_GPU = 77


def built(command: list[str], program: Path) -> subprocess.CompletedProcess[str]:
    """Builds the program of one's own with nothing but -Icommon, and runs it."""
    subprocess.run([*command, "-std=c++17", f"-I{COMMON}", *OWN, "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True)


def compiler_of(backend_name: str) -> list[str]:
    if backend_name == "gpu":
        nvcc = backend.find_nvcc()
        return [nvcc] if nvcc else pytest.skip("no nvcc")
    library = BUILD / "emulator" / "libcuda_emulator.a"
    if not library.exists():
        pytest.skip(f"{library} is not built: ./lab test builds it")
    driver = str(ROOT / "emulator" / "driver" / "cc.py")
    return [sys.executable, driver, "--emulator", str(library), "-Werror"]


@pytest.mark.parametrize("backend_name", ["cpu", "gpu"])
def test_own_program(backend_name: str, tmp_path: Path) -> None:
    ended = built(compiler_of(backend_name), tmp_path / "own")
    if backend_name == "cpu" or ended.returncode != NO_GPU:
        assert (ended.returncode, ended.stdout) == (1, "2 4 6 timed\n")
        assert ended.stderr == "own: ends\\nhere\n"


# ---- the line in each exercise's header comment that builds it without CMake ----

# The heading, and what follows it: one command, in as many lines of the comment as it takes.
COMMAND = re.compile(r"^// Without CMake, [^\n]*:\n((?://  +[^\n]+\n)+)", re.MULTILINE)

EXERCISES = catalogue.exercises()
BY_NAME = {exercise.name: exercise for exercise in EXERCISES}


def command_of(exercise: Exercise) -> str:
    """The command; empty where there is none."""
    found = COMMAND.search(exercise.source.read_text("utf-8"))
    lines = found[1].splitlines() if found else []
    return " ".join(line.lstrip("/ ") for line in lines)


def has_rules_of_its_own(exercise: Exercise) -> bool:
    """Whether CMake does more to build it than to compile NAME.cu."""
    return len([*exercise.folder.glob("*.cu")]) > 1


@pytest.mark.parametrize("name", BY_NAME)
def test_says_what_its_build_takes(name: str) -> None:
    exercise = BY_NAME[name]
    words = shlex.split(command_of(exercise))
    if has_rules_of_its_own(exercise):
        assert not words
        return
    source = f"{exercise.chapter}/{name}/{name}.cu"
    assert words[0] == "nvcc" and words[words.index("-o") + 1] == f"build/{name}"
    sources = [word for word in words if word.endswith((".cu", ".cpp"))]
    assert sources == [source, "common/*.cpp", "common/*.cu"]
    assert {"-std=c++17", "-Icommon"} <= {*words}
    assert ("-rdc=true" in words) == exercise.facts.rdc
    of_cublas = {"-lcublas", "-DLAB_HAVE_CUBLAS"} & {*words}
    assert len(of_cublas) == (2 if links_cublas(exercise) else 0)


def links_cublas(exercise: Exercise) -> bool:
    return "CUDA::cublas" in exercise.facts.libraries


def first(*, rdc: bool = False, cublas: bool = False) -> Exercise:
    return next(
        exercise
        for exercise in EXERCISES
        if exercise.facts.rdc == rdc and links_cublas(exercise) == cublas
    )


def has_cublas(nvcc: str) -> bool:
    words = [nvcc, "-x", "cu", "-M", "-include", "cublas_v2.h", os.devnull]
    return subprocess.run(words, capture_output=True).returncode == 0


@pytest.mark.parametrize("exercise", [first(rdc=True), first(cublas=True)])
def test_builds(exercise: Exercise, tmp_path: Path) -> None:
    nvcc = backend.find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc")
    if links_cublas(exercise) and not has_cublas(nvcc):
        exercise = first()
    chapter = tmp_path / exercise.chapter
    for folder in (chapter, tmp_path / "build"):
        folder.mkdir()
    (chapter / exercise.name).symlink_to(exercise.source.parent)
    (tmp_path / "common").symlink_to(ROOT / "common")
    path = f"{Path(nvcc).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["sh", "-c", command_of(exercise)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        check=True,
    )
    program = tmp_path / "build" / exercise.name
    printed = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=True)
    assert printed.stdout.startswith(f"{exercise.name}: ")
