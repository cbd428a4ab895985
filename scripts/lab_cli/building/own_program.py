"""Builds a program of a student's own .cu files, to be run or profiled, into out/own/."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import LabError
from ..files import about_space, make_build_folder
from ..machine.backend import Choice
from ..paths import OUT, ROOT
from ..process import describe, run
from . import presets

FOLDER = OUT / "own"
COMMON = ROOT / "common"
DRIVER = ROOT / "emulator" / "driver" / "cc.py"  # what ./lab cc runs

# Kinds of programs of the cpu back end: each has precompiled headers of its own.
OPTIMISED, DEBUG, INSTRUMENTED = "optimised", "debug", "instrumented"


def targets(kind: str) -> list[str]:
    """What is built for the emulator's compiler driver before it makes such a program."""
    emulator = "cuda_emulator_instrument" if kind == INSTRUMENTED else "cuda_emulator"
    return [emulator, f"cuda_emulator_precompiled_{kind}", "lab_common"]


def common_library(folder: Path) -> list[str]:
    """Options that link what lab.cuh declares, from a build folder with target lab_common."""
    return [f"-L{folder / 'common'}", "-llab_common"]


def emulator_library(folder: Path) -> list[str]:
    """Options of cc.py that link the emulator, from a build folder of the cpu back end."""
    return ["--emulator", str(folder / "emulator" / "libcuda_emulator.a")]


def for_gpu(sources: Sequence[str], choice: Choice, cmake: str, debug: bool) -> Path:
    """With nvcc, optimised or for debugging; kernels may launch kernels and include lab.cuh."""
    folder = presets.build(cmake, "gpu-debug" if debug else "gpu", "lab_common")
    program = _program(sources, ".gpu-debug" if debug else ".gpu")
    mode = ["-g", "-G"] if debug else ["-O3", "-lineinfo"]
    mode.append(newest_architecture(choice))
    command = [choice.nvcc, "-std=c++17", *mode, "-rdc=true", "-I", str(COMMON)]
    libraries = [*common_library(folder), "-lcudadevrt"]
    _compile([*command, *sources, "-o", str(program), *libraries], sources)
    return program


def for_cpu(sources: Sequence[str], cmake: str, instrument: bool) -> Path:
    """For the cpu back end as `./lab cc` does it, or for its profiler and hazard check."""
    program = _program(sources, ".cpu-profile" if instrument else ".cpu")
    kind = INSTRUMENTED if instrument else OPTIMISED
    folder = presets.build(cmake, "cpu", *targets(kind))
    driver = [presets.shortest(sys.executable), str(DRIVER)]
    driver += ["--instrument"] if instrument else []
    libraries = [*common_library(folder), *emulator_library(folder)]
    command = [*driver, *sources, "-I", str(COMMON), "-o", str(program), *libraries]
    _compile(command, sources, held=True)
    return program


def newest_architecture(choice: Choice) -> str:
    """The option of nvcc."""
    newest = choice.architectures.split(";")[-1]
    return "-arch=native" if newest == "native" else f"-arch=sm_{newest}"


def _program(sources: Sequence[str], ending: str) -> Path:
    return FOLDER / (Path(sources[0]).stem + ending)


def _compile(command: Sequence[str], sources: Sequence[str], held: bool = False) -> None:
    make_build_folder(FOLDER)
    status = run(command, to_stderr=True, held=held)
    if status != 0:
        what = " ".join(sources) + (" does" if len(sources) == 1 else " do")
        reason = f"the reason is above{about_space()}"
        raise LabError(f"{what} not compile ({describe(status)}); {reason}")
