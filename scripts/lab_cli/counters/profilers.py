"""NVIDIA's profilers and cuobjdump: where they are, the GPU that profilers need, and running one."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Sequence

from ..errors import NO_GPU, LabError
from ..machine.backend import Choice, ask_nvcc, choose, find_nvcc, gpu_problem
from ..machine.gpu import Driver, ask_driver
from ..process import run_lines, say

# Nsight Compute brings an nsys of its own along, which runs without Nsight Systems.
PLACES = {
    "ncu": [
        "/usr/local/cuda*/bin/ncu",
        "/usr/local/cuda*/nsight-compute*/ncu",
        "/opt/nvidia/nsight-compute/*/ncu",
    ],
    "nsys": [
        "/usr/local/cuda*/bin/nsys",
        "/opt/nvidia/nsight-systems/*/bin/nsys",
        "/usr/local/cuda*/nsight-compute*/target-linux-*/nsys",
        "/usr/local/cuda*/nsight-compute*/*/target-linux-*/nsys",
        "/opt/nvidia/nsight-compute/*/target-linux-*/nsys",
        "/opt/nvidia/nsight-compute/*/*/target-linux-*/nsys",
    ],
    "cuobjdump": ["/usr/local/cuda*/bin/cuobjdump"],
}
TAIL_LINES = 12


def _by_version(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]


def find(program: str, nvcc: str | None) -> str | None:
    """On PATH, beside nvcc, or in the first of the usual places that has it, there the newest."""
    folders = [os.path.dirname(path) for path in (nvcc, nvcc and os.path.realpath(nvcc)) if path]
    found = shutil.which(program) or shutil.which(program, path=os.pathsep.join(folders) or None)
    if found:
        return found
    for pattern in PLACES[program]:
        paths = [path for path in glob.glob(pattern) if shutil.which(path)]
        if paths:
            return max(paths, key=_by_version)
    return None


def require_gpu(instead: str) -> tuple[Choice, Driver]:
    """What to build with and where to run; LabError, with what to do `instead`, if there is no GPU."""
    nvcc = find_nvcc()
    driver = ask_driver()
    try:
        choice = choose("gpu", nvcc, driver)
    except LabError as error:
        raise LabError(f"{error}{instead}") from error
    toolkit = ask_nvcc(choice.nvcc)
    problem = gpu_problem(toolkit, driver) if toolkit else f"{choice.nvcc} does not run"
    if problem:
        raise LabError(f"no usable GPU: {problem}; ./lab doctor says more{instead}", NO_GPU)
    return choice, driver


def run(command: Sequence[str], progress: str | None = None) -> tuple[int, str]:
    """Exit status and all output of a profiler; lines that begin with `progress` show on stderr."""
    lines = []

    def keep(line: str) -> None:
        lines.append(line)
        if progress and line.startswith(progress):
            say(line.rstrip())

    status = run_lines(command, keep, stdin=subprocess.DEVNULL)
    return status, "".join(lines)


def tail(lines: Sequence[str]) -> str:
    """The last lines, indented, to stand below a message."""
    return "".join("\n    " + line.rstrip() for line in lines[-TAIL_LINES:])
