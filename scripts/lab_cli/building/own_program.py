"""Builds a student's own .cu file for the profilers, into out/own/."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import LabError
from ..files import make_build_folder
from ..machine.backend import Choice
from ..paths import OUT, ROOT
from ..process import describe, run
from . import presets

FOLDER = OUT / "own"
COMMON = ROOT / "common"


def common_library(folder: Path) -> list[str]:
    """Options that link what lab.cuh declares, from a build folder with target lab_common."""
    return [f"-L{folder / 'common'}", "-llab_common"]


def emulator_library(folder: Path) -> list[str]:
    """Options of cc.py that link the emulator, from a build folder of the cpu back end."""
    return ["--library", str(folder / "emulator" / "libcuda_emulator.a")]


def for_gpu(source: Path, choice: Choice, cmake: str, debug: bool) -> Path:
    """With nvcc, optimised or for debugging; kernels may launch kernels and include lab.cuh."""
    folder = presets.build(cmake, "gpu-debug" if debug else "gpu", "lab_common")
    program = FOLDER / (source.stem + (".gpu-debug" if debug else ".gpu"))
    mode = ["-g", "-G"] if debug else ["-O3", "-lineinfo"]
    newest = choice.architectures.split(";")[-1]
    arch = "native" if newest == "native" else f"sm_{newest}"
    command = [choice.nvcc, "-std=c++17", *mode, f"-arch={arch}", "-rdc=true", "-I", str(COMMON)]
    libraries = [*common_library(folder), "-lcudadevrt"]
    _compile([*command, str(source), "-o", str(program), *libraries], source)
    return program


def for_cpu(source: Path, cmake: str) -> Path:
    """Instrumented, for the cpu back end's profiler."""
    program = FOLDER / (source.stem + ".cpu-profile")
    targets = ["cuda_emulator_instrument", "cuda_emulator_precompiled", "lab_common"]
    folder = presets.build(cmake, "cpu", *targets)
    driver = [presets.shortest(sys.executable), str(ROOT / "emulator" / "cc.py"), "--instrument"]
    libraries = [*common_library(folder), *emulator_library(folder)]
    _compile([*driver, str(source), "-I", str(COMMON), "-o", str(program), *libraries], source)
    return program


def _compile(command: Sequence[str], source: Path) -> None:
    make_build_folder(FOLDER)
    status = run(command, to_stderr=True)
    if status != 0:
        raise LabError(f"{source} does not compile ({describe(status)}); the reason is above")
