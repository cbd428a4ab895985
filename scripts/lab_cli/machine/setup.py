"""Sets up what a back end needs, once: a second run finds the record of the first."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import LabError
from ..files import make_build_folder, write
from ..lock import alone_in
from ..paths import OUT, VENV, shown
from ..process import say
from . import apt, python_packages, zig
from .needs import CCACHE, MIN_CMAKE, SANDBOX, Need, find_cmake, needs_of


def ensure(backend: str, modules: Sequence[str] = (), tests: bool = False) -> str:
    """Makes sure that `backend` can be built, with `tests` those of the workspace itself as well, that
    TOML files can be read and that one Python has all `modules`. What is missing is said at once.

    Returns the cmake.
    """
    make_build_folder(OUT)  # before anything is installed
    needs = needs_of(backend, tests)
    names = [need.name for need in needs]
    path = OUT / f"lab_setup_{backend}.json"
    cmake = _recorded(path, names, modules)
    if cmake:
        return cmake
    asked, needs = needs, _without_left_out(needs)
    # Where ccache is not there, this is no reason to look again.
    names = [need.name for need in asked if need in needs or need is CCACHE]
    with alone_in(OUT, "installs"):
        cmake = _recorded(path, names, modules)  # by another lab, meanwhile
        if cmake:
            return cmake
        _install_missing(needs, modules)
        _configure_anew(backend)
        python = python_packages.python_with(*modules) if modules else ""
        record = {"needs": names, "cmake": find_cmake(), "modules": [*modules], "python": python}
        write(path, json.dumps(record, indent=1) + "\n")
        return str(record["cmake"])


def _recorded(path: Path, names: Sequence[str], modules: Sequence[str]) -> str:
    """The cmake, where an earlier set-up has seen to all that is asked for; else empty."""
    record = _read(path)
    known = set(names) <= set(record.get("needs", []))
    return str(record["cmake"]) if known and _still_there(record, modules) else ""


def _without_left_out(needs: Sequence[Need]) -> list[Need]:
    """Without root, tests and ccache are left out rather than asked for. With root ccache is installed with
    the rest: where nothing else is missing, a machine need not reach its packages."""
    missing = [need for need in needs if not need.present()]
    if missing == [CCACHE]:
        return [need for need in needs if need is not CCACHE]
    left_out = [need for need in missing if need.optional]
    if not left_out or apt.may_install():
        return [*needs]
    names = ", ".join(need.name for need in left_out if need.name != CCACHE.name)
    if names:
        say(f"note: tests that need {names} are left out; ./lab doctor says how to install it")
    return [need for need in needs if need not in left_out]


def python_for(modules: Sequence[str]) -> str:
    """A Python that has all `modules`; those that are missing are installed into .venv."""
    python = python_packages.python_with(*modules)
    if not python:
        _install_alone(modules)
        python = python_packages.python_with(*modules)
    if not python:
        raise LabError(f"installed, and yet not to be imported: {', '.join(modules)}")
    return python


def environment(what_for: str) -> None:
    """Makes sure that .venv is there or can be made."""
    if not python_packages.venv_can_be_made():
        apt.update()
        apt.install({"python3-venv": f"Python's venv (for {what_for})"})


def sandbox() -> None:
    """Makes sure that bubblewrap is there, in which submissions run. Whether it works is another
    question: lab_course.grading.sandbox.problem()."""
    if not SANDBOX.present():
        _install_alone([], [SANDBOX])


def _read(path: Path) -> dict[str, Any]:
    """The record of an earlier set-up; empty if there is none."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _still_there(record: dict[str, Any], modules: Sequence[str]) -> bool:
    programs = [record.get("cmake", ""), *([record.get("python", "")] if modules else [])]
    known = set(modules) <= set(record.get("modules", []))
    runnable = all(os.access(program, os.X_OK) for program in programs)
    return known and runnable


def _configure_anew(backend: str) -> None:
    """CMake looks once for what there is: a build folder of before may lack what is there now."""
    folder = OUT / backend
    if folder.exists():
        with alone_in(folder, "builds"):
            (folder / "build.ninja").unlink(missing_ok=True)


def _install_alone(modules: Sequence[str], needs: Sequence[Need] = ()) -> None:
    make_build_folder(OUT)
    with alone_in(OUT, "installs"):
        _install_missing(needs, modules)


def _install_missing(needs: Sequence[Need], modules: Sequence[str]) -> None:
    missing = [need for need in needs if not need.present()]
    wheels = missing_wheels(modules)
    if not missing and not wheels:
        return
    names = ", ".join([*(need.name for need in missing), *wheels])
    if apt.may_install():
        say(f"set-up: missing {names}")
        if missing or not python_packages.venv_can_be_made():
            apt.update()
    packages, wheels = sources_of(missing, wheels)
    if not packages and not apt.may_install():  # else apt.install() says it
        say(f"set-up: missing {names}: from PyPI into {shown(VENV)}")
    if packages:
        apt.install(packages)
    if wheels:
        python_packages.install(wheels)
    if zig.PACKAGE in wheels:
        zig.complete()
    still = [need.name for need in needs if not need.present()]
    if still:
        raise LabError(f"installed, and yet not found: {', '.join(still)}; see ./lab doctor")


def missing_wheels(modules: Sequence[str]) -> list[str]:
    """Packages for Python that are missing, of `modules`."""
    return [] if not modules or python_packages.python_with(*modules) else [*modules]


def sources_of(missing: Sequence[Need], wheels: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Where all that is missing comes from: packages of the system, each with what it is for, and
    packages for Python."""
    of_pypi = [need for need in missing if _comes_from_pypi(need)]
    wheels = [*wheels, *(need.wheel for need in of_pypi)]
    packages = {need.package: need.name for need in missing if need not in of_pypi}
    if wheels and not python_packages.venv_can_be_made():
        packages["python3-venv"] = f"Python's venv (for {', '.join(wheels)})"
    return packages, wheels


def _comes_from_pypi(need: Need) -> bool:
    """Where the system's is too old, or cannot be installed."""
    if need.package == "cmake" and _system_cmake_is_old():
        return True
    return bool(need.wheel) and python_packages.venv_can_be_made() and not apt.may_install()


def _system_cmake_is_old() -> bool:
    """find_cmake() found none that is new enough: would the system's package be?"""
    offered = apt.offered_version("cmake")
    return shutil.which("cmake") is not None or (offered is not None and offered < MIN_CMAKE)
