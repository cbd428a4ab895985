"""Sets up what a back end needs, once: a second run finds the record of the first."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import toml_file
from ..errors import LabError
from ..files import make_build_folder, write
from ..paths import OUT
from ..process import say
from . import apt, python_packages
from .needs import MIN_CMAKE, Need, find_cmake, needs_of


def ensure(backend: str, modules: Sequence[str] = ()) -> str:
    """Makes sure that `backend` can be built and that one Python has all `modules`.

    Returns the cmake.
    """
    names = [need.name for need in needs_of(backend)]
    path = OUT / f"lab_setup_{backend}.json"
    record = _read(path)
    if record.get("needs") == names and _still_there(record, modules):
        return str(record["cmake"])

    _install_missing(needs_of(backend), modules)
    python = python_packages.python_with(*modules) if modules else ""
    record = {"needs": names, "cmake": find_cmake(), "modules": [*modules], "python": python}
    make_build_folder(path.parent)
    write(path, json.dumps(record, indent=1) + "\n")
    return str(record["cmake"])


def python_for(modules: Sequence[str]) -> str:
    """A Python that has all `modules`; those that are missing are installed into .venv."""
    python = python_packages.python_with(*modules)
    if not python:
        _install_missing([], modules)
        python = python_packages.python_with(*modules)
    if not python:
        raise LabError(f"installed, and yet not to be imported: {', '.join(modules)}")
    return python


def toml_reader() -> None:
    """Makes sure that TOML files can be read: Python does it itself since 3.11."""
    if toml_file.reader() is None:
        _install_missing([], [toml_file.PACKAGE])


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
    return known and all(os.access(program, os.X_OK) for program in programs)


def _install_missing(needs: Sequence[Need], modules: Sequence[str]) -> None:
    missing = [need for need in needs if not need.present()]
    wheels = [] if not modules or python_packages.python_with(*modules) else [*modules]
    if not missing and not wheels:
        return
    say("set-up: missing " + ", ".join([*(need.name for need in missing), *wheels]))

    if missing or not python_packages.venv_can_be_made():
        apt.update()
    if any(need.package == "cmake" for need in missing) and _system_cmake_is_old():
        missing = [need for need in missing if need.package != "cmake"]
        wheels.append("cmake")

    packages = {need.package: need.name for need in missing}
    if wheels and not python_packages.venv_can_be_made():
        packages["python3-venv"] = "Python's venv"
    if packages:
        apt.install(packages)
    if wheels:
        python_packages.install(wheels)
    still = [need.name for need in needs if not need.present()]
    if still:
        raise LabError(f"installed, and yet not found: {', '.join(still)}; see ./lab doctor")


def _system_cmake_is_old() -> bool:
    """find_cmake() found none that is new enough: would the system's package be?"""
    offered = apt.offered_version("cmake")
    return shutil.which("cmake") is not None or (offered is not None and offered < MIN_CMAKE)
