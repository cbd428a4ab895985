"""The machine and its tools, as a report names them: nothing that says whose it is."""

from __future__ import annotations

import platform

from lab_cli.errors import LabError
from lab_cli.machine import facts, needs
from lab_cli.machine.gpu import ask_driver
from lab_cli.process import output_of


def of(backend: str) -> dict[str, str]:
    """What stands in a report, in its order."""
    try:
        _, found = facts.measured_on(backend)
    except LabError as error:  # the gpu back end without a GPU
        found = {"gpu": f"none: {error}", "commit": facts.commit()}
    machine = {"back end": backend, "GPU": found["gpu"]}
    if backend == "gpu":
        driver = ask_driver()
        if driver.gpus:
            machine["GPU"] += f" (sm_{driver.gpus[0].architecture})"
        machine["NVIDIA driver"] = found.get("driver", facts.UNKNOWN)
        machine["CUDA toolkit"] = found.get("toolkit", facts.UNKNOWN)
    return {
        **machine,
        "CPU": facts.host_cpu(),
        "C++ compiler": facts.host_compiler(),
        "CMake": _cmake(),
        "Python": platform.python_version(),
        "system": f"{_system()}, {platform.machine()}",
        "commit": found["commit"],
    }


def _cmake() -> str:
    version = needs.cmake_version(needs.find_cmake() or "cmake")
    return needs.dotted(version) if version else facts.UNKNOWN


def _system() -> str:
    """'Debian GNU/Linux 12 (bookworm)'"""
    text = output_of(["sh", "-c", '. /etc/os-release && printf %s "$PRETTY_NAME"'])
    return text.strip() or platform.system()
