"""./lab doctor: what this machine has, line by line, and what to do about the rest."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..counters import profilers
from ..machine import apt, cuda_wheels, needs, python_packages, setup
from ..machine.backend import (
    Toolkit,
    age_problem,
    ask_nvcc,
    find_nvcc,
    gpu_problem,
    wheels_problem,
)
from ..machine.gpu import NO_DRIVER, NO_GPU, Driver, ask_driver
from ..process import output_of
from . import arguments as shared

DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")
CAP_SYS_ADMIN = 21

OK, ABSENT, PROBLEM = "OK", "-", "problem"


def add_parser(commands: Any) -> None:
    command = commands.add_parser(
        "doctor",
        prog="./lab doctor",
        description="Checks what this machine has.",
        allow_abbrev=False,
    )
    command.set_defaults(handler=run, more=[], takes=shared.NONE)


@dataclass(frozen=True)
class Line:
    what: str
    state: str  # OK; "-": not there, and what every build needs is not it; problem
    text: str

    def __str__(self) -> str:
        return f"{self.what:<18} {self.state:<8} {self.text}".rstrip()


def _version(program: str) -> str:
    """'/usr/bin/c++ 12.2.0'"""
    version = needs.version_in(output_of([program, "--version"]))
    return f"{program} {needs.dotted(version) if version else ''}".strip()


def _below() -> str:
    """Where remedy() says how to install something."""
    return "the command below installs it" if apt.is_there() else "see below"


def need_line(need: needs.Need, state: str = PROBLEM) -> Line:
    """`state` where it is missing, and not optional."""
    if not need.present():
        state = ABSENT if need.optional else state
        packages, _ = setup.sources_of([need], [])
        of_system = need.name in packages.values()
        how = _below() if of_system else "./lab run installs it into .venv"
        return Line(need.name, state, f"missing: {how}")
    programs = {
        "g++": needs.find_compiler,
        "make": needs.find_make,
        "cmake": needs.find_cmake,
        "ninja-build": needs.find_ninja,
        "ccache": needs.find_ccache,
        "bubblewrap": needs.find_bwrap,
    }
    program = programs[need.package]() if need.package in programs else None
    return Line(need.name, OK, _version(program) if program else "")


def module_line(module: str, what_for: str) -> Line:
    python = python_packages.python_with(module)
    if python:
        return Line(module, OK, python)
    return Line(module, ABSENT, f"not there: ./lab {what_for} installs it into .venv")


def environment_line() -> Line:
    """Of what is installed into .venv."""
    what = "Python's venv"
    if python_packages.venv_can_be_made():
        return Line(what, OK, "")
    return Line(what, ABSENT, f"missing, and needed for what goes into .venv: {_below()}")


def remedy(missing: Sequence[needs.Need]) -> str:
    """What to do about all that lab cannot install without root; empty if there is nothing."""
    packages, _ = setup.sources_of(missing, [])
    if not python_packages.venv_can_be_made():
        packages["python3-venv"] = ""
    if not packages:
        return ""
    for_tests = "(some of it only for tests, for ./lab grade, or for speed)"
    if apt.is_there():
        return f"This installs all that is missing {for_tests}:\n\n    {apt.command(packages)}"
    return (
        f"Install all that is missing {for_tests} with your system's package manager. Its names on "
        f"Debian and Ubuntu:\n\n    {' '.join(packages)}"
    )


def nvcc_line(nvcc: str | None, toolkit: Toolkit | None, driver: Driver) -> Line:
    what = "nvcc"
    if nvcc is None:
        return _no_nvcc_line(driver)
    of_pypi = cuda_wheels.nvcc()
    if toolkit is None:
        how = (
            f"remove {cuda_wheels.folder()}" if nvcc == of_pypi else "install the CUDA toolkit anew"
        )
        return Line(what, PROBLEM, f"{nvcc} does not run: {how}")
    why = ""
    if os.environ.get("CUDACXX"):
        why = ", which CUDACXX names"
    elif nvcc == of_pypi:
        why = " of PyPI, since no CUDA toolkit was found"
    elif of_pypi:
        why = f", and not that of PyPI in {cuda_wheels.folder()}: an installed one comes first"
    return Line(what, OK, f"{toolkit.nvcc} {needs.dotted(toolkit.version)}{why}")


def _no_nvcc_line(driver: Driver) -> Line:
    """With what ./lab run would do about it."""
    problem = wheels_problem(driver)
    if problem in (NO_DRIVER, NO_GPU):
        how = "for the gpu back end install the CUDA toolkit, or set CUDACXX to your nvcc"
    elif problem:
        how = problem
    elif cuda_wheels.failure():
        how = f"{cuda_wheels.failure()}; ./lab run --backend gpu tries again"
    else:
        version = needs.dotted(cuda_wheels.VERSION)
        how = f"./lab run installs {version} {cuda_wheels.described()}"
    return Line("nvcc", ABSENT, f"not found: {how}")


def driver_line(toolkit: Toolkit | None, driver: Driver) -> Line:
    """The driver's version against nvcc's."""
    what = "NVIDIA driver"
    if driver.problem == NO_DRIVER:
        return Line(what, ABSENT, "not found: the gpu back end builds without it, but does not run")
    if driver.problem:
        how = "look at nvidia-smi, at CUDA_VISIBLE_DEVICES, and at the GPU options of a container"
        return Line(what, PROBLEM, f"{driver.problem}: {how}")
    text = f"runs CUDA up to {needs.dotted(driver.cuda_version)}"
    if toolkit and driver.cuda_version[0] < toolkit.version[0]:
        version = needs.dotted(toolkit.version)
        how = f"nvcc is {version}: update the driver, or install CUDA {driver.cuda_version[0]}"
        return Line(what, PROBLEM, f"{text}, but {how}")
    return Line(what, OK, text)


def gpu_lines(toolkit: Toolkit | None, driver: Driver) -> list[Line]:
    lines = []
    for gpu in driver.gpus:
        problem = age_problem(toolkit, gpu) if toolkit else ""
        if problem:
            lines.append(Line("GPU", PROBLEM, f"{problem}: take the cpu back end"))
        else:
            lines.append(Line("GPU", OK, f"{gpu.name} (sm_{gpu.architecture})"))
    return lines or [Line("GPU", ABSENT, "none: exercises run on the cpu back end")]


def is_admin() -> bool:
    """Whether the process has CAP_SYS_ADMIN, which root of a container need not have."""
    status = _read(Path("/proc/self/status")) or ""
    match = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", status, re.MULTILINE)
    return match is not None and bool(int(match.group(1), 16) >> CAP_SYS_ADMIN & 1)


def counters_line(parameters: str | None, admin: bool) -> Line:
    """May ncu read the GPU's counters? `parameters` is the text of DRIVER_PARAMETERS."""
    what = "profiler counters"
    if parameters is None:
        return Line(what, ABSENT, "no NVIDIA driver that says who may read them")
    if re.search(r"^RmProfilingAdminOnly:\s*0", parameters, re.MULTILINE):
        return Line(what, OK, "every user may read them")
    if admin:
        return Line(what, OK, "only administrators may read them, and you are one")
    how = (
        "only administrators may read them: run ncu as root (in a container: --cap-add=SYS_ADMIN), "
        "or put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
        "/etc/modprobe.d/nvidia.conf and restart"
    )
    return Line(what, PROBLEM, how)


def tool_line(program: str, about: str, nvcc: str | None) -> Line:
    found = profilers.find(program, nvcc)
    if found:
        return Line(program, OK, found)
    return Line(program, ABSENT, f"not found: {about} (part of the CUDA toolkit)")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def run(arguments: argparse.Namespace) -> int:
    """Prints the lines. Exit status 0 if at least one back end can be used."""
    of_cpu = needs.needs_of("cpu", tests=True)
    tools = [need_line(need) for need in of_cpu]
    nvcc = find_nvcc()
    toolkit = ask_nvcc(nvcc) if nvcc else None
    driver = ask_driver()
    lines = [
        *tools,
        *[line() for line in arguments.more],
        environment_line(),
        module_line("pytest", "test"),
        module_line("jinja2", "report"),
        module_line("matplotlib", "plot"),
        nvcc_line(nvcc, toolkit, driver),
        driver_line(toolkit, driver),
        *gpu_lines(toolkit, driver),
        counters_line(_read(DRIVER_PARAMETERS), is_admin()),
        tool_line("ncu", "for metrics of a kernel install Nsight Compute", nvcc),
        tool_line("nsys", "for timelines install Nsight Systems", nvcc),
        tool_line("cuobjdump", "for machine code install the CUDA Binary Utilities", nvcc),
    ]
    for line in lines:
        print(line)

    cpu = all(line.state != PROBLEM for line in tools)
    can_build = all(line.state != PROBLEM for line in tools[: len(needs.TOOLS)])
    missing = "no nvcc" if toolkit is None else gpu_problem(toolkit, driver)
    gpu = can_build and not missing
    print()
    print(Line("cpu back end", OK if cpu else PROBLEM, "" if cpu else "see above"))
    print(Line("gpu back end", OK if gpu else ABSENT, missing or ("" if gpu else "see above")))
    wanted = [*of_cpu, needs.SANDBOX]
    text = remedy([need for need in wanted if not need.present()])
    if text:
        print(f"\n{text}")
    return 0 if cpu or gpu else 1
